"""Real: the labelled year series of a lab, whole and replayed revision by revision."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np

from benchmarks import intervals
from benchmarks.cells import Floats
from benchmarks.online import advance, detect
from benchmarks.peers import Detector, Peer
from webapp.stats.changes import Point
from webapp.stats.changes.online_state import OnlineState

SHARED = Path(__file__).parents[1].parent / "shared"
LABELS = SHARED / "goldens" / "changes.json"

WHOLE_NEAR, REPLAY_NEAR = 1, 2
"""Revisions around a label that count as found."""

FIRST_LOOK = 4
"""Revisions of a series before a replay begins."""


@dataclass(frozen=True, slots=True)
class YearSeries:
    """One labelled series: its samples and the indices of its labels."""

    name: str
    rows: tuple[tuple[float, ...], ...]
    sure: tuple[int, ...]
    probable: tuple[int, ...]

    def padded(self) -> Floats:
        """Samples as an array; a revision with a sample less repeats its median."""
        most = max(map(len, self.rows))
        return np.array([[*row, *[float(np.median(row))] * (most - len(row))] for row in self.rows])


@dataclass(slots=True)
class Score:
    """What a detector found of the labels, and what else it reported."""

    sure: int = 0
    probable: int = 0
    other: int = 0
    delays: tuple[int, ...] = ()


def year_series() -> list[YearSeries]:
    """Return the labelled series; empty when the archive is not beside the checkout."""
    if not LABELS.exists():
        return []
    found = []
    for entry in json.loads(LABELS.read_text())["labels"]:
        folder = SHARED / "netbenches" / entry["results"]
        for workload, labels in entry["series"].items():
            pattern = entry["value_files"].replace("<workload>", workload)
            files = sorted(folder.glob(pattern.replace("<revision>", "*")))
            order = {"r" + file.name.split(".")[0]: i for i, file in enumerate(files)}
            found.append(
                YearSeries(
                    f"{entry['hardware'].split('/')[0]} {folder.name} {workload}",
                    tuple(tuple(map(float, file.read_text().split())) for file in files),
                    tuple(order[item["revision"]] for item in labels["sure"]),
                    tuple(order[item["revision"]] for item in labels["probable"]),
                )
            )
    return found


def _points(series: YearSeries) -> list[Point]:
    return [Point(i, str(i), row) for i, row in enumerate(series.rows)]


def whole(series: Sequence[YearSeries]) -> Score:
    """Score ours on whole series."""
    score = Score()
    for one in series:
        changes = detect(_points(one)).changes
        found = [c.revision.position for c in changes if c.state == "confirmed"]
        _add(score, one, found, WHOLE_NEAR)
    return score


def replayed(series: Sequence[YearSeries]) -> Score:
    """Score ours read revision by revision: everything ever confirmed counts."""
    score, delays = Score(), []
    for one in series:
        state = advance(OnlineState(), _points(one))
        made = [*state.breaks, *state.retracted]
        at = [(item.index, item.confirmed_by[0]) for item in made if item.kind == "change"]
        _add(score, one, [index for index, _ in at], REPLAY_NEAR)
        delays += _delays(one, at)
    score.delays = tuple(delays)
    return score


def whole_peer(detector: Detector, series: Sequence[YearSeries]) -> Score:
    """Score a peer on whole series."""
    score = Score()
    for one, found in zip(series, detector([one.padded() for one in series]), strict=True):
        _add(score, one, found, WHOLE_NEAR)
    return score


def replayed_peer(detector: Detector, series: Sequence[YearSeries]) -> Score:
    """Score a peer run on every prefix."""
    score, delays = Score(), []
    for one in series:
        values = one.padded()
        ends = range(FIRST_LOOK, len(values) + 1)
        first_seen: list[tuple[int, int]] = []
        for end, found in zip(ends, detector([values[:end] for end in ends]), strict=True):
            for index in found:
                if all(abs(index - old) > REPLAY_NEAR for old, _ in first_seen):
                    first_seen.append((index, end - 1))
        _add(score, one, [index for index, _ in first_seen], REPLAY_NEAR)
        delays += _delays(one, first_seen)
    score.delays = tuple(delays)
    return score


def _add(score: Score, one: YearSeries, found: Sequence[int], near: int) -> None:
    def hit(label: int) -> bool:
        return any(abs(index - label) <= near for index in found)

    score.sure += sum(map(hit, one.sure))
    score.probable += sum(map(hit, one.probable))
    known = (*one.sure, *one.probable)
    score.other += sum(all(abs(index - label) > near for label in known) for index in found)


def _delays(one: YearSeries, seen: Sequence[tuple[int, int]]) -> list[int]:
    delays = []
    for label in one.sure:
        times = [when - label for index, when in seen if abs(index - label) <= REPLAY_NEAR]
        if times:
            delays.append(max(min(times), 0))
    return delays


def report(peers: Sequence[Peer]) -> str:
    """Return the table, or a line that the archive is not there."""
    series = year_series()
    if not series:
        return "The lab archive is not beside the checkout: this table needs it."
    sure = sum(len(one.sure) for one in series)
    probable = sum(len(one.probable) for one in series)
    rows = [_row("**this project**", whole(series), replayed(series))]
    rows += [
        _row(one.name, whole_peer(one.detect, series), replayed_peer(one.detect, series))
        for one in peers
    ]
    header = (
        "detector",
        f"whole: sure {sure}",
        f"probable {probable}",
        "other",
        f"replayed: sure {sure}",
        f"probable {probable}",
        "other",
        "delay med / mean",
    )
    revisions = sum(len(one.rows) for one in series)
    return (
        f"{len(series)} series of a year, {revisions} revisions, labels by hand; found within "
        f"{WHOLE_NEAR} revision (whole) or {REPLAY_NEAR} (replayed).\n\n"
        + intervals.table(header, rows)
    )


def _row(name: str, one: Score, two: Score) -> tuple[str, ...]:
    delay = f"{median(two.delays):g} / {mean(two.delays):.1f}" if two.delays else "-"
    counts = (one.sure, one.probable, one.other, two.sure, two.probable, two.other)
    return (name, *map(str, counts), delay)
