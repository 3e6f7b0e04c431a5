"""From the state of the online update to what it reports of a series."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, inf, log, sqrt

import numpy as np

from webapp.stats.changes import findings, scale
from webapp.stats.changes.online_state import Break, Interval, OnlineState, Regime
from webapp.stats.changes.regimes import (
    LEAST_SIDE,
    interval_of,
    is_silent,
    of_mean,
    score_of,
    spread,
)
from webapp.stats.changes.scale import percent
from webapp.stats.intervals import POWER_80, TWO_SIDED_95
from webapp.stats.metrics import Better, is_gain, worth_telling

LEAST_SAMPLES, LEAST_SHARE, LEAST_MIXED = 20, 0.15, 1 / 3
"""Before two modes are spoken of: samples; share of them that the smaller mode holds (less are odd
samples); and share of the revisions that hold samples of both (else it is builds that differ)."""

LEAST_DISTANCE, CHOSEN = 3.5, 40
"""Ashman's D of the two modes, at least, and what is added to it, times the number of samples: 2
separates them cleanly when the split is known beforehand; one chosen as the best reaches 2.7 on
many normal samples, and 4.5 in one of a hundred cases on 25."""

SOON, LATER = 2, 10
"""Revisions after which the smallest provable change is given."""

NO_SCATTER = 1.001
"""Multiple of the smallest standard deviation that is believed up to which all values are equal."""

DRIFT_SCORE = 3.0
"""A slope below so many standard errors of the level is not called a drift."""


def _has_two(state: OnlineState) -> bool:
    """Return whether the newest revisions of the last regime show two modes of samples."""
    if not state.regimes:
        return False
    rows = state.samples[-min(state.regimes[-1].count, len(state.samples)) :]
    logs = np.sort(np.array([log for row in rows for log in row]))
    n = len(logs)
    if n < LEAST_SAMPLES or logs[0] == logs[-1]:
        return False
    cut = _best_cut(logs)
    low, high = logs[:cut], logs[cut:]
    if min(len(low), len(high)) < LEAST_SHARE * n:
        return False
    inner = sqrt((float(low.var()) + float(high.var())) / 2)
    if float(high.mean() - low.mean()) <= (LEAST_DISTANCE + CHOSEN / n) * inner:
        return False
    mixed = sum(1 for row in rows if min(row) < high[0] <= max(row))
    return mixed >= LEAST_MIXED * len(rows)


def _best_cut(logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """The cut of sorted values that leaves the smallest sum of squares inside both parts."""
    centred = logs - logs.mean()
    left = np.arange(1, len(logs))
    between = np.cumsum(centred)[:-1] ** 2 / (left * (len(logs) - left))
    return int(np.argmax(between)) + 1


def present(state: OnlineState, better: Better, *, all_segments: bool = True) -> findings.Analysis:
    """Return what is reported of the series that `state` has read.

    Of its segments the last one alone is reported where a caller has others (not `all_segments`).
    """
    newest = _newest(state)
    changes = [
        _confirmed(state, i, better)
        for i, broken in enumerate(state.breaks)
        if broken.kind == "change"
    ]
    if newest is not None and newest.score >= newest.needed:
        changes.append(_candidate(state, newest.score, better))
    regimes = state.regimes if all_segments else state.regimes[-1:]
    segments = tuple(_segment(state, regime) for regime in regimes)
    return findings.Analysis(
        count=state.count,
        changes=tuple(changes),
        segments=segments,
        noise=_noise(state) if state.freedom >= scale.LEAST_FREEDOM else None,
        smallest=_smallest(state),
        newest=newest,
        is_bimodal=_has_two(state),
        is_drifting=bool(segments) and segments[-1].drift_pct != 0,
        retracted=tuple(
            findings.Retracted(
                findings.At(item.position, item.label), findings.At(*item.confirmed_by)
            )
            for item in state.retracted
        ),
        left_out=tuple(findings.At(*item) for item in state.left_out),
    )


def total_losses(
    state: OnlineState, segments: Sequence[findings.Segment], better: Better
) -> Iterator[findings.Change]:
    """Return the changes of a rate to 0, in order along the tree; their level before is that of
    `segments`. Where less is better, 0 is no loss.

    Of n revisions before, f failed as well: one fails by itself with probability
    p = (f + ½) / (n + f + 1) (Jeffreys 1946), m one after the other with p to the power of m.
    """
    for gap in state.gaps if better == "more" else ():
        if gap.previous is None or not gap.is_zero:
            continue
        share = (gap.unusable + 0.5) / (gap.usable + gap.unusable + 1)
        needed = max(ceil(log(scale.BY_ITSELF) / log(share)), LEAST_SIDE)
        previous, at, count = findings.At(*gap.previous), gap.revisions[0], len(gap.revisions)
        before = findings.level_at(segments, previous)
        if count < needed or before is None:
            continue
        here, chance = findings.At(*at), share**count
        yield findings.Change(
            revision=here,
            previous=previous,
            after=previous,
            first=here,
            last=here,
            here=1.0,
            change_pct=-100.0,
            low_pct=-100.0,
            high_pct=-100.0,
            before=before.level,
            level=0.0,
            revisions_before=gap.usable,
            revisions_after=count,
            verdict="worse",
            state="confirmed",
            score=scale.of_p(chance),
            needed=scale.of_p(scale.BY_ITSELF),
            p_value=chance,
            probability=1.0 - chance,
            confirmed_by=findings.At(*gap.revisions[needed - 1]),
            back=gap.back and findings.At(*gap.back),
        )


def largest_score(state: OnlineState) -> float:
    """Return the most that any number of newest revisions shows against the rest of their regime
    (`Newest.scan_score`); infinity while too little is known.
    """
    newest = _newest(state)
    return inf if newest is None else newest.scan_score


def _confirmed(state: OnlineState, i: int, better: Better) -> findings.Change:
    """Change `i`, by the noise when it was settled, else by that of now."""
    broken, before, after = state.breaks[i], state.regimes[i], state.regimes[i + 1]
    if broken.settled and broken.interval is not None:
        variance, freedom = broken.variance, broken.freedom
        table = scale.inflation(broken.memory_step)
    else:
        broken = replace(broken, score=score_of(state), interval=interval_of(state))
        variance, freedom, table = spread(state)
    margin = sqrt(scale.as_student(TWO_SIDED_95, freedom) * variance)
    margin *= sqrt(_share(before, table) + _share(after, table))
    levels = (before.at(after.first), after.level, margin)
    return _sized(state, broken, levels, (before.count, after.count), better)


def _candidate(state: OnlineState, score: float, better: Better) -> findings.Change:
    variance, freedom, table = spread(state)
    ring, count = state.ring, state.regimes[-1].count - 1
    level, weight = _without_newest(state)
    margin = sqrt(scale.as_student(TWO_SIDED_95, freedom) * variance)
    margin *= sqrt(1 / ring.weight[-1] + of_mean(table, count) / weight)
    previous, here = zip(ring.position[-2:], ring.label[-2:], strict=True)
    interval = Interval(previous, here, here, previous, 1.0)
    broken = Break("change", state.count - 1, *here, here, score, interval)
    levels = (level, ring.location[-1], margin)
    change = _sized(state, broken, levels, (count, 1), better)
    return replace(change, state="candidate", needed=scale.SUSPECT, confirmed_by=None)


def _sized(
    state: OnlineState,
    broken: Break,
    levels: tuple[float, float, float],
    counts: tuple[int, int],
    better: Better,
) -> findings.Change:
    """What is reported of a change from one level to another, the third of `levels` is the margin
    of their gap.
    """
    (old, new, margin), interval, score = levels, broken.interval, broken.score
    assert interval is not None
    return findings.Change(
        revision=findings.At(broken.position, broken.label),
        previous=findings.At(*interval.previous),
        after=findings.At(*interval.after),
        first=findings.At(*interval.first),
        last=findings.At(*interval.last),
        here=interval.chance,
        change_pct=percent(new - old),
        low_pct=percent(new - old - margin),
        high_pct=percent(new - old + margin),
        before=scale.exponential(state.origin + old),
        level=scale.exponential(state.origin + new),
        revisions_before=counts[0],
        revisions_after=counts[1],
        verdict="better" if is_gain(new - old, better) else "worse",
        state="confirmed",
        score=score,
        needed=scale.CONFIRM,
        p_value=scale.p_of_scan(score),
        probability=scale.probability(score, counts[1]),
        confirmed_by=findings.At(*broken.confirmed_by),
        locations=interval.locations,
    )


def _share(regime: Regime, table: tuple[float, ...]) -> float:
    return of_mean(table, regime.count) / regime.weight


def _without_newest(state: OnlineState) -> tuple[float, float]:
    """The last regime's line at the newest revision, from the others, and their weight."""
    ring, regime = state.ring, state.regimes[-1]
    weight = regime.weight - ring.weight[-1]
    level = (regime.total - ring.weight[-1] * ring.clipped[-1]) / weight
    return level + regime.slope * (state.count - 1 - regime.first), weight


def _newest(state: OnlineState) -> findings.Newest | None:
    if is_silent(state) or state.regimes[-1].count <= LEAST_SIDE:
        return None
    variance, freedom, table = spread(state)
    ring, regime = state.ring, state.regimes[-1]
    revision = findings.At(ring.position[-1], ring.label[-1])
    level, weight = _without_newest(state)
    off = ring.location[-1] - level
    share = 1 / ring.weight[-1] + of_mean(table, regime.count - 1) / weight
    largest = square = off * off / (variance * share)
    for m in scale.WINDOWS:
        if m > regime.count - LEAST_SIDE:
            break
        left, sum_left = ring.weights[-1 - m], ring.totals[-1 - m]
        right = regime.weight - left
        gap = (regime.total - sum_left) / right - sum_left / left
        share = table[m] / right + of_mean(table, regime.count) / left
        largest = max(largest, gap * gap / (variance * share))
    score, scanned = scale.as_score(square, freedom), scale.as_score(largest, freedom)
    p_value = scale.p_of_scan(scanned)
    return findings.Newest(revision, percent(off), score, scale.SUSPECT, scanned, p_value)


def _segment(state: OnlineState, regime: Regime) -> findings.Segment:
    variance, freedom, table = spread(state)
    start = state.origin + regime.level
    gain = regime.slope * (regime.count - 1)
    share = _share(regime, table)
    margin = sqrt(scale.as_student(TWO_SIDED_95, freedom) * variance * share) if freedom else 0.0
    is_drift = gain * gain > DRIFT_SCORE**2 * variance * share
    return findings.Segment(
        first=findings.At(regime.position, regime.label),
        last=findings.At(regime.last_position, regime.last_label),
        count=regime.count,
        level=scale.exponential(start),
        low=scale.exponential(start - margin),
        high=scale.exponential(start + margin),
        end_level=scale.exponential(start + gain),
        drift_pct=percent(gain) if is_drift else 0.0,
    )


def _noise(state: OnlineState) -> findings.Noise:
    tracker, variance = state.tracker, state.variance
    within = tracker.within_variance() if tracker.within_weight else None
    run = tracker.in_boot / tracker.in_boot_weight if tracker.in_boot_weight else None
    several_boots = tracker.boots > 1.5 * tracker.shares
    separates = within is not None and tracker.nears >= scale.LEAST_FREEDOM
    build = max(variance - tracker.run_part(), 0.0) if separates else None
    measured, own_freedom = tracker.measured_build() if separates else (None, 0.0)
    boot = None
    if within is not None and run is not None and several_boots:
        boot = max(within - run, 0.0)
    return findings.Noise(
        revision_pct=_pct(variance),
        within_pct=_pct(within),
        run_pct=_pct(run),
        boot_pct=_pct(boot),
        build_pct=_pct(build),
        memory=tracker.memory(),
        freedom=state.freedom,
        measured_build_pct=_pct(measured),
        measured_freedom=own_freedom,
        within_freedom=tracker.boots - tracker.shares if several_boots else tracker.within_weight,
    )


def _pct(variance: float | None) -> float | None:
    return None if variance is None else 100.0 * sqrt(variance)


def _smallest(state: OnlineState) -> findings.Smallest | None:
    """None where no two values differ yet, and beyond what is worth telling: what is known of the
    noise is then a floor, a guess or next to nothing.
    """
    variance, freedom, table = spread(state)
    if is_silent(state) or variance <= (NO_SCATTER * state.tracker.finest()) ** 2:
        return None
    left = _share(state.regimes[-1], table)
    square = scale.as_student(scale.CONFIRM + POWER_80, freedom)

    def after(count: int, each: float) -> float:
        return percent(sqrt(square * (each * of_mean(table, count) / count + variance * left)))

    run_part = min(state.tracker.run_part(), variance)
    now, later = after(SOON, variance), after(LATER, variance)
    doubled = after(SOON, variance - run_part / 2)
    if worth_telling(now) is None:
        return None
    helps: findings.Helps = "runs" if run_part > variance / 2 else "revisions"
    is_known = state.tracker.within_weight and state.tracker.nears >= scale.LEAST_FREEDOM
    return findings.Smallest(now, later, doubled, helps if is_known else "unknown")
