"""Power: how soon and how exactly a step is found, beside the peers and beside the limit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from benchmarks import cells, intervals
from benchmarks.cells import Cell, Floats
from benchmarks.peers import Peer
from webapp.stats.changes import scale
from webapp.stats.changes.online import advance_one
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import reduce_points
from webapp.stats.simulate import draw_levels, draw_samples

HISTORY = 100
SIZES = (1, 2, 3, 4, 6)
NO_STEP = 0
"""Series without a step, in which hits are luck: a detector that always reports one finds all."""

LOOKS = (1, 3, 10)
NEAR = 2
"""Revisions around the true one that count as found."""

GRID = (2.0, 2.3, 2.6, 3.0, 3.3, 3.6, 4.0, 4.5, 5.0, 6.0)
"""Thresholds of ours, from which the one with the peer's rate of false alerts is taken."""

MANY = 50
"""Trials from which on the whole grid is worth its time."""

CELLS = (cells.CLEAN[2], cells.CLEAN[3], cells.HEAVY[3])

NULL_FIRST, NULL_LAST = 60, 160
"""Prefixes of a null series that are replayed."""

Recall = dict[tuple[int, int], int]
"""Hits by (size, revisions after)."""


@dataclass(slots=True)
class Result:
    """Of one detector in one cell; rates are per revision."""

    hits: Recall = field(default_factory=dict)
    errors: dict[int, list[int]] = field(default_factory=dict)
    delays: dict[int, list[int]] = field(default_factory=dict)
    rate: float = 0.0
    rate_with_candidates: float = 0.0


@contextmanager
def threshold(score: float) -> Iterator[None]:
    """Run ours at another threshold, for candidates and confirmed changes alike."""
    kept = scale.CONFIRM, scale.SUSPECT, scale.KEEP
    scale.CONFIRM, scale.SUSPECT, scale.KEEP = score, score, score * kept[2] / kept[0]
    try:
        yield
    finally:
        scale.CONFIRM, scale.SUSPECT, scale.KEEP = kept


def steps(cell: Cell, trials: int, seed: int) -> dict[int, Floats]:
    """Return by size (in sd of one revision) arrays (trials, revisions, samples)."""
    sd = cell.sd()
    arrays = {}
    for size in (NO_STEP, *SIZES):
        rng = np.random.default_rng(seed)
        levels = draw_levels(rng, trials, HISTORY + max(LOOKS), cell.scatter)
        levels[:, HISTORY:] += size * sd * rng.choice((-1.0, 1.0), (trials, 1))
        arrays[size] = draw_samples(rng, levels, cells.SAMPLES, cell.scatter)
    return arrays


def quiet(cell: Cell, series: int, seed: int) -> Floats:
    """Return series without a change, (series, revisions, samples)."""
    rng = np.random.default_rng(seed)
    levels = draw_levels(rng, series, NULL_LAST, cell.scatter)
    return draw_samples(rng, levels, cells.SAMPLES, cell.scatter)


def ours(arrays: dict[int, Floats], null: Floats, score: float) -> Result:
    """Measure our detection at one threshold."""
    result = Result()
    with threshold(score):
        for size, many in arrays.items():
            for values in many:
                _watch(result, size, values)
        _count_false(result, null)
    return result


def _watch(result: Result, size: int, values: Floats) -> None:
    state = OnlineState()
    delay = None
    for i, value in enumerate(reduce_points(cells.series_of(values))):
        if value is not None:
            advance_one(state, value)
        after = i - HISTORY + 1
        near = [item for item in state.breaks if _is_near(item.index)] if after > 0 else []
        if near and delay is None:
            delay = after - 1
        if after in LOOKS:
            hit = bool(near) or (after == 1 and _has_candidate(state))
            key = size, after
            result.hits[key] = result.hits.get(key, 0) + hit
    if near:
        result.errors.setdefault(size, []).append(abs(near[-1].index - HISTORY))
    if delay is not None:
        result.delays.setdefault(size, []).append(delay)


def _has_candidate(state: OnlineState) -> bool:
    newest = present(state, "more").newest
    return newest is not None and newest.score >= newest.needed


def _count_false(result: Result, null: Floats) -> None:
    confirmed = alone = looks = 0
    for values in null:
        state = OnlineState()
        for i, value in enumerate(reduce_points(cells.series_of(values))):
            if value is not None:
                advance_one(state, value)
            if i >= NULL_FIRST:
                looks += 1
                alone += _has_candidate(state)
        made = [item.confirmed_by[0] for item in (*state.breaks, *state.retracted)]
        confirmed += sum(at >= NULL_FIRST for at in made)
    result.rate = confirmed / looks
    result.rate_with_candidates = (confirmed + alone) / looks


def _is_near(index: int) -> bool:
    return abs(index - HISTORY) <= NEAR


def peer(one: Peer, arrays: dict[int, Floats], null: Floats) -> Result:
    """Measure a peer on the same arrays, by running it on each prefix."""
    result = Result()
    for size, many in arrays.items():
        for after in LOOKS:
            answers = one.detect([values[: HISTORY + after] for values in many])
            result.hits[size, after] = sum(any(map(_is_near, found)) for found in answers)
        nearest = [min((abs(i - HISTORY) for i in found), default=99) for found in answers]
        result.errors[size] = [error for error in nearest if error <= NEAR]
    alerts = looks = 0
    for values in null[:: max(1, one.stride // 4)]:
        seen: list[int] = []
        ends = range(NULL_FIRST, NULL_LAST + 1, one.stride)
        for found in one.detect([values[:end] for end in ends]):
            new = [i for i in found if all(abs(i - old) > NEAR for old in seen)]
            alerts += sum(i >= NULL_FIRST - one.stride for i in new)
            seen += new
        looks += NULL_LAST - NULL_FIRST
    result.rate = result.rate_with_candidates = max(alerts, 1) / looks
    return result


def limit(
    cell: Cell, arrays: dict[int, Floats], rates: tuple[float, float], null: Floats
) -> Recall:
    """Return hits of the same scan given the true noise and the old level, at our rates.

    `rates` are those of ours: confirmed (windows of two and more), and with candidates (one).
    """
    sd = cell.sd()
    scores_of_null = _scores(_standardised(null, sd))
    hits: Recall = {}
    for after in LOOKS:
        single = after == 1
        level = _level_for(scores_of_null[0 if single else 1], rates[1] if single else rates[0])
        for size, many in arrays.items():
            newest = _standardised(many, sd)[:, HISTORY : HISTORY + after]
            scores = np.abs(newest.sum(axis=1)) / sqrt(after)
            for m in (2, 3, 4, 6, 8):
                if m < after and not single:
                    for end in range(m, after + 1):
                        part = np.abs(newest[:, max(end - m, 0) : end].sum(axis=1)) / sqrt(m)
                        scores = np.maximum(scores, part)
            hits[size, after] = int((scores >= level).sum())
    return hits


def _standardised(many: Floats, sd: float) -> Floats:
    """The locations of all revisions in standard deviations from the true old level."""
    rows = many.reshape(-1, many.shape[-1])
    values = [value.location for value in reduce_points(cells.series_of(rows)) if value is not None]
    flat = np.array(values).reshape(many.shape[:-1])
    return np.asarray((flat - np.log(1e6)) / sd)


def _scores(locations: Floats) -> tuple[Floats, Floats]:
    """Per revision: the score of it alone, and the largest of the windows ending there."""
    sums = np.cumsum(locations, axis=1)
    best = np.zeros_like(locations)
    for m in scale.WINDOWS:
        window = sums[:, m:] - sums[:, :-m]
        best[:, m:] = np.maximum(best[:, m:], np.abs(window) / sqrt(m))
    return np.abs(locations), best


def _level_for(scores: Floats, rate: float) -> float:
    """The level that is crossed (upwards) `rate` times per revision."""
    for level in np.arange(2.0, 6.0, 0.02):
        above = scores >= level
        if (above[:, 1:] & ~above[:, :-1]).mean() <= rate:
            return float(level)
    return 6.0


def net(hits: Recall, size: int, after: int, trials: int) -> float:
    """Return the share found, less what luck finds: (r - luck) / (1 - luck)."""
    luck = hits[NO_STEP, after] / trials
    if luck >= 1:
        return 0.0
    return max((hits[size, after] / trials - luck) / (1 - luck), 0.0)


def matched(results: dict[float, Result], rate: float, *, with_candidates: bool) -> Result:
    """Return ours at the loosest threshold with no more false alerts than `rate`."""
    for score in sorted(results):
        own = results[score]
        if (own.rate_with_candidates if with_candidates else own.rate) <= rate:
            return own
    return results[max(results)]


def report(
    peers: Sequence[Peer], trials: int, null_series: int, seed: int, kinds: Sequence[Cell] = CELLS
) -> str:
    """Return the tables of all cells."""
    parts = []
    scores = GRID if trials >= MANY else GRID[::4]
    tally: dict[str, list[int]] = {}
    for cell in kinds:
        arrays, null = steps(cell, trials, seed), quiet(cell, null_series, seed + 1)
        grid = {score: ours(arrays, null, score) for score in (*scores, scale.CONFIRM)}
        own = grid[scale.CONFIRM]
        more = quiet(cell, 10 * null_series, seed + 7)
        best = limit(cell, arrays, (own.rate, own.rate_with_candidates), more)
        parts.append(f"### {cell.name}\n\n" + _own_table(own, best, trials))
        for one in peers:
            theirs = peer(one, arrays, null)
            parts.append(_peer_table(one, theirs, grid, trials, tally))
    parts.append(_summary(tally))
    return "\n\n".join(parts)


def _own_table(own: Result, best: Recall, trials: int) -> str:
    rows = []
    for size in SIZES:
        for after in LOOKS:
            hits = own.hits[size, after]
            top = best[size, after]
            ratio = f"{hits / top:.2f}" if top else "-"
            errors, delays = own.errors.get(size, []), own.delays.get(size, [])
            rows.append(
                (
                    str(size),
                    str(after),
                    intervals.with_range(intervals.share(hits, trials)),
                    f"{top / trials:.2f}",
                    ratio,
                    _share_of(errors, 0) if after == max(LOOKS) else "",
                    f"{np.median(delays):g} / {np.mean(delays):.1f}"
                    if delays and after == max(LOOKS)
                    else "",
                )
            )
    header = (
        "step / sd", "after", "recall", "limit", "of the limit", "exact place", "delay med / mean"
    )  # fmt: skip
    rates = (
        f"{1000 * own.rate:.1f} confirmed, {1000 * own.rate_with_candidates:.1f} with candidates"
    )
    return (
        f"{trials} series a row; false alerts per 1,000 revisions replayed: {rates}.\n\n"
        + intervals.table(header, rows)
    )


def _share_of(errors: list[int], most: int) -> str:
    if not errors:
        return "-"
    return f"{sum(error <= most for error in errors) / len(errors):.2f}"


def _peer_table(
    one: Peer, theirs: Result, grid: dict[float, Result], trials: int, tally: dict[str, list[int]]
) -> str:
    rows = []
    for size in SIZES:
        cells_of_row = [str(size)]
        for after in LOOKS:
            fair = matched(grid, theirs.rate, with_candidates=after == 1)
            mine = net(fair.hits, size, after, trials)
            other = net(theirs.hits, size, after, trials)
            tally.setdefault(one.name, []).append(_compare(mine, other, trials))
            mark = ("", " +", " **-**")[_compare(mine, other, trials)]
            cells_of_row.append(f"{other:.2f} / {mine:.2f}{mark}")
        rows.append(cells_of_row)
    header = ["step / sd", *(f"after {after}" for after in LOOKS)]
    return (
        f"**{one.name}** ({1000 * theirs.rate:.1f} false alerts per 1,000): its recall / ours "
        "with no more false alerts, both less luck\n\n" + intervals.table(header, rows)
    )


def _compare(p: float, q: float, trials: int) -> int:
    """1 when ours (p) is ahead beyond the 95 % interval of the difference, -1 behind, else 0."""
    error = 1.96 * sqrt((p * (1 - p) + q * (1 - q)) / trials) or 1.0 / trials
    return 0 if abs(p - q) <= error else (1 if p > q else -1)


def _summary(tally: dict[str, list[int]]) -> str:
    rows = [
        (name, str(marks.count(1)), str(marks.count(0)), str(marks.count(-1)))
        for name, marks in tally.items()
    ]
    return "### Over all cells\n\n" + intervals.table(
        ("peer", "ours ahead", "no difference", "ours behind"), rows
    )
