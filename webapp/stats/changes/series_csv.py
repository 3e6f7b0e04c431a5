"""A series as CSV text: one row a sample, in order along the tree."""

import csv
import re
from collections.abc import Iterable, Iterator

from webapp.stats.changes.points import BadSeriesError, Point
from webapp.stats.limits import RANGE, is_sample

NEEDED = ("revision", "value")
# Plainer than what Python takes: no 1_000, no nan, no digits of other scripts.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
LONGEST_SHOWN = 50


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
    rows = _Rows()
    for row in reader:
        try:
            rows.add(row)
        except BadSeriesError as error:
            raise BadSeriesError(f"line {reader.line_num}: {error}") from None
    return rows.points()


class _Rows:
    """The rows so far, grouped by revision."""

    def __init__(self) -> None:
        self.groups: dict[str, list[tuple[float, str | None]]] = {}
        self.positions: dict[str, int] = {}
        self.newest: str | None = None

    def add(self, row: dict[str, str | None]) -> None:
        revision = (row["revision"] or "").strip()
        if not revision:
            raise BadSeriesError("no revision")
        value = _number(row["value"])
        if revision != self.newest:
            self._begin(revision, row.get("position"))
        elif row.get("position") and _position(row["position"]) != self.positions[revision]:
            raise BadSeriesError(f"revision {revision} has two positions")
        self.groups[revision].append((value, row.get("boot") or None))

    def _begin(self, revision: str, position: str | None) -> None:
        if revision in self.groups:
            raise BadSeriesError(
                f"revision {revision} again, after others: rows go in order along the tree"
            )
        last = self.positions[self.newest] if self.newest is not None else None
        here = _position(position) if position else (0 if last is None else last + 1)
        if last is not None and here <= last:
            raise BadSeriesError(f"position {here} does not follow {last}")
        self.groups[revision] = []
        self.positions[revision] = here
        self.newest = revision

    def points(self) -> list[Point]:
        return [
            Point(
                position=self.positions[revision],
                label=revision,
                samples=tuple(value for value, _ in rows),
                boots=tuple(boot for _, boot in rows),
            )
            for revision, rows in self.groups.items()
        ]


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
