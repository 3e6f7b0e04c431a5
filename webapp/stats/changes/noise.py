"""How much a series scatters without any change: kept up revision by revision.

Three sums are kept, each forgetting slowly: the scatter of samples inside a build, and the
squared differences of each revision from its neighbour and from the one before that. Differences
do not see a level, so that a change inflates them once and not for ever. Two apart differ more
than neighbours do when neighbours stray together (the idea of von Neumann's ratio), in which case
more revisions help less than independent ones would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from webapp.stats.changes.points import FINEST, Value, half_digit

MEMORY = 100.0
"""Revisions after which the weight of an old difference has fallen to 1/e."""

EFFICIENCY = 2 / 3
"""Degrees of freedom of a variance from successive differences, per difference: their squares
are correlated, and the mean of n of them varies as that of 2 n / 3 independent ones (von Neumann
et al. 1941)."""

CLIP = 3.0
"""Differences count at most this many standard deviations (Huber's proposal 2, winsorised)."""

BUILD_OVER_RUN = 1.0
"""Build scatter as a multiple of run scatter before any neighbour is known (the archive: the
level wanders 1.4 to 4.9 % from build to build where runs scatter 0.5 to 4.7 %)."""

GUESS_WEIGHT = 2.0
"""Degrees of freedom of this guess at first: with two, the truth spreads by a factor of 1.9 around
it, as in a real lab's year series. With six, builds that scatter four times as much as runs were
taken for changes (`python -m benchmarks.worlds --only young`)."""

GUESS_HALVES = 6.0
"""Differences of its own after which a series lets the guess count for half of that; it fades by
their square: slower, a guess that is too high hides steps in a series of twenty revisions."""

YOUNG = 24
"""Revisions up to which all differences are counted anew with each new one, clipped by their own
median: the guess, which may be far too small, must not clip what would correct it."""

MEDIAN_OF_SQUARES = 0.4549
"""Median of the square of a standard normal variable."""

LATELY = 10.0
"""Differences that show how the series scatters now."""

SHIFT = 4.0
"""When the latest differences are so many times more or less (in variance) than the older ones,
the older ones are forgotten: the noise itself has changed, as where two modes become one."""

FADE, FADE_SOON = 1.0 - 1.0 / MEMORY, 1.0 - 1.0 / LATELY
FADED, FADED_SOON = (tuple(fade**age for age in range(YOUNG)) for fade in (FADE, FADE_SOON))
ONES, ONES_SOON = (tuple(accumulate(left, initial=0)) for left in (FADED, FADED_SOON))
"""What is left of a sum one revision later, by age, and of as many ones."""

WITHIN_CLIP = 6.0
"""One revision's inner variance counts at most this many times the variance known so far."""

MOST_MEMORY, LEAST_FOR_MEMORY = 0.75, 12.0
"""The largest correlation of neighbours that is believed, and differences that it takes."""

MEMORY_DOUBT = 16.0
"""Differences after which half of it is believed. Few of them show much correlation by chance (a
dozen: ± 0.3), and believing it hides an early step, however large; hence the cube in `memory`,
which believes little before and nearly all soon after."""


@dataclass(slots=True)
class Tracker:
    """Running sums; every field is a plain number, so the state can be stored.

    `digit` is half of the last digit of all samples, relative to them.
    """

    within: float = 0.0
    within_weight: float = 0.0
    share: float = 0.0
    shares: float = 0.0
    near: float = 0.0
    nears: float = 0.0
    far: float = 0.0
    fars: float = 0.0
    lately: float = 0.0
    latelies: float = 0.0
    in_boot: float = 0.0
    in_boot_weight: float = 0.0
    boots: float = 0.0
    digit: float = 1.0

    def add_within(self, value: Value) -> None:
        """Take in one revision's inner scatter and its number of samples."""
        if self.digit:
            self.digit = min(self.digit, half_digit(value.logs))
        self.share = self.share * FADE + value.share
        self.shares = self.shares * FADE + 1.0
        if value.freedom:
            total = value.freedom * value.variance
            if (
                self.within
                and total * self.within_weight > WITHIN_CLIP * value.freedom * self.within
            ):
                total = WITHIN_CLIP * value.freedom * self.within / self.within_weight
            self.within = self.within * FADE + total
            self.within_weight = self.within_weight * FADE + value.freedom
        if value.boots:
            self.boots = self.boots * FADE + value.boots
            self.in_boot = self.in_boot * FADE + value.in_boot_freedom * value.in_boot
            self.in_boot_weight = self.in_boot_weight * FADE + value.in_boot_freedom

    def add_differences(self, near: float, far: float, variance: float) -> tuple[float, float]:
        """Take in half the squared difference from the neighbour, and from the one before it.

        `far` is negative where there is none. Both are clipped by `variance`; returns what they
        counted as.
        """
        most = CLIP * CLIP * variance
        near = near if near < most else most
        far = far if far < most else most
        self.near = self.near * FADE + near
        self.nears = self.nears * FADE + 1.0
        self.lately = self.lately * FADE_SOON + near
        self.latelies = self.latelies * FADE_SOON + 1.0
        if self.nears >= 2 * LATELY and self.near:
            ratio = (self.lately / self.latelies) / (self.near / self.nears)
            if not 1 / SHIFT < ratio < SHIFT:
                self.far *= ratio
                self.near, self.nears = self.lately, self.latelies
        if far >= 0:
            self.far = self.far * FADE + far
            self.fars = self.fars * FADE + 1.0
        return near, far

    def count_anew(
        self, nears: Sequence[float], fars: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Take in these differences and no others; return what each counted as.

        Negative ones are none. All are clipped by the variance that the median of the nears
        makes (ties, as of rounded values, show nothing of it).
        """
        apart = sorted([near for near in nears if near > 0])
        most = CLIP * CLIP * apart[(len(apart) - 1) // 2] / MEDIAN_OF_SQUARES if apart else 0.0
        near = [one if one < most else most for one in nears]
        far = [one if one < most else most for one in fars]
        # The newest first: what is left of each by its age.
        known = [one for one in reversed(near) if one >= 0]
        self.near, self.nears = sum(map(mul, known, FADED)), ONES[len(known)]
        self.lately, self.latelies = sum(map(mul, known, FADED_SOON)), ONES_SOON[len(known)]
        known = [one for one in reversed(far) if one >= 0]
        self.far, self.fars = sum(map(mul, known, FADED)), ONES[len(known)]
        return near, far

    def take_back(self, near: float, far: float, age: int) -> None:
        """Take back differences that were counted `age` revisions ago: they crossed a break."""
        faded, soon = FADE**age, FADE_SOON**age
        if near >= 0 and self.nears > faded + 1.0:
            self.near = max(self.near - near * faded, 0.0)
            self.nears -= faded
            self.lately = max(self.lately - near * soon, 0.0)
            self.latelies -= min(soon, self.latelies / 2)
        if far >= 0 and self.fars > faded + 1.0:
            self.far = max(self.far - far * faded, 0.0)
            self.fars -= faded

    def finest(self) -> float:
        """The smallest relative standard deviation of one revision that is believed."""
        return self.digit if self.digit > FINEST else FINEST

    def within_variance(self) -> float:
        """The variance of one sample inside a build; 0 when nothing separates it."""
        return self.within / self.within_weight if self.within_weight else 0.0

    def run_part(self) -> float:
        """The part of a typical revision's variance that its finite number of samples makes."""
        return self.within_variance() * self.share / self.shares if self.shares else 0.0

    def variance(self, memory: float) -> tuple[float, float]:
        """Return the variance of one typical revision and the degrees of freedom behind it: as
        `measured`, with what is expected beforehand, which fades as differences come.
        """
        variance, freedom = self.measured(memory)
        if self.within_weight:
            weight = GUESS_WEIGHT / (1.0 + (self.nears / GUESS_HALVES) ** 2)
            within, own = self.within / self.within_weight, freedom
            expected = within * (BUILD_OVER_RUN**2 + self.share / self.shares)
            freedom += weight
            variance = (weight * expected + own * variance) / freedom
        finest = self.digit if self.digit > FINEST else FINEST
        if not freedom or variance > finest * finest:
            return variance, freedom
        return finest * finest, freedom

    def measured(self, memory: float) -> tuple[float, float]:
        """Return both by the series' own differences alone; 0 and 0 while there are none.

        Half the mean squared difference of neighbours is the variance times 1 - memory.
        """
        if not self.nears:
            return 0.0, 0.0
        own = EFFICIENCY * self.nears * (1.0 - memory) / (1.0 + memory)
        return self.near / self.nears / (1.0 - memory), own

    def measured_build(self) -> tuple[float, float]:
        """The variance between builds by the series' own differences, and its degrees of freedom.

        It is what is left of a revision's variance without the part that runs make. What is left of
        a sum is known less well than the sum: its degrees of freedom are those of the sum times the
        square of its share (Satterthwaite 1946), 1 at least.
        """
        total, own = self.measured(self.memory())
        build = max(total - self.run_part(), 0.0)
        share = build / total if total else 0.0
        return build, max(own * share * share, 1.0)

    def memory(self) -> float:
        """The correlation of neighbouring revisions; never below 0.

        Half the mean squared difference two apart is the variance times 1 - memory².
        """
        if self.fars < LEAST_FOR_MEMORY or not self.near:
            return 0.0
        ratio = (self.far / self.fars) / (self.near / self.nears)
        if ratio <= 1.0:
            return 0.0
        cube = self.fars**3
        return min(ratio - 1.0, MOST_MEMORY) * (cube / (cube + MEMORY_DOUBT**3))
