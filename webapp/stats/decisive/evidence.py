"""What builds of a few revisions say, before anything is believed of the noise between builds.

All on the log scale. A build is the mean of its units: boots where they are known, else samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, log

from webapp.stats.better import Better


@dataclass(frozen=True, slots=True)
class Build:
    """The mean of one build's units, the sum of their squared deviations, and how many they are."""

    mean: float
    squares: float
    units: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One revision with its builds, in any order; ``label`` names it."""

    position: int
    builds: tuple[Build, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Builds at the old level against builds at the new one.

    ``loss`` is how far the mean of the new ones lies below that of the old ones (above, where less
    is better), ``newest`` the same for the newest revision alone; of ``old`` and ``new`` builds.
    ``squares`` are those of the builds around the mean of their side. ``run_variance`` is that of
    one unit within its build, by ``run_freedom`` degrees of freedom; it counts ``run_share`` times
    in the variance of ``loss``, and ``unit_share`` times in that of a typical build.
    """

    loss: float
    newest: float
    old: int
    new: int
    squares: float
    run_variance: float
    run_freedom: int
    run_share: float
    unit_share: float

    @property
    def share(self) -> float:
        """How many times the variance of one build counts in that of ``loss``."""
        return 1.0 / self.old + 1.0 / self.new

    @property
    def freedom(self) -> int:
        """Degrees of freedom that the builds themselves have."""
        return self.old + self.new - 2


def build_of(samples: Sequence[float], boots: Sequence[object] | None = None) -> Build | None:
    """Return one build's summary; None where no sample is positive. Unknown boots are None."""
    units = _units(samples, boots)
    if not units:
        return None
    mean = fsum(units) / len(units)
    return Build(mean, fsum((unit - mean) ** 2 for unit in units), len(units))


def weigh(
    old: Sequence[Measured], new: Sequence[Measured], better: Better = "more"
) -> Evidence | None:
    """Return what ``new`` revisions say against ``old`` ones.

    None where runs do not tell their scatter: no build has two units.
    """
    before = [build for one in old for build in one.builds]
    after = [build for one in new for build in one.builds]
    both = [*before, *after]
    run_freedom = sum(build.units - 1 for build in both)
    if not before or not after or not run_freedom:
        return None
    sign = 1.0 if better == "more" else -1.0
    level, new_level = _mean(before), _mean(after)
    squares = fsum((build.mean - level) ** 2 for build in before)
    squares += fsum((build.mean - new_level) ** 2 for build in after)
    return Evidence(
        loss=sign * (level - new_level),
        newest=sign * (level - _mean(new[-1].builds)),
        old=len(before),
        new=len(after),
        squares=squares,
        run_variance=fsum(build.squares for build in both) / run_freedom,
        run_freedom=run_freedom,
        run_share=_shares(before) / len(before) ** 2 + _shares(after) / len(after) ** 2,
        unit_share=_shares(both) / len(both),
    )


def _units(samples: Sequence[float], boots: Sequence[object] | None) -> list[float]:
    """The logarithms of samples; where every boot is known, their means by boot."""
    if boots is None or any(boot is None for boot in boots):
        return [log(sample) for sample in samples if sample > 0]
    by_boot: dict[object, list[float]] = {}
    for sample, boot in zip(samples, boots, strict=True):
        if sample > 0:
            by_boot.setdefault(boot, []).append(log(sample))
    return [fsum(logs) / len(logs) for logs in by_boot.values()]


def _mean(builds: Sequence[Build]) -> float:
    return fsum(build.mean for build in builds) / len(builds)


def _shares(builds: Sequence[Build]) -> float:
    return fsum(1.0 / build.units for build in builds)
