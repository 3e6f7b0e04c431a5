"""`python -m webapp.stats.changes`: the findings of a series, from CSV to JSON, in any shell."""

import argparse
import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any

from webapp.stats import end_silently
from webapp.stats.changes import explain
from webapp.stats.changes.detector import Report, detect
from webapp.stats.changes.findings import (
    Analysis,
    Change,
    Finding,
    ModeChange,
    NoiseChange,
    Segment,
)
from webapp.stats.changes.points import BadSeriesError, Point
from webapp.stats.metrics import RANGE, is_sample

BAD_INPUT = 2
"""Exit code for input that cannot be read as a series."""

NEAR = 10
"""Positions by which the beginning of a change of noise or modes may lie elsewhere when it is
first reported."""

One = Finding | NoiseChange | ModeChange

NEEDED, LONGEST_SHOWN = ("revision", "value"), 50

# Plainer than what Python takes: no 1_000, no nan, no digits of other scripts.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def main(arguments: list[str] | None = None) -> int:
    """Read CSV from standard input, print JSON, return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        points = read_points(sys.stdin)
        found = detect(points, better=options.better)
    except BadSeriesError as error:
        sys.stderr.write(f"changes: {error}\n")
        return BAD_INPUT
    except UnicodeDecodeError as error:
        sys.stderr.write(f"changes: the input is not UTF-8 text: {error.reason}\n")
        return BAD_INPUT
    document = as_document(found, points, least_pct=options.min_effect, online=options.online)
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m webapp.stats.changes",
        description="Find the changes of a series. Standard input: CSV with a header and the "
        "columns revision, value and optionally position, boot; one row a sample, in order along "
        "the tree. Standard output: JSON.",
    )
    parser.add_argument(
        "--better", choices=("more", "less"), default="more", help="which way is an improvement"
    )
    parser.add_argument(
        "--min-effect",
        type=float,
        default=0.0,
        metavar="PCT",
        help="leave out findings smaller than so many percent",
    )
    parser.add_argument(
        "--online",
        action="store_true",
        help="say for each finding which revision confirmed it when read one by one, and which "
        "changes were confirmed on the way and retracted later",
    )
    return parser


def as_document(
    report: Report, points: Sequence[Point], *, least_pct: float, online: bool
) -> dict[str, Any]:
    """Return what is found in `points` as plain data for JSON, without what is smaller than
    `least_pct`; a change of noise has no size in percent. With `online` each finding has the
    revision at which it was first reported when the series is read in order.
    """
    analysis, noise = report.analysis, report.analysis.noise
    document: dict[str, Any] = {
        "changes": [
            _change(one, analysis, online=online)
            for one in analysis.changes
            if abs(one.change_pct) >= least_pct
        ],
        "segments": [_segment(one) for one in analysis.segments],
        "noise_pct": None if noise is None else _rounded(noise.revision_pct),
        "noise": noise
        and {
            "run_in_boot_pct": _rounded(noise.run_pct),
            "boot_pct": _rounded(noise.boot_pct),
            "sample_in_build_pct": _rounded(noise.within_pct),
            "build_pct": _rounded(noise.build_pct),
            "memory": _rounded(noise.memory),
        },
        "smallest_provable_pct": analysis.smallest and _rounded(analysis.smallest.pct),
        "bimodal": analysis.is_bimodal,
        "drifting": analysis.is_drifting,
        "why_not": explain.why_not(analysis),
        "left_out": [at.label for at in analysis.left_out],
    }
    if online:
        document["retracted"] = [
            {"revision": item.revision.label, "detected_at": item.confirmed_by.label}
            for item in analysis.retracted
        ]
    for kind, (describe, size) in KINDS.items():
        found = [one for one in getattr(report.others, kind) if size(one) >= least_pct]
        document[kind] = [
            describe(one) | ({"detected_at": _first_notified(points, kind, one)} if online else {})
            for one in found
        ]
    return document


def _change(change: Change, analysis: Analysis, *, online: bool) -> dict[str, Any]:
    document = {
        "revision": change.revision.label,
        "previous": change.previous.label,
        "interval": [change.first.label, change.last.label],
        "last_known_old": change.after.label,
        "change_pct": _rounded(change.change_pct),
        "ci_pct": [_rounded(change.low_pct), _rounded(change.high_pct)],
        "probability": _rounded(change.probability),
        "verdict": change.verdict,
        "state": change.state,
        "score": _rounded(change.score),
        "why": explain.why_flagged(change, analysis),
    }
    if online:
        document["detected_at"] = (change.confirmed_by or change.revision).label
    return document


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "first": segment.first.label,
        "last": segment.last.label,
        "revisions": segment.count,
        "level": segment.level,
        "ci": [segment.low, segment.high],
        "end_level": segment.end_level,
        "drift_pct": _rounded(segment.drift_pct),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _first_notified(points: Sequence[Point], kind: str, one: One) -> str:
    """The revision at which a finding was reported first."""
    for i, point in enumerate(points[:-1]):
        if point.position >= one.first.position:
            found = getattr(detect(points[: i + 1]).others, kind)
            if any(_is_same(one, other) for other in found):
                return point.label
    return points[-1].label


def _is_same(one: One, other: One) -> bool:
    if isinstance(one, Finding) and isinstance(other, Finding):
        is_slow = one.last.position - one.first.position > NEAR
        return (one.pct > 0) == (other.pct > 0) and (is_slow or one.first == other.first)
    return abs(one.first.position - other.first.position) <= NEAR


def _size(finding: Finding) -> dict[str, Any]:
    return {
        "change_pct": _rounded(finding.pct),
        "ci_pct": [_rounded(finding.low_pct), _rounded(finding.high_pct)],
    }


KINDS: dict[str, tuple[Callable[[Any], dict[str, Any]], Callable[[Any], float]]] = {
    "excursions": (
        lambda one: {"revision": one.first.label, **_size(one), "recovered_by": one.last.label},
        lambda one: abs(one.pct),
    ),
    "slow": (
        lambda one: {"window": [one.first.label, one.last.label], **_size(one)},
        lambda one: abs(one.pct),
    ),
    "noise_changes": (
        lambda one: {"revision": one.first.label, "ratio": _rounded(one.ratio)},
        lambda _: inf,
    ),
    "modes": (
        lambda one: {
            "revision": one.first.label,
            "share_before": _rounded(one.share_before),
            "share_after": _rounded(one.share_after),
            "gap_pct": _rounded(one.gap_pct),
        },
        lambda one: abs(one.gap_pct),
    ),
}
"""By the key in `Findings` and in the document: how one is shown, and its size in percent."""


def read_points(lines: Iterable[str]) -> list[Point]:
    """Return the points of a CSV text with the columns revision, value, [position], [boot].

    Rows of one revision follow each other; without positions the order of the rows counts.
    Raises BadSeriesError that names the line.
    """
    reader = csv.DictReader(_without_mark(lines))
    try:
        return _read(reader)
    except csv.Error as error:
        raise BadSeriesError(f"line {reader.line_num}: this is not CSV: {error}") from None


def _without_mark(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the byte-order mark that some spreadsheets put first."""
    for i, line in enumerate(lines):
        yield line.removeprefix("\ufeff") if i == 0 else line


def _read(reader: "csv.DictReader[str]") -> list[Point]:
    columns = reader.fieldnames
    if columns is None:
        raise BadSeriesError("line 1: nothing to read: a header with revision,value is needed")
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise BadSeriesError(f"line 1: the header has no column {' and no column '.join(missing)}")
    points: dict[str, tuple[int, list[tuple[float, str | None]]]] = {}
    for row in reader:
        try:
            _add(points, row)
        except BadSeriesError as error:
            raise BadSeriesError(f"line {reader.line_num}: {error}") from None
    return [Point(at, label, *zip(*rows, strict=True)) for label, (at, rows) in points.items()]


def _add(
    points: dict[str, tuple[int, list[tuple[float, str | None]]]], row: dict[str, str | None]
) -> None:
    """Add a row to the position and rows of its revision, which is the last of `points`, or new."""
    revision = (row["revision"] or "").strip()
    if not revision:
        raise BadSeriesError("no revision")
    value, position = _number(row["value"]), row.get("position")
    newest = next(reversed(points), None)
    last = None if newest is None else points[newest][0]
    if revision == newest:
        if position and _position(position) != last:
            raise BadSeriesError(f"revision {revision} has two positions")
    elif revision in points:
        raise BadSeriesError(
            f"revision {revision} again, after others: rows go in order along the tree"
        )
    else:
        here = _position(position) if position else (0 if last is None else last + 1)
        if last is not None and here <= last:
            raise BadSeriesError(f"position {here} does not follow {last}")
        points[revision] = here, []
    points[revision][1].append((value, row.get("boot") or None))


def _number(text: str | None) -> float:
    written = (text or "").strip()
    if not NUMBER.fullmatch(written):
        raise BadSeriesError(f"{_shown(text)} is not a number")
    value = float(written)
    if not is_sample(value):
        raise BadSeriesError(f"{_shown(text)} is out of range: values are {RANGE}")
    return value


def _position(text: str | None) -> int:
    if not WHOLE.fullmatch((text or "").strip()):
        raise BadSeriesError(f"position {_shown(text)} is not a whole number below 10^18")
    return int(text or "")


def _shown(text: str | None) -> str:
    return repr(text if text is None or len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")


if __name__ == "__main__":
    end_silently()
    sys.exit(main())
