"""Refuse names that use words which were given up because they meant several things, or nothing.

    python -m tools.dropped_words [PATH ...]

reads the modules below each PATH (``webapp``, ``agents/src``, tests and benchmarks unless named)
and looks at the names of modules, classes, functions, parameters and fields; not at local
variables, texts and comments. A name is split at underscores and capitals; each part of it, and
each pair of parts, must not be a key of ``DROPPED``, in tests and benchmarks none of ``SPEECH``,
nor a module one of ``DROPPED_MODULES``. Prints a line a name and ends with 1 where there is any.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

TESTS = ("tests/", "agents/tests/", "benchmarks/")
ROOTS = ("webapp", "agents/src", *TESTS)

SPEECH = ("said", "says", "tells", "told")
"""Of the words below, those that tests and benchmarks may not use either."""

DROPPED: Mapping[str, str] = {
    "envelope": "say message headers",
    "envelopes": "say message headers",
    "held": "say locked, a member, in force or bisected",
    "hold": "say lock, or contain",
    "holding": "say waiting polls, or locks",
    "holds": "say locks, or contains",
    "letter": "say message",
    "letters": "say messages",
    "parcel": "say outbox item",
    "parcels": "say outbox items",
    "place": "say index, position, location, interval or slot",
    "places": "say indices, positions, locations, intervals or slots",
    "said": "say reason, text or note",
    "says": "say states, shows, finds or names",
    "set aside": "say discard",
    "sets aside": "say excludes",
    "standing": "say is_active, view, snapshot or queued",
    "take in": "say store runs, advance or apply",
    "takes in": "say store runs, advance or apply",
    "tells": "say states, shows, notifies or distinguishes",
    "told": "say notified, reported or received",
    "weak": "say discarded",
    "words": "say text",
}
"""A part of a name, or two in a row, and what to say instead."""

DROPPED_MODULES: Mapping[str, str] = {
    "acting": "say whose acts: bisect_acts, job_acts",
    "asking": "say job_requests, or poll_requests",
    "claiming": "say claims, or leasing",
    "decisive": "say single_build",
    "following": "say what follows what",
    "hunt": "say the demonstration's bisect",
    "kept": "say cache",
    "log": "say events, or decisions",
}
"""A whole name of a module that stood for several jobs, and what to say instead."""

_HOLD = "that a bisect searches an alert's step is called a hold (AlertHold), and nothing else is"
_PLACE = "where a revision stands on its tree is called its place on pages and in errors"

ALLOWED: Mapping[tuple[str, str], str] = {
    ("webapp/alerts/", "hold"): _HOLD,
    ("webapp/alerts/", "holds"): _HOLD,
    ("webapp/bisects/models/bisects.py", "Bisect.hold"): _HOLD,
    ("webapp/bisects/services/drafting.py", "_hold_of"): _HOLD,
    ("webapp/results/", "place"): _PLACE,
    ("webapp/results/", "places"): _PLACE,
    ("webapp/api/alerts.py", "AlertOut.standing"): "a field of the API, which stays",
    ("webapp/api/bisects.py", "DecisionOut.words"): "a field of the API, which stays",
    ("webapp/demo/mail_server.py", "handle_DATA.envelope"): "a parameter of aiosmtpd's handlers",
}
"""By the beginning of a path and a word, or a name as it is reported (``Class.field``,
``function.parameter``): why it may stay there.
"""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Name:
    """A name that code gives: where, how it is reported, and the part of it that others read."""

    path: Path
    line: int
    reported: str
    given: str
    is_module: bool = False

    @property
    def dropped(self) -> str:
        """The word in it that was given up; empty: none."""
        is_test = self.path.as_posix().startswith(TESTS)
        if self.is_module and not is_test and self.given in DROPPED_MODULES:
            return self.given
        refused = SPEECH if is_test else DROPPED
        parts = [part.lower() for part in _PARTS.findall(self.given)]
        both = [*parts, *(f"{one} {other}" for one, other in pairwise(parts))]
        return next((part for part in both if part in refused), "")

    @property
    def advice(self) -> str:
        """What to say instead."""
        return DROPPED.get(self.dropped) or DROPPED_MODULES[self.dropped]


def names_in(path: Path) -> Iterator[Name]:
    """The module of ``path``, its classes, functions, parameters and fields. Raises SyntaxError."""
    yield Name(path, 1, path.stem, path.stem, is_module=True)
    yield from _names(path, ast.parse(path.read_text(encoding="utf-8")), "")


def offences(roots: Sequence[Path], allowed: Mapping[tuple[str, str], str] = ALLOWED) -> list[str]:
    """A line for each name below ``roots`` with a word that was given up, and for each entry of
    ``allowed`` that allows nothing any more.
    """
    paths = sorted(path for root in roots for path in root.rglob("*.py"))
    found = [name for path in paths for name in names_in(path) if name.dropped]
    by_name = [(name, [entry for entry in allowed if _allows(entry, name)]) for name in found]
    lines = [
        f"{one.path}:{one.line}: {one.reported}: {one.advice}, not “{one.dropped}”"
        for one, entries in by_name
        if not entries
    ]
    idle = set(allowed) - {entry for _, entries in by_name for entry in entries}
    return lines + [f"{path}: {what} is allowed, but gone" for path, what in sorted(idle)]


def _allows(entry: tuple[str, str], name: Name) -> bool:
    path, what = entry
    return name.path.as_posix().startswith(path) and what in (name.dropped, name.reported)


def _names(path: Path, node: ast.AST, owner: str) -> Iterator[Name]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.ClassDef):
            yield Name(path, inner.lineno, inner.name, inner.name)
            yield from _fields(path, inner)
            yield from _names(path, inner, inner.name)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Name(path, inner.lineno, inner.name, inner.name)
            yield from _parameters(path, inner)
            yield from _names(path, inner, owner)
        else:
            if isinstance(inner, ast.Attribute) and _is_of_self(inner):
                yield Name(path, inner.lineno, f"{owner}.{inner.attr}", inner.attr)
            yield from _names(path, inner, owner)


def _is_of_self(node: ast.Attribute) -> bool:
    """Whether it gives an attribute to ``self``: those of others are named where they are made."""
    is_stored = isinstance(node.ctx, ast.Store)
    return is_stored and isinstance(node.value, ast.Name) and node.value.id == "self"


def _fields(path: Path, node: ast.ClassDef) -> Iterator[Name]:
    for statement in node.body:
        targets: Sequence[ast.expr] = ()
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        elif isinstance(statement, ast.Assign):
            targets = statement.targets
        for target in targets:
            if isinstance(target, ast.Name):
                yield Name(path, target.lineno, f"{node.name}.{target.id}", target.id)


def _parameters(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Name]:
    given = node.args
    others = [one for one in (given.vararg, given.kwarg) if one is not None]
    for one in [*given.posonlyargs, *given.args, *given.kwonlyargs, *others]:
        yield Name(path, one.lineno, f"{node.name}.{one.arg}", one.arg)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the offences; 1 where there are any, else 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[Path(root) for root in ROOTS])
    lines = offences(parser.parse_args(arguments).paths)
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
