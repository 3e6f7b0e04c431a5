"""Compare two sides of profiles in a shell: which functions a change made dearer.

    python -m webapp.stats.profiles --a FILE[@PPS] ... --b FILE[@PPS] ...

A file is the profile of one boot, in any format that the agent reads. ``@PPS`` is the throughput
(packets per second) that its cost per packet is reckoned with; without it shares of samples are
compared. Prints a JSON object.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.stats import end_silently
from webapp.stats.profiles.calls import Function, calls_of
from webapp.stats.profiles.costs import Boot, Side
from webapp.stats.profiles.difference import MARGIN_PCT, difference
from webapp.stats.profiles.headline import headline
from webapp.stats.profiles.judging import Difference, Row

UNREADABLE = 2
"""The exit code where a file is no profile, or an option no number."""


@dataclass(frozen=True, slots=True)
class Given:
    """A file of the command line, and the packets per second after its @."""

    path: Path
    pps: float | None


def given(text: str) -> Given:
    """A file, with ``@PPS`` or without. Raises ValueError where the rate is not above 0."""
    found = re.fullmatch(r"(.+)@([0-9.eE+]+)", text)
    if found is None or Path(text).exists():
        return Given(Path(text), None)
    pps = float(found[2])
    if not 0 < pps < float("inf"):
        raise ValueError(f"{text}: after @ stand packets per second, more than 0")
    return Given(Path(found[1]), pps)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the difference of two sides; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("--a", "--b"):
        parser.add_argument(name, nargs="+", type=given, required=True, metavar="FILE[@PPS]")
    parser.add_argument("--margin", type=float, default=MARGIN_PCT, help="percent of A's packet")
    options = parser.parse_args(arguments)
    try:
        sides = [[(one, read(one)) for one in files] for files in (options.a, options.b)]
        a, b = (Side(tuple(boot for _, (boot, _) in files)) for files in sides)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return UNREADABLE
    found = difference(a, b, margin_pct=options.margin)
    warnings = [text for files in sides for _, (_, texts) in files for text in texts]
    names = [[str(one.path) for one, _ in files] for files in sides]
    json.dump(document(found, (a, b), names, warnings), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


def read(one: Given) -> tuple[Boot, list[str]]:
    """The boot of a file, and the reader's warnings. Raises ValueError where it is no profile."""
    from labagent.files import UnreadFileError  # noqa: PLC0415
    from labagent.readers.profiles import read_profile  # noqa: PLC0415 - only a shell has files

    try:
        profile = read_profile(one.path)
    except UnreadFileError as error:
        raise ValueError(" ".join([f"{error}", getattr(error, "remedy", "")]).strip()) from error
    boot = Boot(
        calls_of([_named(stacks) for stacks in profile.sections]),
        event=profile.event,
        label=str(one.path),
        truncated=profile.truncated,
        pps=one.pps,
        cores=profile.cores,
    )
    return boot, [f"{one.path}: {text}" for text in profile.warnings]


def _named(stacks: dict[tuple[tuple[str, str], ...], int]) -> dict[tuple[Function, ...], int]:
    return {tuple(Function(*frame) for frame in stack): count for stack, count in stacks.items()}


def document(
    found: Difference,
    sides: Sequence[Side],
    names: Sequence[Sequence[str]],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """The difference as the command prints it; functions by the size of their change."""
    rows = sorted(found.rows, key=lambda row: -abs(row.change))
    return {
        "sides": [_side(side, files) for side, files in zip(sides, names, strict=True)],
        "is_cost": found.is_cost,
        "functions": [_function(row) for row in rows],
        "claims": found.claims,
        "headline": headline(found, "A", "B").text,
        "warnings": [*warnings, *found.warnings],
    }


def _side(side: Side, files: Sequence[str]) -> dict[str, Any]:
    shares = side.idle_shares()
    known = [
        share * boot.calls.samples
        for share, boot in zip(shares, side.boots, strict=True)
        if share is not None
    ]
    whole = len(known) == len(shares)
    return {
        "files": list(files),
        "samples": side.samples,
        "idle_share": sum(known) / side.samples if whole else None,
    }


def _function(row: Row) -> dict[str, Any]:
    return {
        "name": row.function,
        "module": row.module,
        "a_pct": _rounded(row.a_pct),
        "b_pct": _rounded(row.b_pct),
        "change_pct_of_packet": _rounded(row.change),
        "ci": [_rounded(row.low), _rounded(row.high)],
        "probability": _rounded(row.probability),
        "verdict": row.verdict,
        "why": row.why,
        "renamed_to": row.renamed_to,
        "inclusive": {
            "a_pct": _rounded(row.inclusive.a_pct),
            "b_pct": _rounded(row.inclusive.b_pct),
            "change_pct_of_packet": _rounded(row.inclusive.change),
            "ci": [_rounded(row.inclusive.low), _rounded(row.inclusive.high)],
            "verdict": row.inclusive.verdict,
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


if __name__ == "__main__":
    end_silently()
    sys.exit(main())
