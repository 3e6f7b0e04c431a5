"""One option on several machines: how often they are called different where its effect is the same.

Each machine has noise of its own, from a quarter to four times 1 %. Beside the test stands what
readers do without it: to take *slower* on one machine beside *cannot tell* on another for a
difference, and Cochran's Q, which takes standard errors for known.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from webapp.stats.compare import (
    VERDICTS,
    Across,
    Evidence,
    Look,
    Samples,
    Summaries,
    Verdict,
    across_machines,
    compare_many,
    estimate_of,
    summarize,
)

SCATTER, RATIO = 0.01, 4.0
"""Of a unit, and by how much a machine's may be more or less."""

EFFECT = -0.04
UNITS = (2, 3, 5, 10)
MACHINES = (2, 5, 10)
MODES = 20
OTHER = -0.12
"""The effect on one machine of five, where it depends on the machine."""

LEVEL = 0.05
NOT_WORSE_THAN = at_most(5.0)

Rng = np.random.Generator
Values = NDArray[np.float64]


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the shares of worlds without and with an interaction in which one is reported."""
    rng = np.random.default_rng(seed)
    return [
        *(
            one
            for units in UNITS
            for count in MACHINES
            for one in _alike(units, count, trials, rng)
        ),
        _gated(trials, rng),
        *_depending(trials, rng),
    ]


def _alike(units: int, count: int, trials: int, rng: Rng) -> Iterator[Figure]:
    """The same effect everywhere."""
    worlds = [_judged([EFFECT] * count, units, rng) for _ in range(trials)]
    name = f"the same on {count} machines, {units} boots a side"
    differ = sum(across.differs for across, _ in worlds)
    yield Figure(f"{name}: reported to differ", percent(differ, trials), NOT_WORSE_THAN)
    if units == UNITS[1]:
        by_q = sum(_by_cochran(cells) for _, cells in worlds)
        yield Figure(f"{name}: Cochran's Q", percent(by_q, trials))
        beside = sum(_is_beside(cells) for _, cells in worlds)
        yield Figure(f"{name}: proven here, cannot tell there", percent(beside, trials))


def _gated(trials: int, rng: Rng) -> Figure:
    """Many modes at once, the same effect in each and everywhere."""
    reported = 0
    for _ in range(max(trials // MODES, 1) * 4):
        modes = [_judged([EFFECT] * 5, 5, rng)[1] for _ in range(MODES)]
        reported += any(one.differs for one in across_machines(modes))
    name = f"{MODES} modes, the same on 5 machines: any reported to differ"
    return Figure(name, percent(reported, max(trials // MODES, 1) * 4), NOT_WORSE_THAN)


def _depending(trials: int, rng: Rng) -> Iterator[Figure]:
    for units in UNITS[1:]:
        effects = [EFFECT] * 4 + [OTHER]
        seen = sum(_judged(effects, units, rng)[0].differs for _ in range(trials))
        goal = at_least(80.0) if units >= 5 else None
        name = f"−12 % on one of 5 machines, −4 % on four, {units} boots a side: reported to differ"
        yield Figure(name, percent(seen, trials), goal)


def _judged(effects: list[float], units: int, rng: Rng) -> tuple[Across, list[Evidence]]:
    """What one mode shows, and what is known of each machine."""
    scatter = SCATTER * RATIO ** rng.uniform(-1, 1, (len(effects), 1))
    a = np.exp(rng.normal(0, scatter, (len(effects), units)))
    b = np.exp(rng.normal(0, scatter, (len(effects), units))) * (1 + np.array([effects]).T)
    found = compare_many(_summaries(a), _summaries(b), better="more")
    cells = [
        Evidence(Look(VERDICTS[code], float(p)), estimate_of(*map(float, row)), builds=frozenset())
        for code, p, *row in zip(
            found.verdict, found.p, found.percent, found.low, found.high, found.df, strict=True
        )
    ]
    (across,) = across_machines([cells])
    return across, cells


def _summaries(rows: Values) -> Summaries:
    return Summaries([summarize(Samples(row)) for row in rows.tolist()])


def _by_cochran(cells: list[Evidence]) -> bool:
    estimates = [one.estimate for one in cells if one.estimate is not None]
    changes = np.array([one.change for one in estimates])
    weights = np.array([one.error for one in estimates]) ** -2
    spread = (weights * (changes - (weights * changes).sum() / weights.sum()) ** 2).sum()
    return bool(stats.chi2.sf(spread, len(changes) - 1) <= LEVEL)


def _is_beside(cells: list[Evidence]) -> bool:
    return {Verdict.CANNOT_TELL, Verdict.WORSE} <= {one.look.verdict for one in cells}
