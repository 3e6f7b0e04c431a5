"""What the online update reported first and what levels show still stands, as one."""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log, sqrt
from typing import Any

from webapp.stats.changes import online_analysis, scale
from webapp.stats.changes.findings import (
    Analysis,
    At,
    Change,
    Findings,
    Retracted,
    Segment,
    Step,
    Verdict,
)
from webapp.stats.changes.online import advance_point, check_order
from webapp.stats.changes.online_analysis import DRIFT_SCORE, largest_score, total_losses
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import Point, reduce_points
from webapp.stats.changes.window import Rows, Window
from webapp.stats.intervals import TWO_SIDED_95
from webapp.stats.metrics import Better, is_gain

LONGEST, SHARE = 16, 8
"""Points of a block at most: as many as lie between two states that are stored (`checkpoints`), and
no more than this part of the series: a young one must not wait."""

AT_REST = scale.KEEP
"""Normal score of the newest revisions, taken together in any number, below which a series is at
rest: with less a confirmed change is retracted."""

FRESH = 10
"""Revisions of a new level by which levels must bear it out: with so many, whatever the update can
confirm pays for a level as well, and a change of noise is reported as what it is (`noises`)."""

ALONE = 5
"""Revisions since a change from which on levels report it where the update does not: two would be
one odd revision beside a neighbour that happens to lie on its side."""

NEAR = 2
"""Measured revisions by which both may place the same change apart."""

EVIDENCE = ("verdict", "score", "needed", "p_value", "probability", "confirmed_by")
SIZE = ("change_pct", "low_pct", "high_pct", "before", "level")
COUNTS = ("revisions_before", "revisions_after", "unweighed")
"""Of a change, what is reported of it since the update confirmed it, and how large it is."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is reported of a series: its changes of level, and everything else that was found."""

    analysis: Analysis
    others: Findings


@dataclass(slots=True)
class State:
    """A series as far as it was read: the state of the online update, and the newest revisions."""

    online: OnlineState = field(default_factory=OnlineState)
    window: Window = field(default_factory=Window)

    @property
    def length(self) -> int:
        """The number of points that were read."""
        return self.online.count + len(self.online.left_out)

    def to_data(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only: what JSON can hold."""
        return {**self.online.to_data(), "window": self.window.to_data()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "State":
        """Return the state that `to_data` wrote, also after a passage through JSON.

        Raises ValueError when another version of the method wrote it.
        """
        data = dict(data)
        window = data.pop("window", {})
        return cls(OnlineState.from_data(data), Window.from_data(window))

    def fill(self, points: Sequence[Point]) -> None:
        """Let the window have these revisions, which are all of it: it was stored without them."""
        self.window.rows = Rows([one for one in reduce_points(points) if one is not None])


start = State
"""The state before the first revision."""


def advance(state: State, points: Sequence[Point]) -> State:
    """Return the state after `points` as well; `state` itself stays as it is.

    Levels are looked for anew at the end of a block, and where the series is not at rest: it takes
    ten times as long as all else, and a revision that lies where the series lay moves no level.
    Which revisions those are is read from the online update alone, so that it does not matter in
    how many pieces points came. (A series that moves by and by is never at rest: `window.moves`.)
    Raises BadSeriesError for points out of order (each position must be larger than the last), for
    a sample that is not a finite number and for a point without samples.
    """
    online, window = state.online.copy(), state.window.copy()
    check_order(online, points)
    length = state.length
    # Before the end of the last block it does not matter where levels were looked for.
    since = last_block_end(length + len(points))
    for point, value in zip(points, reduce_points(points), strict=True):
        length += 1
        before = _counts(online) if length >= since else None
        advance_point(online, point, value)
        if value is not None:
            window.add(value)
        if before is None:
            continue
        # One revision alone moves no level: what the newest shows counts with the one after it.
        was_stirred, window.is_stirred = window.is_stirred, largest_score(online) >= AT_REST
        is_due = was_stirred or _is_young(online) or _counts(online) != before
        if is_due or ends_block(length):
            window.look_anew()
    return State(online, window)


def ends_block(length: int) -> bool:
    """Return whether a block of a series ends with its `length`-th point."""
    return length % min(max(length // SHARE, 1), LONGEST) == 0


def last_block_end(length: int) -> int:
    """Return the number of points after which the last block of `length` points ended."""
    return next(at for at in range(length, -1, -1) if not at or ends_block(at))


def _is_young(online: OnlineState) -> bool:
    """Whether the newest regime is so young that levels must bear it out."""
    return bool(online.breaks) and online.regimes[-1].count <= FRESH + NEAR


def _counts(online: OnlineState) -> tuple[int, int]:
    """What changes when the online update finds something new, or takes it back."""
    return len(online.breaks), len(online.retracted)


def detect(points: Iterable[Point], *, better: Better = "more") -> Report:
    """Return what is reported of a whole series: points in any order, one per revision.

    Raises BadSeriesError as `advance` does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    return present(advance(start(), ordered), better)


def present(state: State, better: Better) -> Report:
    """Return what is reported of the series that `state` has read.

    A change of level stands where levels show it (after `ALONE` revisions, where the update does
    not report it), and for its first `FRESH` revisions where only the update does; where the update
    confirmed it, that is when. A series too young for levels has the update's changes. What
    measured 0 has no logarithm, and is in neither: a rate that is lost is added to both.
    """
    found = state.window.found()
    analysis = online_analysis.present(state.online, better, all_segments=not found.stretches)
    if found.stretches:
        analysis = _joined(state, analysis, found, better)
    lost = total_losses(state.online, analysis.segments, better)
    return Report(replace(analysis, changes=_in_order([*analysis.changes, *lost])), found)


def _joined(state: State, analysis: Analysis, found: Findings, better: Better) -> Analysis:
    """The changes and levels of the online update and of levels."""
    positions = state.window.rows.positions()
    is_curved = any(one.level != one.end_level for one in found.stretches)
    lines = [one for one in state.online.regimes if one.slope and not is_curved]
    drifts = {one.last_position for one in lines}
    rows, dropped = _join(analysis.changes, found, positions, better, drifts)
    as_updated = {id(one) for one in analysis.changes}
    fresh = [one for one in rows if id(one) in as_updated]
    segments = _segments(_shown_levels(found.stretches, rows), analysis.segments, fresh)
    retracted = [
        Retracted(one.revision, one.confirmed_by) for one in dropped if one.confirmed_by is not None
    ]
    return replace(
        analysis,
        changes=_in_order(rows),
        segments=segments,
        is_drifting=segments[-1].drift_pct != 0 or bool(found.slow),
        retracted=(*analysis.retracted, *retracted),
        recurring=found.recurring,
    )


def _join(
    updated: Sequence[Change],
    found: Findings,
    positions: Sequence[int],
    better: Better,
    drifts: Container[int],
) -> tuple[list[Change], list[Change]]:
    """The changes that stand, and those of the update that levels do not bear out.

    At ``drifts`` (positions) a line ends that the update has in place of a level, and levels do
    not: where it went on too long, the series seems to come back.
    """
    # Settled changes are held against each other too, and there may be many: by place alone.
    places = {
        i: (one.after.position, one.last.position, one.revision.position)
        for i, one in enumerate(updated)
    }
    rows = []
    for step in found.steps:
        at, verdict = step.finding.first.position, _verdict(step, better)
        low, high = _near(at, positions)
        near = [
            (abs(place - at), i)
            for i, (after, last, place) in places.items()
            if (after < at <= last or low <= place <= high) and updated[i].verdict == verdict
        ]
        same = None
        if near:
            _, i = min(near)
            same = updated[i]
            del places[i]
        is_young = _count_from(step.finding.first, positions) < ALONE
        if is_young and (same is None or same.confirmed_by is None):
            rows += [same] if same is not None else []
            continue
        rows.append(_as_change(step, same, better, has_modes=found.has_modes))
    left = [updated[i] for i in places]
    stands = [
        one
        for one in left
        if _is_fresh(one, positions)
        and _is_beyond(one, found)
        and not _is_part(one, found.steps)
        and one.previous.position not in drifts
    ]
    return [*rows, *stands], [one for one in left if one not in stands]


def _in_order(rows: Sequence[Change]) -> tuple[Change, ...]:
    """Along the tree, the candidate last; one at a revision."""
    by_place = {one.revision.position: one for one in reversed(rows)}
    return tuple(by_place[at] for at in sorted(by_place))


def _near(at: int, positions: Sequence[int]) -> tuple[float, float]:
    """The positions at which the update may place the change that levels place at ``at``.

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
        step.locations[0][0] < one.revision.position <= step.locations[-1][0] for step in steps
    )


def _is_beyond(one: Change, found: Findings) -> bool:
    """Whether it is more than what levels know of: noise that may have grown lately, and modes, by
    which the update's values jump.
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
    """A change that levels show; ``same`` is what the update reports of it: since when it is known.

    Where runs have two modes, levels show the size of runs in the usual one; that of the update
    is as measured.
    """
    finding, locations = step.finding, step.locations
    at, score = finding.first.position, finding.score
    known = None if same is None or same.confirmed_by is None else same
    if known and has_modes and known.first.position <= at <= known.last.position:
        return known
    after, first, last = (At(*locations[i][:2]) for i in (0, 1, -1))
    shown: dict[str, Any] = {
        "change_pct": finding.pct,
        "low_pct": finding.low_pct,
        "high_pct": finding.high_pct,
        "before": finding.before,
        "level": finding.level,
        "revisions_before": step.revisions[0],
        "revisions_after": step.revisions[1],
        "unweighed": step.unweighed,
        "verdict": _verdict(step, better),
        "score": score,
        "needed": scale.CONFIRM,
        "p_value": scale.p_of_scan(score),
        "probability": scale.probability(score, step.revisions[1]),
        "confirmed_by": step.shown_by,
    }
    if known:
        names = (*EVIDENCE, *SIZE, *COUNTS) if has_modes else EVIDENCE
        shown |= {name: getattr(known, name) for name in names}
    return Change(
        revision=finding.first,
        previous=finding.previous,
        after=after,
        first=first,
        last=last,
        here=next(chance for place, _, chance in locations if place == at),
        state="confirmed",
        # The revision before, and one place.
        locations=locations if len(locations) > 2 else (),
        **shown,
    )


def _shown_levels(stretches: Sequence[Segment], rows: Sequence[Change]) -> Sequence[Segment]:
    """Without the newest level while no change to it is reported."""
    if len(stretches) == 1:
        return stretches
    *others, former, last = stretches
    if any(former.last.position < one.last.position for one in rows if one.confirmed_by):
        return stretches
    return [*others, replace(former, last=last.last, count=former.count + last.count)]


def _segments(
    stretches: Sequence[Segment], updated: Sequence[Segment], fresh: Sequence[Change]
) -> tuple[Segment, ...]:
    """The levels; the last one ends where a change begins that only the update reports yet."""
    segments = [_segment(line) for one in stretches for line in one.lines]
    last = segments[-1]
    own = updated[-1] if updated else None
    begins = any(own is not None and one.revision == own.first for one in fresh)
    if own is None or not begins or own.first.position <= last.first.position:
        return tuple(segments)
    before = next(one for one in fresh if one.revision == own.first).previous
    cut = replace(last, last=before, count=max(last.count - own.count, 1))
    return (*segments[:-1], cut, own)


def _segment(one: Segment) -> Segment:
    gain = 100 * (one.end_level / one.level - 1) if one.level else 0.0
    half = 100 * (one.high - one.low) / (one.high + one.low)
    is_drift = abs(gain) > DRIFT_SCORE * half / TWO_SIDED_95
    return replace(one, drift_pct=gain) if is_drift else one
