"""Series with a known truth: what tests, benchmarks and the demonstration measure against.

Everything is drawn from one seed by a NumPy generator: the same seed gives the same numbers.
The model is the one of docs/statistics.md: on the log scale a sample is

    level of the regime + effect of its build + effect of its boot + scatter of the run

so every scatter is a relative standard deviation (0.01 is 1 %).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np

from webapp.stats.arrays import Floats, Indices

HEAVY_TAIL_DF = 3
"""Degrees of freedom of the heavy-tailed cells: the smallest whole number with a variance."""

MODE_GAP = 6.0
"""Distance of the two modes of a bimodal run, in run standard deviations (the archive's
570k/770k series are about that far apart, measured by the scatter inside one mode)."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """The noise of a series, as relative standard deviations.

    `memory` is the AR(1) coefficient of the build effects along the tree (0 is independent).
    Heavy tails are Student's t with 3 degrees of freedom, scaled to the same deviation.
    `two_modes` lets each sample fall into one of two modes, `MODE_GAP` run deviations apart.
    """

    run: float = 0.01
    build: float = 0.01
    boot: float = 0.0
    heavy_tails: bool = False
    two_modes: bool = False
    memory: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """From revision index `at` on, the level is `pct` percent higher (lower when negative)."""

    at: int
    pct: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Between the indices `first` and `last` the level moves by `pct` percent, evenly."""

    first: int
    last: int
    pct: float


@dataclass(frozen=True, slots=True)
class OutlierRevision:
    """One revision alone is `pct` percent off: a bad build or a bad day."""

    at: int
    pct: float


@dataclass(frozen=True, slots=True)
class OutlierSample:
    """One sample of one revision is multiplied by `factor`: a run that went wrong."""

    at: int
    factor: float


@dataclass(frozen=True, slots=True)
class Noise:
    """From revision index `at` on, builds and runs scatter `ratio` times as much."""

    at: int
    ratio: float


Event = Step | Drift | OutlierRevision | OutlierSample | Noise


@dataclass(frozen=True, slots=True)
class Simulated:
    """One series, revisions in order along the tree, and what was planted in it.

    `samples[i]`, `boots[i]` and `builds[i]` belong to `positions[i]`; `events` speak of indices
    before revisions went missing, `truth` holds the positions of the planted steps that were
    measured or, where that revision is missing, of the next measured one.
    """

    positions: tuple[int, ...]
    samples: tuple[tuple[float, ...], ...]
    boots: tuple[tuple[int, ...], ...]
    builds: tuple[str, ...]
    events: tuple[Event, ...]
    truth: tuple[int, ...]


def draw_levels(rng: np.random.Generator, count: int, revisions: int, scatter: Scatter) -> Floats:
    """Return (count, revisions) build effects on the log scale: `count` series at once."""
    shocks = _draw(rng, (count, revisions), scatter.heavy_tails)
    if scatter.memory:
        fresh = sqrt(1.0 - scatter.memory**2)
        for i in range(1, revisions):
            shocks[:, i] = scatter.memory * shocks[:, i - 1] + fresh * shocks[:, i]
    return scatter.build * shocks


def draw_samples(
    rng: np.random.Generator, levels: Floats, samples: int, scatter: Scatter, level: float = 1e6
) -> Floats:
    """Return (*levels.shape, samples) values around the log `levels`, in units of `level`."""
    shape = (*levels.shape, samples)
    logs = levels[..., None] + scatter.run * _draw(rng, shape, scatter.heavy_tails)
    if scatter.boot:
        logs += scatter.boot * _draw(rng, shape, scatter.heavy_tails)
    if scatter.two_modes:
        logs += MODE_GAP * scatter.run * (rng.random(shape) < 0.5)
    return np.asarray(level * np.exp(logs))


def make_series(
    *,
    seed: int,
    revisions: int,
    scatter: Scatter,
    samples: int = 5,
    events: Sequence[Event] = (),
    missing: float = 0.0,
    level: float = 1e6,
) -> Simulated:
    """Draw one series; `missing` is the share of revisions that were never measured.

    Each sample is a boot of its own and each revision one build, as in bench-lab directories.
    Raises ValueError for an event outside the series.
    """
    rng = np.random.default_rng(seed)
    planted = _planted(revisions, events)
    levels = draw_levels(rng, 1, revisions, scatter)[0] + planted
    values = draw_samples(rng, levels, samples, scatter, level)
    for event in events:
        if isinstance(event, Noise):
            middle = level * np.exp(planted[event.at :, None])
            values[event.at :] = middle * (values[event.at :] / middle) ** event.ratio
    for event in events:
        if isinstance(event, OutlierSample):
            values[event.at, 0] *= event.factor
    kept = np.flatnonzero(rng.random(revisions) >= missing)
    return Simulated(
        positions=tuple(int(i) for i in kept),
        samples=tuple(tuple(float(v) for v in values[i]) for i in kept),
        boots=tuple(tuple(range(samples)) for _ in kept),
        builds=tuple(f"build-{i}" for i in kept),
        events=tuple(events),
        truth=_true_positions(kept, events),
    )


def _draw(rng: np.random.Generator, shape: tuple[int, ...], heavy_tails: bool) -> Floats:
    if not heavy_tails:
        return rng.standard_normal(shape)
    unit = sqrt(HEAVY_TAIL_DF / (HEAVY_TAIL_DF - 2))
    return rng.standard_t(HEAVY_TAIL_DF, shape) / unit


def _planted(revisions: int, events: Sequence[Event]) -> Floats:
    """The log level that the events make, one value per revision."""
    levels = np.zeros(revisions)
    index = np.arange(revisions)
    for event in events:
        _check(event, revisions)
        match event:
            case Step(at, pct):
                levels[at:] += log1p(pct / 100)
            case Drift(first, last, pct):
                levels += log1p(pct / 100) * np.clip((index - first) / (last - first), 0, 1)
            case OutlierRevision(at, pct):
                levels[at] += log1p(pct / 100)
            case OutlierSample() | Noise():
                pass
    return levels


def _check(event: Event, revisions: int) -> None:
    positions = (event.first, event.last) if isinstance(event, Drift) else (event.at,)
    if not all(0 <= position < revisions for position in positions):
        raise ValueError(f"{event} lies outside a series of {revisions} revisions")
    if isinstance(event, Drift) and event.first >= event.last:
        raise ValueError(f"{event} ends before it begins")


def _true_positions(kept: Indices, events: Sequence[Event]) -> tuple[int, ...]:
    steps = [event.at for event in events if isinstance(event, Step)]
    positions = np.searchsorted(kept, steps)
    return tuple(int(kept[i]) for i in positions if i < kept.size)
