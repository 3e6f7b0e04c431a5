"""What may be claimed of many modes on many machines in one sentence, at most 5 of 100 wrong.

The share of wrong claims is not the share of sentences with one: a gate for false discoveries over
all cells bounds the first. Here the chance of any wrong claim is bounded. Of the 5 %, `FOR_MODES`
are for the mean change of each mode over its machines, the rest for single machines. The modes pass
levels on: half of what a named one had goes to those that are not named, half to the test whether
its machines differ. Levels only grow as claims are made and never sum to more than 5 %: the
sequential rejection principle of Goeman and Solari (2010), which needs no independence of modes or
machines. docs/statistics.md has the argument and its assumptions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, inf, log1p, sqrt

from scipy import special

from webapp.stats import false_discovery
from webapp.stats.compare import relative
from webapp.stats.compare.comparing import Verdict
from webapp.stats.compare.significance import DEFAULT_CONFIDENCE, critical_t, two_sided_p
from webapp.stats.metrics import MARGIN_PCT, Better, is_gain

PROVEN = (Verdict.WORSE, Verdict.BETTER)
ORDER = (*PROVEN, Verdict.EQUIVALENT, Verdict.CANNOT_TELL)

LEVEL = 0.05
"""The chance of a sentence with a wrong claim, at most."""

FOR_MODES = 0.04
"""Of `LEVEL`. A mode's mean is what a sweep is run for, and needs it most where its machines share
their builds; single machines have tables and intervals of their own."""

FOR_MACHINES = LEVEL - FOR_MODES
PASSED_ON = 0.5
"""The share of a named mode's level that goes to those that are not named."""


class Outcome(StrEnum):
    """What a cell counts as in a table, in the order in which a page shows them."""

    PROVEN = "proven over the whole table"
    BY_ITSELF = "differs by itself, not proven over the whole table"
    EQUIVALENT = "by itself no difference that matters"
    CANNOT_TELL = "cannot tell"


def outcome(alone: Verdict, together: Verdict) -> Outcome:
    """By a cell's verdict by itself, and by the one it keeps beside all others."""
    if together in PROVEN:
        return Outcome.PROVEN
    if alone in PROVEN:
        return Outcome.BY_ITSELF
    return Outcome.EQUIVALENT if alone is Verdict.EQUIVALENT else Outcome.CANNOT_TELL


@dataclass(frozen=True, slots=True)
class Look:
    """One cell: its verdict, and the chance of a difference as large where there is none.

    The p-value of what has no interval, or none that counts the noise between builds, is 1.
    """

    verdict: Verdict
    p: float


@dataclass(frozen=True, slots=True)
class Headline:
    """What may be claimed of all cells together.

    ``verdicts`` has one entry a cell, *cannot tell* where it does not pass; ``alone`` are their
    verdicts by themselves.
    """

    verdicts: tuple[Verdict, ...]
    alone: tuple[Verdict, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What each cell counts as."""
        return tuple(map(outcome, self.alone, self.verdicts))

    @property
    def differing(self) -> int:
        """How many cells are better or worse by themselves, whether they pass or not."""
        return sum(one in PROVEN for one in self.alone)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many cells have which verdict, the worse first; those that none has are left out."""
        counted = {verdict: self.verdicts.count(verdict) for verdict in ORDER}
        return {verdict: count for verdict, count in counted.items() if count}

    @property
    def expected(self) -> float:
        """How many cells would differ at 95 % by chance alone."""
        return false_discovery.LEVEL * len(self.verdicts)

    @property
    def text(self) -> str:
        """``3 of 9 differ at 95 %, about 0.5 expected by chance``."""
        total = len(self.verdicts)
        return (
            f"{self.differing} of {total} differ at 95 %, about {self._chance} expected by chance"
        )

    @property
    def by_chance(self) -> str:
        """``by chance about 0.5 would differ at 95 %``, beside the counts of all outcomes."""
        return f"by chance about {self._chance} would differ at 95 %"

    @property
    def _chance(self) -> str:
        return f"{self.expected:.0f}" if self.expected >= 2 else f"{self.expected:.2g}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One mode on one machine: its verdict alone, and the estimate behind that, where it has one.

    ``builds`` are those whose scatter its change contains, of both sides; empty: it cancels; None:
    they are not known, and may be those of any other machine. ``from_history``: that scatter was
    taken from the history of the series. ``is_open``: single builds of unknown scatter or runs that
    disagree, which prove no difference. ``margin`` is in percent.
    """

    look: Look
    estimate: relative.Estimate | None
    builds: frozenset[str] | None = None
    from_history: bool = False
    is_open: bool = False
    better: Better = "more"
    margin: float = MARGIN_PCT


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean change of a mode over ``machines``, each counted alike, in percent with its 95 %
    interval: of the logarithms. ``p`` is the chance of one as large where the mean is none.
    """

    machines: int
    percent: float
    low: float
    high: float
    p: float
    df: float


@dataclass(frozen=True, slots=True)
class Across:
    """What may be claimed of one mode. ``verdict`` is that on its mean change; ``verdicts`` are
    those on each machine alone. ``differs``: the changes differ from machine to machine. ``mean``
    and ``test`` are None where fewer than two machines have an interval that counts.
    """

    verdict: Verdict
    verdicts: tuple[Verdict, ...]
    mean: Mean | None
    test: relative.Heterogeneity | None
    differs: bool

    @property
    def counts(self) -> dict[Verdict, int]:
        """On how many machines alone which verdict."""
        return {one: count for one in Verdict if (count := self.verdicts.count(one))}

    @property
    def named(self) -> tuple[Verdict, ...]:
        """What is proven of the mode, by its mean or on a machine alone: worse, better or both."""
        return tuple(one for one in PROVEN if one == self.verdict or one in self.verdicts)


def across_machines(modes: Sequence[Sequence[Evidence]]) -> list[Across]:
    """What may be claimed of each mode, given as its machines; a lone cell has its own verdict."""
    cells = [one for its in modes for one in its]
    if len(cells) <= 1:
        # The chance of single builds is that by a noisy machine: it may exceed that of the verdict.
        return [
            _on_one(one, 1.0, is_named=one.look.verdict not in PROVEN or one.look.p <= LEVEL)
            for one in cells
        ]
    of_cell = FOR_MACHINES / len(cells)
    means = [mean_over(its) for its in modes]
    asked = [_asked(its, mean) for its, mean in zip(modes, means, strict=True)]
    named = named_modes(
        [p - of_cell * (len(its) == 1) for its, (_, p) in zip(modes, asked, strict=True)]
    )
    retained = (1 - PASSED_ON) * FOR_MODES / len(modes)
    return [
        _on_one(its[0], retained + of_cell, is_named=is_named)
        if len(its) == 1
        else _on_several(its, mean, verdict if is_named else None, retained, of_cell)
        for its, mean, (verdict, _), is_named in zip(modes, means, asked, named, strict=True)
    ]


def named_modes(p_values: Sequence[float]) -> list[bool]:
    """Which modes are named: Holm's procedure (1979), but that a named mode passes on `PASSED_ON`
    of its level only. Where a level of its own is added to a mode's, it is taken off its p-value.
    """
    count = len(p_values)
    named = [False] * count
    order = sorted(range(count), key=lambda at: p_values[at])
    for rank, at in enumerate(order):
        level = FOR_MODES / count * (1 + PASSED_ON * rank / (count - rank))
        if p_values[at] > level:
            break
        named[at] = True
    return named


def _on_one(one: Evidence, level: float, *, is_named: bool) -> Across:
    """A mode on one machine: a difference where it is named, and what is *equivalent* at
    ``level``."""
    is_equivalent = one.look.verdict is Verdict.EQUIVALENT and _p_outside(one) <= level
    verdict = one.look.verdict if is_named or is_equivalent else Verdict.CANNOT_TELL
    return Across(verdict, (verdict,), None, None, differs=False)


def _on_several(
    cells: Sequence[Evidence],
    mean: Mean | None,
    verdict: Verdict | None,
    retained: float,
    of_cell: float,
) -> Across:
    """A mode on several machines, with the ``verdict`` on its mean where it is named."""
    test = relative.heterogeneity([one.estimate for one in _counting(cells) if one.estimate])
    return Across(
        verdict or Verdict.CANNOT_TELL,
        tuple(_alone(one, of_cell) for one in cells),
        mean,
        test,
        differs=verdict is not None and test is not None and test.p <= retained,
    )


def mean_over(cells: Sequence[Evidence]) -> Mean | None:
    """The mean change over the machines of one mode; None for fewer than two that count.

    Each machine weighs the same: weights by scatter would make another mean of every sweep. Where
    no build is on two machines the standard error is √Σs²/k with Satterthwaite's degrees of
    freedom (1946). Where builds are shared, or may be, changes stray together and it is Σs/k at
    most, with the degrees of freedom of one machine (their mean, weighted by s).
    """
    counting = [one.estimate for one in _counting(cells) if one.estimate is not None]
    count = len(counting)
    if count < relative.LEAST_CHANGES or len({one.better for one in cells}) > 1:
        return None
    total = fsum(one.error for one in counting)
    of_one = fsum(one.error * one.df for one in counting) / total
    if are_apart(cells):
        error = sqrt(fsum(one.error**2 for one in counting)) / count
        df = relative.satterthwaite([(one.error**2, one.df) for one in counting])
        # Histories may have shared builds where these do not: then their errors err together.
        df = min(df, of_one) if any(one.from_history for one in cells) else df
    else:
        error, df = total / count, of_one
    change = fsum(one.change for one in counting) / count
    reach = critical_t(df, DEFAULT_CONFIDENCE) * error
    return Mean(
        machines=count,
        percent=relative.percent_of_log(change),
        low=relative.percent_of_log(change - reach),
        high=relative.percent_of_log(change + reach),
        p=two_sided_p(abs(change) / error, df),
        df=df,
    )


def are_apart(cells: Sequence[Evidence]) -> bool:
    """Whether no build is on two machines, as far as its scatter counts."""
    known = [one.builds for one in _counting(cells)]
    found: set[str] = set()
    for builds in known:
        if builds is None or found & builds:
            return False
        found |= builds
    return True


def _counting(cells: Sequence[Evidence]) -> list[Evidence]:
    """Those whose interval counts all that is known of noise."""
    return [one for one in cells if one.estimate is not None and not one.is_open]


def _asked(cells: Sequence[Evidence], mean: Mean | None) -> tuple[Verdict, float]:
    """What would be claimed of a mode, and the chance of it where that is wrong."""
    if len(cells) == 1:
        look = cells[0].look
        return look.verdict, look.p if look.verdict in PROVEN else 1.0
    if mean is None:
        return Verdict.CANNOT_TELL, 1.0
    margin = min(one.margin for one in cells)
    if -margin <= mean.low and mean.high <= margin:
        return Verdict.CANNOT_TELL, 1.0
    improved = is_gain(mean.percent, cells[0].better)
    return Verdict.BETTER if improved else Verdict.WORSE, mean.p


def _alone(one: Evidence, level: float) -> Verdict:
    """The verdict on one machine as far as it holds at ``level``."""
    verdict = one.look.verdict
    if verdict in PROVEN and one.look.p > level:
        return Verdict.CANNOT_TELL
    if verdict is Verdict.EQUIVALENT and _p_outside(one) > level:
        return Verdict.CANNOT_TELL
    return verdict


def _p_outside(one: Evidence) -> float:
    """The chance of such a change where the true one is outside the margin: two one-sided tests
    (Schuirmann, 1987); 1 without scatter, which has no such chance."""
    if one.estimate is None:
        return 1.0
    least = log1p(-one.margin / 100) if one.margin < 100 else -inf
    above = one.estimate.change - least
    below = log1p(one.margin / 100) - one.estimate.change
    return float(special.stdtr(one.estimate.df, -min(above, below) / one.estimate.error))
