"""A series as CSV text: one row a sample, in order along the tree."""

import csv
from collections.abc import Iterable, Iterator
from math import isfinite

from webapp.stats.changes.points import BadSeriesError, Point

NEEDED = ("revision", "value")


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
    try:
        value = float(text or "")
    except ValueError:
        raise BadSeriesError(f"{text!r} is not a number") from None
    if not isfinite(value):
        raise BadSeriesError(f"{text} is not a finite number")
    return value


def _position(text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError:
        raise BadSeriesError(f"position {text!r} is not a whole number") from None
