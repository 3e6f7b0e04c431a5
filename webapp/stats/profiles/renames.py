"""Functions that got another name: one vanished, one appeared with the same callers."""

from dataclasses import dataclass

import numpy as np

from webapp.stats.profiles.calls import Bools, Function, Ints
from webapp.stats.profiles.costs import Floats

SAME_CALLERS = 0.5
"""The least overlap of two functions' callers, as shares of the samples that came from each."""

SIMILAR = 2.0
"""The largest ratio of costs of a function under its two names."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Samples that passed from callers to callees on a side: ``edges`` (E, 2), ``samples`` (E)."""

    edges: Ints
    samples: Floats

    def callers(self, function: int) -> dict[int, float]:
        """The callers of a function, and the share of its samples that came from each."""
        here = (self.edges[:, 1] == function) & (self.samples > 0)
        total = float(self.samples[here].sum())
        if not total:
            return {}
        pairs = zip(self.edges[here, 0].tolist(), self.samples[here].tolist(), strict=True)
        return {caller: samples / total for caller, samples in pairs}


def renamed(
    functions: tuple[Function, ...],
    shares: tuple[Floats, Floats],
    passed: tuple[Passed, Passed],
    worth: Bools,
) -> dict[int, int]:
    """Pairs of a vanished and an appeared function that are one under two names.

    ``shares`` are inclusive shares on both sides (F); pairs are of ``worth`` functions (F). They
    have the same name in another module, or the same callers; and a similar cost.
    """
    gone = np.flatnonzero(worth & (shares[0] > 0) & (shares[1] == 0))
    new = np.flatnonzero(worth & (shares[0] == 0) & (shares[1] > 0))
    above = {int(one): passed[0].callers(int(one)) for one in gone}
    above |= {int(one): passed[1].callers(int(one)) for one in new}
    found: list[tuple[float, int, int]] = []
    for old in gone.tolist():
        for other in new.tolist():
            ratio = max(shares[0][old], shares[1][other]) / min(shares[0][old], shares[1][other])
            overlap = _overlap(above[old], above[other], {int(one) for one in gone}, set(new))
            if functions[old].name == functions[other].name:
                found.append((2.0, old, other))
            elif ratio <= SIMILAR and overlap >= SAME_CALLERS:
                found.append((overlap / ratio, old, other))
    pairs: dict[int, int] = {}
    for _, old, other in sorted(found, key=lambda one: -one[0]):
        if old not in pairs and other not in pairs.values():
            pairs[old] = other
    return pairs


def _overlap(
    one: dict[int, float], other: dict[int, float], gone: set[int], new: set[int]
) -> float:
    """The overlap of two functions' callers, of which those that got another name are one."""
    plain = sum(min(part, other.get(caller, 0.0)) for caller, part in one.items())
    lost = sum(part for caller, part in one.items() if caller in gone)
    won = sum(part for caller, part in other.items() if caller in new)
    return plain + min(lost, won)
