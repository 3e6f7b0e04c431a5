"""Simulated labs drawn from what is believed: for forecasts.

Given the commits that did it, everything else is drawn from its posterior and not put at its mean:
the noise (a node), what the machine does (a state) and what it will do, the sizes, and then the
level, the effects of builds and the machine's shift, which are jointly normal once these are known.

Several commits may have made what was alerted as one step. How likely that is follows from
`posterior.TWO_STEPS_PRIOR`, and what boots make of it; how many they are and how they share the
loss nothing shows beforehand (`Culprits`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from webapp.stats.arrays import Floats, Indices
from webapp.stats.bisection.hypotheses import EFFECT_SPREAD, Joint, lab_step_spread, weigh
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.plan import Boot, Evidence, Plan
from webapp.stats.bisection.playing import LabChanges, SimulatedLab
from webapp.stats.bisection.posterior import SHARE, TWO_STEPS_PRIOR, Posterior
from webapp.stats.bisection.tally import SHARES, SHARES_PRIOR, Tally, outlier_reach, tally
from webapp.stats.bisection.timeline import (
    GAP_BOOTS,
    MOST_POSITIONS,
    STATES,
    STEP_WEIGHT,
    LabKind,
    Timeline,
    timeline,
)

FAR_OFF = 2.0
"""How far a boot that goes wrong lies, in the distance from which it is set aside. Its size hardly
matters: it is set aside or brings another boot of its build."""

THREE = 0.5
"""Chance that several are three and not two. A rough guess: nothing is known of it."""

LEAST_SHARE = SHARE / 2
"""Of the loss, for a commit to share it: less is nearer to no second change than to the one that is
looked for before a commit is named."""

OPPOSITE = 1 / 3
"""Share of draws, once boots are evidence, in which one commit undoes a part of the other's loss.
Beforehand it is left out: it makes one step larger than alerted, which is found soon."""

DRAWS = 4000
"""Sets of commits that are weighed against the boots, of which forecasts draw theirs."""

Truth = tuple[int, int, dict[int, float]]
"""The node of the noise, the state of the machine, and the steps at their candidates."""


@dataclass(frozen=True, eq=False)
class Believed:
    """One series and the evidence of its own boots; that of companions about the machine is left
    out.
    """

    plan: Plan
    evidence: Evidence
    data: Tally
    line: Timeline

    @classmethod
    def of(cls, plan: Plan, evidence: Evidence) -> "Believed":
        """Raises what `tally` raises."""
        data = tally(plan, evidence)
        return cls(plan, evidence, data, timeline(plan, data).alone())

    @property
    def begin(self) -> int:
        """The number of the next boot of its machine."""
        boots = np.flatnonzero(self.line.fresh)
        return int(self.line.time[boots].max()) + 1 if len(boots) else 0

    @cached_property
    def joint(self) -> Joint | None:
        """The hypotheses of one step; None while nothing was measured."""
        return weigh(self.plan, self.data, self.line) if len(self.line.value) else None

    def draw_one(self, rng: np.random.Generator, culprit: int | None) -> Truth:
        """The node of the noise, the state of the machine and the step at the culprit, if any."""
        gap = -1 if culprit is None else int(np.searchsorted(self.line.slots, culprit))
        if self.joint is None:
            node = int(rng.choice(len(self.data.nodes.weight), p=self.data.nodes.weight))
            state, fit = self._state_before(rng), None
        else:
            log_chance = self.joint.log[:, gap]
            node, state = divmod(_chosen(rng, log_chance.ravel()), log_chance.shape[1])
            fit = self.joint
        if culprit is None:
            return node, state, {}
        return node, state, {culprit: self._size(rng, fit, node, gap, state)}

    def _size(
        self, rng: np.random.Generator, fit: Joint | None, node: int, gap: int, state: int
    ) -> float:
        mean, variance = self.plan.effect, (EFFECT_SPREAD * self.plan.effect) ** 2
        if fit is not None:
            mean, variance = fit.mean[node, gap, state], fit.variance[node, gap, state]
        return float(mean + sqrt(variance) * rng.standard_normal())

    def _state_before(self, rng: np.random.Generator) -> int:
        """Of the machine, before any boot of the bisect."""
        weights = np.array([state.weight for state in STATES])
        return int(rng.choice(len(STATES), p=weights / weights.sum()))

    def log_steady(self, indices: Indices, sizes: Floats) -> Floats:
        """Log evidence (S, Q) of Q sets of steps, both (Q, k), on a machine that stayed as it was.

        In a place beyond the candidates there is no step.
        """
        nodes = np.log(self.data.nodes.weight)[:, None]
        if self.joint is None:
            return np.asarray(nodes + np.zeros((1, len(indices))))
        made = self.joint.steady
        cuts = self.line.slots[1:]
        # What each cut between measured slots has of the steps: those in the gap before it.
        at = np.searchsorted(self.line.slots, indices) - 1
        steps = np.zeros((len(indices), len(cuts)))
        for column in range(indices.shape[1]):
            inner = (at[:, column] >= 0) & (at[:, column] < len(cuts))
            np.add.at(steps, (np.flatnonzero(inner), at[inner, column]), sizes[inner, column])
        gram = np.einsum("spq,np,nq->sn", made.square, steps, steps, optimize=True)
        return np.asarray(nodes + made.base[:, None] + made.moment @ steps.T - 0.5 * gram)

    def draw_several(self, rng: np.random.Generator, indices: Indices, sizes: Floats) -> Truth:
        """The same for several steps, (k,) each: the model has them on a steady machine."""
        log_nodes = self.log_steady(indices[None], sizes[None])[:, 0]
        state = 0 if self.line.fresh.any() else self._state_before(rng)
        steps = dict(zip(indices.tolist(), sizes.tolist(), strict=True))
        steps = {place: size for place, size in steps.items() if size}
        return _chosen(rng, log_nodes), state, steps

    def lab(
        self, rng: np.random.Generator, truth: Truth, path: Floats | None = None
    ) -> tuple[SimulatedLab, Floats]:
        """A lab of what was drawn, and how its machine moves from now on: on ``path`` if given."""
        node, state, steps = truth
        after = np.zeros(self.plan.bad + 1)
        for culprit, size in steps.items():
            after[culprit:] += size
        level, shift, builds, slope = _draw_rest(self, rng, node, state, after)
        if path is None:
            path = self._path(rng, node, state, slope)
        noise = self.plan.noise
        scale = sqrt(float(self.data.nodes.within[node]))
        true = Noise(
            noise.run * scale, noise.boot * scale, sqrt(float(self.data.nodes.build[node]))
        )
        share, off = self._flaky(rng)
        changes = LabChanges(
            flaky=share, flaky_effect=off, path=tuple((shift + path).tolist()), path_at=self.begin
        )
        levels = self.line.origin + level + after
        return SimulatedLab(rng, levels, true, builds, changes, self.begin), path

    def _path(self, rng: np.random.Generator, node: int, state: int, slope: float) -> Floats:
        """How far the machine moves before each boot to come, log percent: on with its ``slope`` or
        its walk; one that stayed as it was may step at any of them.
        """
        steps = np.zeros(self.plan.budget.boots + 1)
        kind, walk = (STATES[state].kind if state < len(STATES) else LabKind.STEP), 0.0
        if kind is LabKind.WALK:
            variance = self.plan.noise.boot_variance(self.plan.runs) * self.data.nodes.within[node]
            walk = STATES[state].rate * sqrt(variance)
        if kind is LabKind.STEADY:
            left = STEP_WEIGHT * max(1 - self.begin / MOST_POSITIONS, 0.0)
            if rng.random() < left / (STATES[0].weight + left):
                step = lab_step_spread(self.plan) * rng.standard_normal()
                steps[int(rng.integers(self.begin, MOST_POSITIONS)) - self.begin :] = step
        walked = np.cumsum(walk * rng.standard_normal(len(steps)))
        return np.asarray(slope * np.arange(len(steps)) + walked + steps)

    def _flaky(self, rng: np.random.Generator) -> tuple[float, float]:
        """The share of boots that go wrong, after those seen, and by how much."""
        odd, boots = len(self.data.odd), len(self.evidence.boots)
        belief = SHARES_PRIOR * SHARES**odd * (1 - SHARES) ** (boots - odd)
        share = float(rng.choice(SHARES, p=belief / belief.sum()))
        far = abs(self.plan.effect) + FAR_OFF * outlier_reach(self.plan, self.plan.runs)
        return share, float(rng.choice([-far, far]))


@dataclass(frozen=True, slots=True, eq=False)
class Culprits:
    """Q sets of up to three commits: ``indices`` (Q, 3), behind the candidates where there are two;
    ``sizes``: for each series (Q, 3) in log percent; ``chance`` (Q,) by the prior and all boots.
    """

    indices: Indices
    sizes: tuple[Floats, ...]
    chance: Floats

    @classmethod
    def of(
        cls,
        series: Sequence[Believed],
        now: Posterior,
        moves: Sequence[float],
        rng: np.random.Generator,
    ) -> "Culprits | None":
        """``moves``: the chance, before any boot, that the commits move each series. Those that
        move none are left out. None with one candidate only.
        """
        prior = series[0].data.prior
        if int((prior > 0).sum()) < 2:
            return None
        indices, log_chance = _indices(prior, now, rng)
        shares = _shares(indices, len(prior), any(one.begin for one in series), rng)
        sizes = []
        moved = rng.random((len(series), DRAWS)) < np.array(moves)[:, None]
        log_chance = np.where(moved.any(axis=0), log_chance, -np.inf)
        for one, its in zip(series, moved, strict=True):
            spread = EFFECT_SPREAD * rng.standard_normal(DRAWS)
            total = one.plan.effect * (1 + spread) * its
            sizes.append(total[:, None] * shares)
            log_chance = log_chance + np.logaddexp.reduce(
                one.log_steady(indices, sizes[-1]), axis=0
            )
        chance = np.exp(log_chance - log_chance.max())
        return cls(indices, tuple(sizes), chance / chance.sum())

    def draw(self, rng: np.random.Generator) -> tuple[Indices, tuple[Floats, ...]]:
        """The indices of one set, and for each series the sizes."""
        number = int(rng.choice(len(self.chance), p=self.chance))
        return self.indices[number], tuple(sizes[number] for sizes in self.sizes)


def chance_of_several(now: Posterior, prior: Floats) -> float:
    """``now.two``, and that another one lies in the gap of the first, where no boot separates them
    apart so far. ``prior`` (N,) of the candidates, of sum 1.
    """
    gaps = np.bincount(now.gap_of, now.candidates)
    near = float(gaps @ np.bincount(now.gap_of, prior))
    return now.two + (1 - now.two) * TWO_STEPS_PRIOR * near


def _draw_rest(
    seen: Believed, rng: np.random.Generator, node: int, state: int, after: Floats
) -> tuple[float, float, dict[tuple[int, str], float], float]:
    """The level from the line's origin, the machine's shift at the next boot, the effects of builds
    by revision and build, and the machine's slope: one normal vector.

    ``after`` (N + 1,) is what the steps add to each revision.
    """
    line, nodes = seen.line, seen.data.nodes
    lab, covariance, last, slope_at = _machine(seen, node, state)
    numbers, spread = np.unique(line.build), float(nodes.build[node])
    numbers = numbers if spread else numbers[:0]
    builds = (line.build[:, None] == numbers[None, :]).astype(np.float64)
    columns, machine = np.hstack([np.ones((len(line.value), 1)), lab, builds]), lab.shape[1]
    precision = np.zeros((columns.shape[1],) * 2)
    precision[1 : 1 + machine, 1 : 1 + machine] = np.linalg.inv(covariance)
    precision[1 + machine :, 1 + machine :] = np.eye(len(numbers)) / (spread or 1.0)
    z = rng.standard_normal(len(precision))
    if len(line.value):
        weights = 1 / (line.variance * float(nodes.within[node]))
        inner = columns.T @ (weights[:, None] * columns) + precision
        moment = columns.T @ (weights * (line.value - after[line.slot]))
        root = np.linalg.cholesky(inner)
        drawn = np.linalg.solve(inner, moment) + np.linalg.solve(root.T, z)
    else:
        below = np.linalg.inv(np.linalg.cholesky(precision[1:, 1:])).T @ z[1:]
        drawn = np.append(0.0, below)
    moved = drawn[1 : 1 + machine]
    slope = float(moved[slope_at]) if slope_at >= 0 else 0.0
    effects = _named(seen.data.counted, drawn[1 + machine :])
    return float(drawn[0]), float(last @ moved), effects, slope


def _named(boots: Sequence[Boot], effects: Floats) -> dict[tuple[int, str], float]:
    """By revision and build; lines number builds in the order of the counted ``boots``."""
    if not len(effects):
        return {}
    numbers = {build: at for at, build in enumerate(dict.fromkeys(one.of_build for one in boots))}
    return {(one.index, one.build): float(effects[numbers[one.of_build]]) for one in boots}


def _machine(seen: Believed, node: int, state: int) -> tuple[Floats, Floats, Floats, int]:
    """Columns of the machine's shift, their prior covariance, their values at the next boot, and
    which of them is the slope (−1: none).
    """
    line, fresh = seen.line, seen.line.fresh.astype(np.float64)
    if state >= len(STATES):
        column = line.lab_steps[:, state - len(STATES)]
        return column[:, None], np.eye(1) * lab_step_spread(seen.plan) ** 2, np.ones(1), -1
    kind = STATES[state].kind
    variance = seen.plan.noise.boot_variance(seen.plan.runs) * seen.data.nodes.within[node]
    unit = variance * STATES[state].rate ** 2
    if kind is LabKind.TREND:
        columns = np.column_stack([fresh, fresh * line.time])
        return columns, unit * np.diag([GAP_BOOTS, 1.0]), np.array([1.0, seen.begin]), 1
    if kind is LabKind.WALK:
        rows = np.flatnonzero(fresh)
        times, place = np.unique(line.time[rows], return_inverse=True)
        times = times if len(times) else np.zeros(1)
        columns = np.zeros((len(line.value), len(times)))
        columns[rows, place] = 1.0
        covariance = unit * (np.minimum(times[:, None], times[None, :]) + GAP_BOOTS)
        return columns, covariance, np.eye(len(times))[-1], -1
    return np.zeros((len(line.value), 0)), np.zeros((0, 0)), np.zeros(0), -1


def _chosen(rng: np.random.Generator, log_chance: Floats) -> int:
    """One of these, by logarithms of their chances."""
    chance = np.exp(log_chance - log_chance.max())
    return int(rng.choice(len(chance), p=chance / chance.sum()))


def _indices(prior: Floats, now: Posterior, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Commits by the prior, and the logarithm of what their draws are to be weighed with.

    Half of the first ones are drawn where one commit would be looked for, so that boots agree with
    more of the draws.
    """
    lead = now.candidates + np.finfo(np.float64).tiny
    drawn_from = (prior + lead / lead.sum()) / 2
    first = rng.choice(len(prior), DRAWS, p=drawn_from / drawn_from.sum())
    others = rng.choice(len(prior), (DRAWS, 2), p=prior)
    third = np.where(rng.random(DRAWS) < THREE, others[:, 1], len(prior))
    indices = np.column_stack([first, others[:, 0], third])
    a, b, c = indices.T
    with np.errstate(divide="ignore"):
        log_chance = np.log(prior[first] / drawn_from[first])
    same = (a == b) | (a == c) | (b == c)
    return indices + 1, np.where(same, -np.inf, log_chance)


def _shares(indices: Indices, commits: int, measured: bool, rng: np.random.Generator) -> Floats:
    """What each of a set has of the whole loss, (DRAWS, 3): any split is as likely as another."""
    three = indices[:, 2] <= commits
    rest = 1 - 3 * LEAST_SHARE
    shares = LEAST_SHARE + rest * rng.dirichlet(np.ones(3), DRAWS)
    first = LEAST_SHARE + (1 - 2 * LEAST_SHARE) * rng.random(DRAWS)
    if measured:
        undone = rng.random(DRAWS) < OPPOSITE
        larger = 1 + LEAST_SHARE + (1 - LEAST_SHARE) * rng.random(DRAWS)
        first = np.where(undone, np.where(rng.random(DRAWS) < 0.5, larger, 1 - larger), first)
    two = np.column_stack([first, 1 - first, np.zeros(DRAWS)])
    return np.where(three[:, None], shares, two)
