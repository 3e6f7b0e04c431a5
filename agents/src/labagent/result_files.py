"""Result files in any format, one content a file, and the runs made of them."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labagent.errors import AgentError, SettingsError
from labagent.files import MAX_LOG_BYTES, UnreadFileError, digest_of, read_text
from labagent.limits import REVISION, TEXTS
from labagent.model import (
    Evidence,
    Histogram,
    Metric,
    Mode,
    Outcome,
    Overrides,
    Run,
    Samples,
    Skip,
    Source,
)
from labagent.readers import formats
from labagent.readers.benchlab.layout import TOO_MANY, Bounds
from labagent.settings import NO_DIRECTION, Directions


@dataclass(frozen=True)
class Origin:
    """All that a run has besides its mode and its samples."""

    tree: str
    revision: str
    hardware: str
    build_id: str
    kernel_ident: str = ""
    position: int | None = None
    measured_at: str | None = None
    sources: tuple[Source, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None


def joined(contents: Sequence[formats.Content], boots: Sequence[int]) -> formats.Content:
    """The contents of several repetitions as one, the samples of each in their order, with the boot
    that the repetition was measured in."""
    found: dict[tuple[str, Metric], list[float]] = {}
    histograms: dict[tuple[str, Metric], list[Histogram]] = {}
    measured: dict[tuple[str, Metric], list[int]] = {}
    warnings: dict[str, None] = {}
    facts: dict[str, Any] = {}
    for content, boot in zip(contents, boots, strict=True):
        warnings |= dict.fromkeys(content.warnings)
        facts |= content.facts
        for one in content.results:
            key = (one.case, one.metric)
            found.setdefault(key, []).extend(one.values)
            histograms.setdefault(key, []).extend(one.histograms)
            count = len(one.values or one.histograms)
            measured.setdefault(key, []).extend([boot] * count)
    results = [
        formats.Result(
            metric,
            tuple(values),
            case,
            tuple(histograms[case, metric]),
            tuple(measured[case, metric]),
        )
        for (case, metric), values in found.items()
    ]
    return formats.Content(results, tuple(warnings), facts)


def runs_from(content: formats.Content, name: str, origin: Origin, mode: Mode | None) -> list[Run]:
    """One run a case; the mode is ``mode`` or called ``name``, with the case after a dot."""
    base = mode or Mode.of(name, None, ())
    cases: dict[str, list[formats.Result]] = {}
    for one in content.results:
        cases.setdefault(one.case, []).append(one)
    return [_run(results, _mode_of(base, case), content, origin) for case, results in cases.items()]


def _mode_of(base: Mode, case: str) -> Mode:
    workload = f"{base.workload}.{case}" if case else base.workload
    return replace(Mode.of(workload, None, ()), traffic=base.traffic, options=base.options)


def _run(
    results: Iterable[formats.Result], mode: Mode, content: formats.Content, origin: Origin
) -> Run:
    samples = [
        Samples(one.metric, one.values, one.boots, histograms=one.histograms) for one in results
    ]
    return Run(
        tree=origin.tree,
        revision=origin.revision,
        hardware=origin.hardware,
        mode=mode,
        samples=tuple(samples),
        build_id=origin.build_id,
        kernel_ident=origin.kernel_ident,
        measured_at=origin.measured_at,
        sources=origin.sources,
        facts={**origin.facts, **content.facts},
        warnings=tuple(content.warnings),
        evidence=origin.evidence,
        position=origin.position,
    )


UNKNOWN = "no format that is known"


def read_result_file(
    path: Path, form: formats.Format | None = None, metric: Metric | None = None
) -> tuple[formats.Format, formats.Content]:
    """The format and the content of a file; ``form`` forces one. Raises UnreadableError."""
    try:
        printed = formats.Printed(read_text(path, MAX_LOG_BYTES), path.name, metric)
    except UnreadFileError as error:
        raise formats.UnreadableError(str(error)) from error
    found = form or formats.detect(printed)
    if found is None:
        line = formats.broken_line(printed)
        if line:
            raise formats.UnreadableError(f"{line} is no number, and most lines are")
        raise formats.UnreadableError(f"{path.name}: {UNKNOWN}", "name it: --format")
    return found, formats.read_results(printed, found)


def files_below(directory: Path, skipped: list[Skip]) -> Iterator[Path]:
    """The regular files of a directory and those below, in order; no link to one is followed.

    What cannot be listed is appended to ``skipped``.
    """

    def refuse(error: OSError) -> None:
        skipped.append(Skip(str(error.filename), f"cannot be read: {error.strerror}", unread=True))

    bounds = Bounds()
    for name, below, files in os.walk(directory, onerror=refuse):
        below[:] = sorted(one for one in below if not one.startswith("."))
        bounds.entries -= len(files) + len(below)
        if bounds.entries < 0:
            skipped.append(Skip(name, TOO_MANY, unread=True))
            return
        yield from (Path(name, one) for one in sorted(files) if not one.startswith("."))


@dataclass(frozen=True)
class Naming:
    """What the names of a tracker are called here: its branches as trees, its machines as hardware;
    `by_date`: whether its revisions lie in the order of their commits."""

    trees: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, str] = field(default_factory=dict)
    by_date: bool = False

    @classmethod
    def of(cls, texts: Iterable[str], *, by_date: bool) -> "Naming":
        """From ``tree:NAME=TREE`` and ``hardware:NAME=HW``. Raises SettingsError."""
        found: dict[str, dict[str, str]] = {"tree": {}, "hardware": {}}
        for text in texts:
            kind, colon, rest = text.partition(":")
            name, _, new = rest.rpartition("=")
            if kind not in found or not colon or not name or not new:
                raise SettingsError(
                    f"--map {text!r} maps nothing", "write tree:NAME=TREE or hardware:NAME=HW"
                )
            found[kind][name] = new
        return cls(found["tree"], found["hardware"], by_date)


def runs_of_file(
    path: Path,
    form: formats.Format | None,
    overrides: Overrides,
    directions: Directions,
    naming: Naming,
) -> list[Outcome]:
    """The runs of a file, one a case, of a tracker's records one a case and provenance; a file that
    cannot be read, and metrics whose direction nobody knows, are skipped. Raises SettingsError
    where the user did not name where it is from."""
    try:
        found, content = read_result_file(path, form)
        source = Source(path.name, digest_of(path))
    except (formats.UnreadableError, UnreadFileError) as error:
        return [Skip(str(path), error.message, unread=True)]
    if found.needs_metric and overrides.mode is None:
        return [Skip(str(path), "bare numbers: name what they measure by --mode", unread=True)]
    if content.runs:
        return list(_complete(path, content.runs, overrides))
    content, left = directions.complete(content)
    skips = [Skip(f"{path}: {name}", NO_DIRECTION) for name in left]
    if any(one.provenance for one in content.results):
        return [*_recorded(path, found.name, content, overrides, naming), *skips]
    if not content.results:
        return list(skips)
    origin = replace(_origin(path, overrides), sources=(source,))
    return [*runs_from(content, found.name, origin, overrides.mode), *skips]


def _complete(path: Path, runs: Sequence[Run], overrides: Overrides) -> Iterator[Outcome]:
    """Runs that state all by themselves. Raises SettingsError where the user states it otherwise:
    they would be other runs than those that the documents were made of."""
    if overrides != Overrides(session=overrides.session):
        raise SettingsError(
            f"{path} states what it was measured on", "leave --tree, --revision and the like out"
        )
    yield from runs


def _recorded(
    path: Path, name: str, content: formats.Content, overrides: Overrides, naming: Naming
) -> Iterator[Outcome]:
    """The runs of a tracker's records. A record is known again by itself, whatever lies beside it
    in the file."""
    found: dict[tuple[formats.Provenance, str], list[formats.Result]] = {}
    for one in content.results:
        found.setdefault((one.provenance or formats.Provenance(), one.case), []).append(one)
    records = Records.of([provenance for provenance, _ in found])
    for (provenance, case), results in found.items():
        try:
            origin = records.origin(provenance, overrides, naming)
        except NotPlacedError as error:
            yield Skip(f"{path}: {case}", error.message, unread=True)
            continue
        values = [[one.metric.name, one.metric.unit, *one.values] for one in results]
        identity = json.dumps([asdict(provenance), case, values]).encode()
        digest = hashlib.sha256(identity).hexdigest()
        origin = replace(
            origin,
            sources=(Source(path.name, digest),),
            facts={**origin.facts, "label": path.name},
        )
        yield from runs_from(replace(content, results=results), name, origin, overrides.mode)


class NotPlacedError(AgentError):
    """A record does not name the commit or machine it is of, in names that the server takes."""


@dataclass(frozen=True)
class Records:
    """The branches and machines that a tracker names."""

    branches: frozenset[str]
    machines: frozenset[str]

    @classmethod
    def of(cls, found: Sequence[formats.Provenance]) -> "Records":
        """Of all records of a file."""
        return cls(frozenset(one.branch for one in found), frozenset(one.hardware for one in found))

    def origin(
        self, provenance: formats.Provenance, overrides: Overrides, naming: Naming
    ) -> Origin:
        """Where the runs of a record are from. Raises NotPlacedError: nothing is guessed."""
        revision = overrides.revision or provenance.revision
        if fault := REVISION.fault(revision) if revision else "is missing":
            raise NotPlacedError(f"the revision {fault}: pass --revision")
        moment = _moment(provenance.measured_at)
        position = overrides.position if overrides.revision else provenance.position
        if naming.by_date:
            committed = _moment(provenance.committed_at)
            if committed is None:
                raise NotPlacedError("--order date: the record has no date of its commit")
            position = int(committed.replace(tzinfo=committed.tzinfo or UTC).timestamp())
        return Origin(
            tree=self._tree(provenance.branch, overrides.tree, naming),
            revision=revision,
            hardware=self._hardware(provenance.hardware, overrides.hardware, naming),
            build_id=revision,
            position=position,
            measured_at=moment.isoformat() if moment and moment.tzinfo else None,
            evidence=Evidence(session=overrides.session) if overrides.session else None,
            facts={
                name: text
                for name, text in asdict(provenance).items()
                if isinstance(text, str) and text
            },
        )

    def _tree(self, branch: str, given: str | None, naming: Naming) -> str:
        if branch in naming.trees:
            return naming.trees[branch]
        if given and len(self.branches) == 1:
            return given
        several = f"one of {len(self.branches)} branches, {branch!r}, is no tree yet"
        raise NotPlacedError(
            f"{several}: pass --map tree:NAME=TREE"
            if len(self.branches) > 1
            else f"the branch {branch!r} is no tree yet: pass --tree"
        )

    def _hardware(self, machine: str, given: str | None, naming: Naming) -> str:
        if machine in naming.hardware:
            return naming.hardware[machine]
        if given and len(self.machines) == 1:
            return given
        if machine and not TEXTS["hardware"].fault(machine):
            return machine
        raise NotPlacedError(
            f"the machine {machine!r} has no name that the server takes:"
            " pass --map hardware:NAME=HW"
        )


def _moment(text: str) -> datetime | None:
    """The time; None where it is none. Without a zone it orders, but is not sent."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _origin(path: Path, overrides: Overrides) -> Origin:
    needed = {"--tree": overrides.tree, "--revision": overrides.revision}
    needed["--hardware"] = overrides.hardware
    missing = [option for option, value in needed.items() if not value]
    if missing:
        raise SettingsError(
            f"{path} does not say what it was measured on",
            f"pass {', '.join(missing)}; a directory of bench-lab needs none of them",
        )
    return Origin(
        tree=overrides.tree or "",
        revision=overrides.revision or "",
        hardware=overrides.hardware or "",
        build_id=overrides.revision or "",
        position=overrides.position,
        evidence=Evidence(session=overrides.session) if overrides.session else None,
        facts={"label": path.name},
    )
