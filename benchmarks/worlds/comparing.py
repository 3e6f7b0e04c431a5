"""Two sets compared, and many pairs at one commit: how often equal ones are called different.

What is wrong here is what people see first: the cells of a commit, the rows of a comparison, and
the headline over all of them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.cells import SAMPLES, series_of
from benchmarks.online import advance
from benchmarks.worlds.figures import Figure, at_most, percent
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.compare import (
    VERDICTS,
    BuildNoise,
    Comparison,
    Comparisons,
    Evidence,
    Look,
    Samples,
    Summaries,
    Summary,
    Verdict,
    across_machines,
    compare,
    compare_many,
    estimate_of,
    summarize,
)
from webapp.stats.simulate import Scatter, draw_levels, draw_samples
from webapp.stats.single_build import Known, NoisePrior, learn
from webapp.stats.single_build.chance import LEAST_SERIES

RUN = 0.01
BOOTS, RUNS_OF_A_BOOT = 2, 5
BOOT_RATIOS = (1, 3)
BUILD_RATIOS = {1: None, 2: at_most(7.0), 4: at_most(10.0)}
"""Builds as a multiple of runs, and the goal of what is called different after `HISTORY`."""

HISTORY = 8
KNOWN = 40
"""Revisions of a series whose noise is well known: those of the commits below."""

HISTORIES = 400
"""Series whose noise is measured once, to be drawn from."""

SERIES = (3, 9, 30, 100)
SPREAD = (1, 3, 9)
"""Machines that measured the series of a commit, each its share of the modes."""

CHANGED = 3
CHANGE_SD = 4.0
"""Of one revision: runs and builds scatter by 1 % each, five runs a revision."""

BUILDS = (0.018, 0.03, 0.05)
"""What builds scatter by where single ones are compared: the median, and the noisiest, of a lab."""

MACHINES = 100
"""Series whose noise is measured once, for the machines whose own is known."""

AT_ONCE = 20
"""Commits that are compared in one call."""

CHANCE = 0.05
"""Of a difference as large, above which a page does not colour it."""

COUNTS = (0.5, 2.0, 10.0)
"""Events a run."""

BURSTS = (1.0, 4.0)
"""Variance of counts as a multiple of their mean: Poisson's, and bursts."""

NOT_WORSE_THAN = at_most(5.0)

BEFORE = {
    "2 boots × 5 runs, boots 1 × runs: commit page calls equal ones different": "32",
    "2 boots × 5 runs, boots 3 × runs: commit page calls equal ones different": "47 to 50",
    "2 boots × 5 runs, boots 1 × runs: compare page calls equal ones different": "2.5",
    "history of 8, builds 2 ×: equal ones called different": "14",
    "history of 8, builds 4 ×: equal ones called different": "29",
    "3 series without change: headline states regression or improvement": "13",
    "9 series without change: headline states regression or improvement": "36",
    "30 series without change: headline states regression or improvement": "76",
    "100 series without change: headline states regression or improvement": "99",
    "counts, variance 1 × the mean, 0.5 a run: equal ones called different": "1.9",
    "counts, variance 1 × the mean, 2 a run: equal ones called different": "3.9",
    "counts, variance 1 × the mean, 10 a run: equal ones called different": "4.4",
    "counts, variance 4 × the mean, 0.5 a run: equal ones called different": "0.3",
    "counts, variance 4 × the mean, 2 a run: equal ones called different": "2.4",
    "counts, variance 4 × the mean, 10 a run: equal ones called different": "4.6",
}
"""What each figure was while runs were units, guesses were counted, headlines had no gate and
counts no exact test."""

Rng = np.random.Generator
Values = NDArray[np.float64]


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the figures of pairs, of histories, one build a side, headlines and counts."""
    rng = np.random.default_rng(seed)
    return [
        *(one for ratio in BOOT_RATIOS for one in _of_boots(ratio, trials, rng)),
        *(one for ratio in BUILD_RATIOS for one in _of_histories(ratio, trials, rng)),
        *(one for build in BUILDS for one in _of_one_build(build, trials, rng)),
        *_of_headlines(trials, rng),
        *(one for burst in BURSTS for one in _of_counts(burst, trials, rng)),
    ]


def _of_boots(ratio: int, trials: int, rng: Rng) -> Iterator[Figure]:
    """Sides of two boots of five runs; a commit page reads points, a compare page samples."""
    world = f"{BOOTS} boots × {RUNS_OF_A_BOOT} runs, boots {ratio} × runs"
    pairs = [(_boots(ratio, rng), _boots(ratio, rng)) for _ in range(trials)]
    by_samples = [compare(*pair) for pair in pairs]
    by_points = _as_stored(pairs)
    on_commit, on_compare = int((by_points.proven != 0).sum()), sum(map(_differs, by_samples))
    half = float(np.median([_half_width(one) for one in by_samples]))
    moved = ((a, _times(b, float(np.exp(3 * half)))) for a, b in pairs)
    seen = sum(compare(*pair).change.proven > 0 for pair in moved)
    for page, hits in (("commit", on_commit), ("compare", on_compare)):
        name = f"{world}: {page} page calls equal ones different"
        yield _share(name, hits, trials, goal=True)
    yield _share(f"{world}: three half-widths ({100 * 3 * half:.0f} %) are seen", seen, trials)


def _of_histories(ratio: int, trials: int, rng: Rng) -> Iterator[Figure]:
    """The newest pair of a series of eight revisions, one build each."""
    found = []
    for _ in range(trials):
        rows = _revisions(ratio, HISTORY, rng)
        noise = _noise(rows)
        found.append(
            compare(*map(Samples, rows[-2:].tolist()), build_noise=noise, same_build=False)
        )
    name = f"history of {HISTORY}, builds {ratio} ×"
    hits = sum(map(_differs, found))
    goal = BUILD_RATIOS[ratio]
    called = f"{name}: equal ones called different"
    yield Figure(called, percent(hits, trials), goal, BEFORE.get(called, ""))
    yield Figure(f"{name}: median width of the interval, %", median([_width(c) for c in found]))


def _of_one_build(build: float, trials: int, rng: Rng) -> Iterator[Figure]:
    """Two revisions of one build each without a change, of a machine of unknown noise, and of one
    of which `LEAST_SERIES` series know theirs; the headline of a commit of several such pairs.
    """
    noises = [noise for _ in range(MACHINES) if (noise := _known(build, rng))]
    for known in (False, True):
        machine = f"{LEAST_SERIES} series of the machine known" if known else "machine unknown"
        name = f"one build a side, builds {100 * build:g} %, {machine}"
        beliefs = [_belief(noises, rng) if known else NoisePrior() for _ in range(trials)]
        found = _single_pairs(build, beliefs, rng)
        changed = found.proven != 0
        goal = at_most(2.0) if build <= BUILDS[0] else NOT_WORSE_THAN if known else None
        coloured = percent(int((changed & (found.p <= CHANCE)).sum()), trials)
        yield Figure(f"{name}: coloured", coloured, goal)
        yield _share(f"{name}: a word without colour or with", int(changed.sum()), trials)
        yield _share(f"{name}: builds differ", int(found.builds_differ.sum()), trials)
        for series, machines in _spreads():
            of_machines = [
                [
                    one,
                    *(_belief(noises, rng) if known else NoisePrior() for _ in range(machines - 1)),
                ]
                for one in beliefs
            ]
            reported = _single_headlines(series, build, of_machines, rng)
            claims = f"{name}: headline of {series} series{_on(machines)} claims something"
            yield _share(claims, reported, len(beliefs), goal=True)


def _single_pairs(build: float, beliefs: Sequence[NoisePrior], rng: Rng) -> Comparisons:
    """A pair for each belief."""
    scatter = Scatter(run=RUN, build=build)
    drawn = draw_samples(rng, draw_levels(rng, len(beliefs), 2, scatter), SAMPLES, scatter)
    sides = (
        Summaries([summarize(Samples(row)) for row in side.tolist()])
        for side in np.asarray(drawn).transpose(1, 0, 2)
    )
    return compare_many(*sides, same_build=[False] * len(beliefs), beliefs=beliefs)


def _spreads() -> Iterator[tuple[int, int]]:
    """Series of a commit, and the machines that measured them."""
    return ((series, machines) for series in SERIES for machines in SPREAD if machines <= series)


def _on(machines: int) -> str:
    return f", {machines} machines" if machines > 1 else ""


def _single_headlines(
    series: int, build: float, beliefs: Sequence[Sequence[NoisePrior]], rng: Rng
) -> int:
    """How many commits of ``series`` pairs are reported to have changed; ``beliefs`` has for each
    commit those of its machines.
    """
    reported = 0
    for first in range(0, len(beliefs), AT_ONCE):
        commits = beliefs[first : first + AT_ONCE]
        rows = [its[at % len(its)] for its in commits for at in range(series)]
        found = _single_pairs(build, rows, rng)
        reported += sum(map(bool, _claims(found, series, len(commits[0]))))
    return reported


def _claims(found: Comparisons, series: int, machines: int = 1) -> list[set[Verdict]]:
    """Which of better and worse the headline of each commit of ``series`` rows claims: rows that
    follow one another are of one mode, up to one of each of the ``machines``, with builds of their
    own.
    """
    columns = (found.percent, found.low, found.high, found.df, found.p)
    numbers = (column.tolist() for column in columns)
    rows = zip(found.verdict, found.one_build.tolist(), *numbers, strict=True)
    cells = [
        Evidence(
            look=Look(VERDICTS[verdict], p),
            estimate=estimate_of(percent, low, high, df),
            builds=frozenset({str(row)}),
            from_history=not one_build,
            is_open=one_build,
        )
        for row, (verdict, one_build, percent, low, high, df, p) in enumerate(rows)
    ]
    commits = (cells[at : at + series] for at in range(0, len(cells), series))
    return [
        {one for its in across_machines(_modes(commit, machines)) for one in its.named}
        for commit in commits
    ]


def _modes(commit: Sequence[Evidence], machines: int) -> list[Sequence[Evidence]]:
    """The rows of each mode; the last may be of fewer machines."""
    return [commit[at : at + machines] for at in range(0, len(commit), machines)]


def _known(build: float, rng: Rng) -> Known | None:
    """What a series of `KNOWN` revisions shows of its builds."""
    scatter = Scatter(run=RUN, build=build)
    rows = np.asarray(draw_samples(rng, draw_levels(rng, 1, KNOWN, scatter)[0], SAMPLES, scatter))
    noise = present(advance(OnlineState(), series_of(rows)), "more").noise
    if noise is None or noise.build_pct is None:
        return None
    return Known(noise.build_pct, noise.freedom)


def _belief(noises: Sequence[Known], rng: Rng) -> NoisePrior:
    return learn([noises[at] for at in rng.integers(0, len(noises), LEAST_SERIES)])


def _of_headlines(trials: int, rng: Rng) -> Iterator[Figure]:
    """Commits whose cells are one build against one, the noise of builds known from a history."""
    noises = [noise for _ in range(HISTORIES) if (noise := _noise(_revisions(1, KNOWN, rng)))]
    sd = RUN * np.sqrt(1 + 1 / SAMPLES)
    for series, machines in _spreads():
        reported = _headlines((series, machines), 0.0, noises, trials, rng)
        name = f"{series} series{_on(machines)} without change"
        name += ": headline states regression or improvement"
        yield _share(name, sum(map(bool, reported)), trials, goal=True)
    for series in SERIES[1:]:
        reported = _headlines((series, 1), -CHANGE_SD * sd, noises, trials, rng)
        name = f"{series} series, {CHANGED} lose {CHANGE_SD:g} sd: reported as a regression"
        yield _share(name, sum(Verdict.WORSE in one for one in reported), trials)


def _of_counts(burst: float, trials: int, rng: Rng) -> Iterator[Figure]:
    """Five runs a side that count a few events, such as drops, each side at its own rate."""
    name = f"counts, variance {burst:g} × the mean"
    for mean in COUNTS:
        same, more = _counted(burst, mean, 1, trials, rng), _counted(burst, mean, 4, trials, rng)
        at = f"{name}, {mean:g} a run"
        yield _share(f"{at}: equal ones called different", same, trials, goal=True)
        yield _share(f"{at}: four times as many are seen", more, trials)


def _counted(burst: float, mean: float, times: int, trials: int, rng: Rng) -> int:
    """How many of ``trials`` pairs, the second at ``times`` the rate, are called different."""
    rates = np.array([mean, times * mean])[:, None, None]
    if burst > 1:  # a gamma mixture of Poisson's has the variance mean · burst
        rates = rng.gamma(rates / (burst - 1), burst - 1, (2, trials, SAMPLES))
    drawn = rng.poisson(rates, (2, trials, SAMPLES)).astype(float)
    sides = [Summaries([summarize(Samples(row)) for row in side]) for side in drawn.tolist()]
    return int((compare_many(*sides).proven != 0).sum())


def _headlines(
    spread: tuple[int, int],
    change: float,
    noises: Sequence[BuildNoise],
    trials: int,
    rng: Rng,
) -> list[set[Verdict]]:
    """What each headline claims of better and worse, where `CHANGED` series of a commit change;
    ``spread`` is one of `_spreads`.
    """
    series, machines = spread
    shifts = np.tile(np.arange(series) < CHANGED, trials) * change
    rows = trials * series
    pairs = (
        np.exp(rng.normal(0, RUN, (2, rows, 1)) + rng.normal(0, RUN, (2, rows, SAMPLES)))
        * np.exp(np.stack([np.zeros(rows), shifts]))[:, :, None]
    )
    found = compare_many(
        *(Summaries([summarize(Samples(row)) for row in side.tolist()]) for side in pairs),
        build_noise=[noises[i] for i in rng.integers(0, len(noises), rows)],
        same_build=[False] * rows,
    )
    return _claims(found, series, machines)


def _boots(ratio: int, rng: Rng) -> Samples:
    boots = rng.normal(0, ratio * RUN, (BOOTS, 1))
    values = np.exp(boots + rng.normal(0, RUN, (BOOTS, RUNS_OF_A_BOOT)))
    return Samples(values.ravel().tolist(), boots=np.repeat(range(BOOTS), RUNS_OF_A_BOOT).tolist())


def _times(samples: Samples, factor: float) -> Samples:
    return Samples([value * factor for value in samples.values], boots=samples.boots)


def _revisions(ratio: int, count: int, rng: Rng) -> Values:
    scatter = Scatter(run=RUN, build=ratio * RUN)
    return np.asarray(draw_samples(rng, draw_levels(rng, 1, count, scatter)[0], SAMPLES, scatter))


def _noise(rows: Values) -> BuildNoise | None:
    """What a comparison of the series' points counts between builds: what was measured of it."""
    noise = present(advance(OnlineState(), series_of(rows)), "more").noise
    if noise is None or noise.measured_build_pct is None:
        return None
    return BuildNoise(noise.measured_build_pct, noise.measured_freedom)


def _as_stored(pairs: Sequence[tuple[Samples, Samples]]) -> Comparisons:
    a, b = zip(*pairs, strict=True)
    return compare_many(*(Summaries([_stored(one) for one in side]) for side in (a, b)))


def _stored(samples: Samples) -> Summary:
    return Summary.from_data(summarize(samples).to_data())


def _differs(one: Comparison) -> bool:
    return one.change.proven != 0 and not one.one_build


def _width(one: Comparison) -> float:
    low, high = one.change.low, one.change.high
    return np.nan if low is None or high is None else high - low


def _half_width(one: Comparison) -> float:
    """On logarithms."""
    low, high = one.change.low, one.change.high
    if low is None or high is None:
        return 0.0
    return float(np.log1p(high / 100) - np.log1p(low / 100)) / 2


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """Return it with its 95 % interval by order statistics."""
    known = sorted(value for value in values if np.isfinite(value))
    low, high = (int(stats.binom.ppf(q, len(known), 0.5)) for q in (0.025, 0.975))
    return float(np.median(known)), known[low], known[min(high, len(known) - 1)]


def _share(name: str, hits: int, trials: int, *, goal: bool = False) -> Figure:
    asked = NOT_WORSE_THAN if goal else None
    return Figure(name, percent(hits, trials), asked, BEFORE.get(name, ""))
