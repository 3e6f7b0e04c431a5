"""Simulated profiles with a known truth: boots that scatter more than counting explains.

A machine runs `FUNCTIONS` functions, called from a root by way of callers. A boot draws the shares
of its functions, then its samples; its packets per second scatter besides. Side B's functions cost
what side A's do plus what was planted.
"""

from dataclasses import dataclass

import numpy as np

from webapp.stats.arrays import Floats, Ints
from webapp.stats.profiles.calls import Calls, Function
from webapp.stats.profiles.costs import Boot, Side

FUNCTIONS = 200
"""Leaves of a simulated call tree."""

CALLERS = 20
"""Functions that call the leaves."""

SAMPLES = 20_000
"""Of a boot."""

PLANTED = (0.01, 0.03, 0.10)
"""The shares of the functions in which changes are planted: leaves 0, 1 and 2."""

LAB = ((0.01, 0.10), (0.03, 0.26), (0.10, 0.38))
"""Of a lab: shares, and how much pairs of boots scatter there, in points."""


@dataclass(frozen=True, slots=True)
class World:
    """What boots scatter by, and what was planted.

    ``dispersion`` is the variance of a function's samples over that of counting (1: multinomial;
    above: Dirichlet); 0: as the pairs of boots of a lab scatter (`LAB`). ``rate_pct`` is the
    scatter of packets per second. ``points`` (percent of A's packet) are added to leaf
    ``function``; ``renamed`` leaves have another name on side B, of ``skid`` leaves that share of
    samples is counted for the next leaf there; ``together_pct`` makes every function dearer.
    """

    dispersion: float = 1.0
    rate_pct: float = 0.5
    function: int = 0
    points: float = 0.0
    renamed: tuple[int, ...] = ()
    skid: tuple[int, ...] = ()
    skid_share: float = 0.3
    together_pct: float = 0.0
    has_rates: bool = True


class Machine:
    """The functions of a machine, and boots of it."""

    def __init__(self, world: World, noise: np.random.Generator) -> None:
        """Draw the shares of all functions; those of `PLANTED` leaves are given."""
        self.world, self._noise = world, noise
        rest = noise.gamma(0.4, 1, FUNCTIONS - len(PLANTED))
        self.share = np.array([*PLANTED, *(rest / rest.sum() * (1 - sum(PLANTED)))])
        self.caller = np.r_[
            np.zeros(len(PLANTED), np.int64), noise.integers(0, CALLERS, FUNCTIONS - len(PLANTED))
        ]
        self.caller[3] = 0

    def changes(self) -> dict[str, float]:
        """The true change of each function's own cost, in percent of A's packet."""
        grown = 100 * self.share * self.world.together_pct / 100
        grown[self.world.function] += self.world.points
        return {f"leaf{at}": float(one) for at, one in enumerate(grown)}

    def side(self, boots: int, *, changed: bool = False, sections: int = 1) -> Side:
        """The profiles of ``boots`` boots; of side B if ``changed``."""
        cost = self.share.copy()
        if changed:
            cost *= 1 + self.world.together_pct / 100
            cost[self.world.function] += self.world.points / 100
        return Side(tuple(self._boot(cost, sections, changed=changed) for _ in range(boots)))

    def _boot(self, cost: Floats, sections: int, *, changed: bool) -> Boot:
        total = float(cost.sum())
        shares = self._drawn(cost / total)
        size = SAMPLES if self.world.dispersion else 50 * SAMPLES
        counts = self._noise.multinomial(size // sections, shares, sections)
        names = [f"leaf{at}" for at in range(FUNCTIONS)]
        if changed:
            for at in self.world.renamed:
                names[at] = f"renamed{at}"
            for at in self.world.skid:
                moved = self._noise.binomial(counts[:, at], self.world.skid_share)
                counts[:, at] -= moved
                counts[:, at + 1] += moved
        rate = 1e6 / total * float(np.exp(self._noise.normal(0, self.world.rate_pct / 100)))
        return Boot(
            _tree(names, self.caller, counts),
            event="instructions",
            pps=rate if self.world.has_rates else None,
            cores=8,
        )

    def _drawn(self, shares: Floats) -> Floats:
        dispersion = self.world.dispersion
        if dispersion == 1:
            return shares
        if dispersion:
            drawn: Floats = self._noise.dirichlet(shares * ((SAMPLES - 1) / (dispersion - 1) - 1))
            return drawn
        scatter = lab_scatter(shares)
        own: Floats = np.maximum(shares + self._noise.normal(0, scatter), shares / 10)
        total: Floats = own / own.sum()
        return total


def lab_scatter(shares: Floats) -> Floats:
    """The standard deviation between boots of a lab (`LAB`), of shares."""
    known = np.log([one for one, _ in LAB]), np.log([pair / 100 for _, pair in LAB])
    slope = (known[1][1] - known[1][0]) / (known[0][1] - known[0][0])
    below = known[1][0] + slope * (np.log(np.maximum(shares, 1e-9)) - known[0][0])
    inside = np.interp(np.log(np.maximum(shares, 1e-9)), *known)
    pairs = np.exp(np.where(shares < LAB[0][0], below, inside))
    scatter: Floats = pairs / np.sqrt(2)
    return scatter


def _tree(names: list[str], caller: Ints, counts: Ints) -> Calls:
    """A root, the callers below, the leaves below them."""
    functions = (
        Function("root", "kernel"),
        *(Function(f"caller{at}", "kernel") for at in range(CALLERS)),
        *(Function(name, "kernel") for name in names),
    )
    parent = np.r_[-1, np.zeros(CALLERS, np.int64), 1 + caller]
    inner = np.zeros((len(counts), 1 + CALLERS), np.int64)
    return Calls(functions, parent, np.arange(len(functions)), np.hstack([inner, counts]))
