"""What the fold told first and what levels say stands, as one."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from typing import Any

from webapp.stats import changes
from webapp.stats.better import Better, is_gain
from webapp.stats.changes import Analysis, At, Change, Retracted, Segment, scale
from webapp.stats.changes.findings import Verdict
from webapp.stats.changes.present import DRIFT_SCORE
from webapp.stats.detector.state import State
from webapp.stats.levels import Findings, Step, Stretch
from webapp.stats.student import TWO_SIDED_95

FRESH = 10
"""Revisions of a new level by which levels must bear it out: with so many, whatever the fold can
confirm pays for a level as well, and a change of noise is told as what it is (`noises`)."""

ALONE = 5
"""Revisions since a change from which on levels tell it where the fold does not: two would be one
odd revision beside a neighbour that happens to lie on its side."""

NEAR = 2
"""Measured revisions by which both may place the same change apart."""

LEAST_LEVELS = 2
"""Levels that have a change between them."""

LEAST_PLACES = 2
"""Revisions of an interval, with the one before it, that leave one place only."""

EVIDENCE = ("verdict", "score", "needed", "p_value", "probability", "confirmed_by")
"""Of a change, what is told of it since the fold confirmed it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of a series: its changes of level, and everything else that was found."""

    analysis: Analysis
    others: Findings


def present(state: State, better: Better) -> Report:
    """Return what is said about the series that `state` has read.

    A change of level stands where levels show it (after `ALONE` revisions, where the fold does not
    tell it), and for its first `FRESH` revisions where only the fold does; where the fold told it,
    it says when. Too young a series has the fold's word.
    """
    found = state.window.found()
    analysis = changes.present(state.fold, better, all_segments=not found.stretches)
    if not found.stretches:
        return Report(analysis, found)
    positions = state.window.rows.positions()
    rows, dropped = _join(analysis.changes, found, positions, better)
    as_folded = {id(one) for one in analysis.changes}
    fresh = [one for one in rows if id(one) in as_folded]
    segments = _segments(_shown_levels(found.stretches, rows), analysis.segments, fresh)
    retracted = [
        Retracted(one.revision, one.confirmed_by) for one in dropped if one.confirmed_by is not None
    ]
    told = replace(
        analysis,
        changes=_in_order(rows),
        segments=segments,
        is_drifting=segments[-1].drift_pct != 0 or bool(found.slow),
        retracted=(*analysis.retracted, *retracted),
    )
    return Report(told, found)


def _join(
    folded: Sequence[Change], found: Findings, positions: Sequence[int], better: Better
) -> tuple[list[Change], list[Change]]:
    """The changes that stand, and those of the fold that levels do not bear out."""
    # Settled changes are held against each other too, and there may be many: by place alone.
    places = {
        i: (one.after.position, one.last.position, one.revision.position)
        for i, one in enumerate(folded)
    }
    rows = []
    for step in found.steps:
        at, verdict = step.finding.first.position, _verdict(step, better)
        low, high = _near(at, positions)
        near = [
            (abs(place - at), i)
            for i, (after, last, place) in places.items()
            if (after < at <= last or low <= place <= high) and folded[i].verdict == verdict
        ]
        same = None
        if near:
            _, i = min(near)
            same = folded[i]
            del places[i]
        is_young = _count_from(step.finding.first, positions) < ALONE
        if is_young and (same is None or same.confirmed_by is None):
            rows += [same] if same is not None else []
            continue
        rows.append(_as_change(step, same, better, has_modes=found.has_modes))
    left = [folded[i] for i in places]
    stands = [
        one
        for one in left
        if _is_fresh(one, positions) and _is_beyond(one, found) and not _is_part(one, found.steps)
    ]
    return [*rows, *stands], [one for one in left if one not in stands]


def _in_order(rows: Sequence[Change]) -> tuple[Change, ...]:
    """Along the tree, the candidate last; one at a revision."""
    by_place = {one.revision.position: one for one in reversed(rows)}
    return tuple(by_place[at] for at in sorted(by_place))


def _near(at: int, positions: Sequence[int]) -> tuple[float, float]:
    """The positions at which the fold may place the change that levels place at ``at``.

    Where one of both is no longer kept, those at the beginning of what is kept are near it.
    """
    index = bisect_left(positions, at)
    if positions[index : index + 1] != [at]:
        return positions[0], positions[NEAR - 1]
    low = positions[index - NEAR] if index >= NEAR else -inf
    return low, positions[min(index + NEAR, len(positions) - 1)]


def _is_fresh(one: Change, positions: Sequence[int]) -> bool:
    return 0 < _count_from(one.revision, positions) <= FRESH


def _count_from(at: At, positions: Sequence[int]) -> int:
    return len(positions) - bisect_left(positions, at.position)


def _is_part(one: Change, steps: Sequence[Step]) -> bool:
    """Whether it lies among the revisions over which a change came that levels show as one."""
    return any(
        step.locations[0][0].position < one.revision.position <= step.locations[-1][0].position
        for step in steps
    )


def _is_beyond(one: Change, found: Findings) -> bool:
    """Whether it is more than what levels know of: noise that may have grown lately, and modes, by
    which the fold's values jump.
    """
    if found.has_modes:
        return False
    if found.noise_pct is None or not one.before or not one.level:
        return True
    share = 1 / max(one.revisions_before, 1) + 1 / max(one.revisions_after, 1)
    return abs(log(one.level / one.before)) >= scale.KEEP * found.noise_pct / 100 * sqrt(share)


def _verdict(step: Step, better: Better) -> Verdict:
    return "better" if is_gain(step.finding.pct, better) else "worse"


def _as_change(step: Step, same: Change | None, better: Better, *, has_modes: bool) -> Change:
    """A change that levels show; ``same`` is what the fold says of it: since when it is known.

    Where runs have two modes, levels show the size of runs in the usual one; that of the fold
    is as measured.
    """
    if same is None or same.confirmed_by is None:
        return _of_step(step, _shown(step, better))
    at = step.finding.first.position
    if has_modes and same.first.position <= at <= same.last.position:
        return same
    told = _of_step(step, {name: getattr(same, name) for name in EVIDENCE})
    if not has_modes:
        return told
    return replace(
        told,
        change_pct=same.change_pct,
        low_pct=same.low_pct,
        high_pct=same.high_pct,
        before=same.before,
        level=same.level,
        revisions_before=same.revisions_before,
        revisions_after=same.revisions_after,
    )


def _shown(step: Step, better: Better) -> dict[str, Any]:
    """What levels alone know of `EVIDENCE`."""
    score = step.finding.score
    return {
        "verdict": _verdict(step, better),
        "score": score,
        "needed": scale.CONFIRM,
        "p_value": scale.p_of_scan(score),
        "probability": scale.probability(score, step.revisions[1]),
        "confirmed_by": step.shown_by,
    }


def _of_step(step: Step, evidence: Mapping[str, Any]) -> Change:
    finding = step.finding
    at = [one for one, _ in step.locations]
    here = finding.first.position
    return Change(
        revision=finding.first,
        previous=finding.previous,
        after=at[0],
        first=at[1],
        last=at[-1],
        here=next(chance for one, chance in step.locations if one.position == here),
        change_pct=finding.pct,
        low_pct=finding.low_pct,
        high_pct=finding.high_pct,
        before=finding.before,
        level=finding.level,
        revisions_before=step.revisions[0],
        revisions_after=step.revisions[1],
        state="confirmed",
        **evidence,
        locations=tuple((one.position, one.label, chance) for one, chance in step.locations)
        if len(at) > LEAST_PLACES
        else (),
    )


def _shown_levels(stretches: Sequence[Stretch], rows: Sequence[Change]) -> Sequence[Stretch]:
    """Without the newest level while no change to it is told."""
    if len(stretches) < LEAST_LEVELS:
        return stretches
    *others, former, last = stretches
    if any(former.last.position < one.last.position for one in rows if one.confirmed_by):
        return stretches
    return [*others, replace(former, last=last.last, count=former.count + last.count)]


def _segments(
    stretches: Sequence[Stretch], folded: Sequence[Segment], fresh: Sequence[Change]
) -> tuple[Segment, ...]:
    """The levels; the last one ends where a change begins that only the fold tells yet."""
    segments = [_segment(one) for one in stretches]
    last = segments[-1]
    own = folded[-1] if folded else None
    begins = any(own is not None and one.revision == own.first for one in fresh)
    if own is None or not begins or own.first.position <= last.first.position:
        return tuple(segments)
    before = next(one for one in fresh if one.revision == own.first).previous
    cut = replace(last, last=before, count=max(last.count - own.count, 1))
    return (*segments[:-1], cut, own)


def _segment(one: Stretch) -> Segment:
    gain = 100 * (one.end_level / one.level - 1) if one.level else 0.0
    half = 100 * (one.high - one.low) / (one.high + one.low)
    is_drift = abs(gain) > DRIFT_SCORE * half / TWO_SIDED_95
    return Segment(
        first=one.first,
        last=one.last,
        count=one.count,
        level=one.level,
        low=one.low,
        high=one.high,
        end_level=one.end_level,
        drift_pct=gain if is_drift else 0.0,
    )
