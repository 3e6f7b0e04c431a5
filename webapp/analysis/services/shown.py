"""The changes that a series shows: what the detector found, and what first pairs alone show.

Where both speak of the same revision, the detector's word counts once it is confirmed; its
candidate gives way to a pair, which says more: how often builds scatter so far.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from webapp.analysis.models import Finding
from webapp.analysis.services.detecting import Detected
from webapp.analysis.services.first_pairs import JudgedPair
from webapp.stats import changes, decisive
from webapp.stats.changes import At, Change, recoveries, why_flagged, why_withdrawn

REASONS = ("why", "one_build")
"""What a finding says of why it is, and of how few builds it was judged by."""

NO_LOSS = "Withdrawn: what is measured now shows no such loss."


@dataclass(frozen=True, slots=True)
class Shown:
    """A change as it is stored: with why, by whom it recovered, and what a pair was judged by."""

    change: Change
    why: str
    recovered_by: At | None
    one_build: dict[str, Any] | None = None


def shown_by(one: Detected, judged: Sequence[JudgedPair]) -> list[Shown]:
    """The changes of a series in order along the tree."""
    shown = [pair for pair in judged if pair.judged.state != "withdrawn"]
    shown = [pair for pair in shown if not any(_covers(by, pair) for by in one.analysis.changes)]
    taken = {pair.pair.position for pair in shown}
    found = [each for each in one.analysis.changes if each.revision.position not in taken]
    pairs = {pair.pair.position: pair for pair in shown}
    rows = sorted([*found, *map(_change, shown)], key=lambda each: each.revision.position)
    return [
        _shown(each, by, pairs.get(each.revision.position), analysis)
        for analysis, its in _by_epoch(one, rows)
        for each, by in zip(its, recoveries(its), strict=True)
    ]


def _by_epoch(
    one: Detected, rows: Sequence[Change]
) -> Iterator[tuple[changes.Analysis, Sequence[Change]]]:
    """The changes of each epoch, with what is known of it: no later epoch takes one back."""
    last = len(one.by_epoch) - 1
    grouped = groupby(rows, key=lambda row: bisect_right(one.starts, row.revision.position))
    for number, its in grouped:
        yield one.by_epoch[min(number, last)], list(its)


def say_why_withdrawn(row: Finding, judged: Iterable[JudgedPair], one: Detected) -> None:
    """Let a finding that is gone say what became of it."""
    if row.one_build is None:
        row.why = why_withdrawn(one.analysis, row.position)
        return
    for pair in judged:
        if pair.pair.position == row.position and pair.judged.state == "withdrawn":
            row.why, row.one_build = _why(pair), pair.as_data()
            return
    row.why, row.one_build = NO_LOSS, row.one_build | {"state": "withdrawn"}


def _covers(change: Change, pair: JudgedPair) -> bool:
    """Whether the detector confirmed the loss of a pair, there or about there."""
    shares = max(change.after.position, pair.pair.previous) < min(
        change.last.position, pair.pair.position
    )
    here = change.revision.position == pair.pair.position
    return change.state == "confirmed" and (here or (shares and change.verdict == "worse"))


def _shown(
    change: Change, recovery: Change | None, pair: JudgedPair | None, analysis: changes.Analysis
) -> Shown:
    at = recovery.revision if recovery else None
    if pair is None:
        return Shown(change, why_flagged(change, analysis), at)
    if at is None and (back := pair.judged.recovered_by) is not None:
        at = At(back.position, back.label)
    return Shown(change, _why(pair), at, pair.as_data())


def _why(one: JudgedPair) -> str:
    figures = decisive.figures_of(one.judged, one.belief)
    return decisive.why_judged(one.pair, one.judged, one.belief, figures)


def _change(one: JudgedPair) -> Change:
    """A pair as the change that it shows: between its two revisions, which leave
    no other place for it.
    """
    pair, judged, step = one.pair, one.judged, one.judged.step
    sign = 1.0 if pair.better == "more" else -1.0
    figures = decisive.figures_of(judged, one.belief)
    ends = sorted((-sign * figures.low, -sign * figures.high))
    at, previous = At(pair.position, pair.steps[0].label), At(pair.previous, pair.previous_label)
    settled = judged.settled_by
    after = [each.position for each in pair.steps].index(step.position) + 1
    return Change(
        revision=at,
        previous=previous,
        after=previous,
        first=at,
        last=at,
        here=1.0,
        change_pct=decisive.percent_of(-sign * step.evidence.loss),
        low_pct=decisive.percent_of(ends[0]),
        high_pct=decisive.percent_of(ends[1]),
        before=decisive.level_of(pair.level),
        level=decisive.level_of(pair.level - sign * step.evidence.loss),
        revisions_before=pair.revisions,
        revisions_after=after,
        verdict="worse",
        state="confirmed" if judged.state == "confirmed" else "one build",
        score=judged.score,
        needed=decisive.score_of(judged.limit),
        p_value=judged.chance,
        probability=changes.probability(judged.score, step.evidence.new),
        confirmed_by=At(settled.position, settled.label) if settled else None,
    )
