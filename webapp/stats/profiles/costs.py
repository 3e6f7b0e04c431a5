"""What a function costs per packet: its share of all samples times what a packet costs.

The cost of a packet in CPU time is c = CPUs / packets per second, and a function that ran in the
share p of all samples, idle ones included, costs p c. Costs are given in percent of the packet of
side A, so that the functions of side A sum to 100 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from statistics import fmean

import numpy as np
from scipy.special import stdtr

from webapp.stats.arrays import Floats
from webapp.stats.profiles.calls import IDLE, Calls, counts_unhalted_only, idle_share

BUSY = 0.05
"""Cost is claimed of sides with a smaller share of idle samples."""

MISSED = 0.5
"""A profile with a larger share of idle samples missed the traffic."""

UNEVEN = 0.8
"""The least over the most samples of a profile's CPUs, of CPUs that were all busy."""

SLOW_DOWN_LEVEL = 0.01
"""Two-sided p-value below which the slow-downs by profiling of both sides differ."""

SLOW_DOWN_ONE_BOOT = 0.02
"""Where a side has one boot: the difference of slow-downs that is taken for one."""


@dataclass(frozen=True, slots=True)
class Boot:
    """The profile of one boot.

    ``expected`` are the samples that the file promised, ``pps`` the packets per second while it
    was taken, ``run_pps`` those of the run that it belongs to, ``cores`` the CPUs of the machine,
    ``event_rate`` how often the event happened on all of them (1/s); None where unknown.
    """

    calls: Calls
    event: str = ""
    label: str = ""
    expected: int | None = None
    truncated: bool = False
    pps: float | None = None
    run_pps: float | None = None
    cores: int | None = None
    event_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """The profiles of one side of a comparison, a boot each.

    ``builds`` are the boots' builds, one a boot, empty where unknown. ``plain_pps`` are rates
    (packets/s) of plain boots of this side, used where those of profiled boots are unknown.
    """

    boots: tuple[Boot, ...]
    builds: tuple[str, ...] = ()
    plain_pps: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError without a boot or samples, or with builds of other boots."""
        if not self.boots:
            raise ValueError("a side without a profile: give at least one")
        for boot in self.boots:
            if not boot.calls.samples:
                raise ValueError(f"the profile {boot.label!r} holds no samples: leave it out")
            for rate in (boot.pps, boot.run_pps):
                if rate is not None and not 0 < rate < float("inf"):
                    raise ValueError(f"{boot.label!r}: a rate of {rate} packets/s is none")
        if self.builds and len(self.builds) != len(self.boots):
            raise ValueError(f"{len(self.builds)} builds of {len(self.boots)} boots")

    @property
    def samples(self) -> int:
        """All samples."""
        return sum(boot.calls.samples for boot in self.boots)

    @property
    def events_per_packet(self) -> float | None:
        """How often the event happened for each packet, the mean of the boots; None where a boot
        does not state.
        """
        found = [boot.event_rate / boot.pps for boot in self.boots if boot.event_rate and boot.pps]
        return fmean(found) if len(found) == len(self.boots) else None

    def idle_shares(self, patterns: Sequence[str] = IDLE) -> list[float | None]:
        """The share of idle samples of each boot; None where unknown."""
        return [idle_share(boot.calls, boot.event, patterns) for boot in self.boots]


@dataclass(frozen=True, slots=True)
class Rates:
    """The cost of a packet in each boot of a side, in percent of side A's packet (n).

    ``common`` is the variance of the logarithm of an error that all boots share, ``freedom`` its
    degrees of freedom; 0 where each boot's own rate is known.
    """

    cost: Floats
    common: float = 0.0
    freedom: float = 0.0


@dataclass(frozen=True, slots=True)
class Basis:
    """On what functions are compared. ``untested``: why nothing can be tested, ``shares_alone``:
    why cost cannot be claimed; empty where it can.
    """

    a: Rates
    b: Rates
    is_cost: bool
    untested: str = ""
    shares_alone: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reasons:
    """Why cost, and why nothing at all, can be claimed; and what else is to be known."""

    names: tuple[str, str]
    shares_alone: list[str] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def basis(
    a: Side, b: Side, patterns: Sequence[str] = IDLE, *, names: tuple[str, str] = ("A", "B")
) -> Basis:
    """Decide on what the functions of two sides are compared: their cost, or shares alone; reasons
    and warnings call the sides by ``names``.
    """
    why = _Reasons(names)
    for name, side in zip(names, (a, b), strict=True):
        _check_side(name, side, patterns, why)
    _check_both(a, b, why)
    rates = None if why.shares_alone or why.untested else _rates(a, b, why)
    is_cost = rates is not None and not why.shares_alone
    if rates is None or not is_cost:
        rates = Rates(np.full(len(a.boots), 100.0)), Rates(np.full(len(b.boots), 100.0))
    notes = [f"{one}: nothing is tested." for one in why.untested]
    notes += [f"{one}: shares of samples alone are compared." for one in why.shares_alone]
    untested, shares_alone = ("".join(one[:1]) for one in (why.untested, why.shares_alone))
    return Basis(*rates, is_cost, untested, shares_alone, tuple(notes + why.warnings))


def _check_side(name: str, side: Side, patterns: Sequence[str], why: _Reasons) -> None:
    cut = [boot.label or "a profile" for boot in side.boots if boot.truncated]
    if cut:
        why.untested.append(f"{', '.join(cut)} of side {name} is truncated")
    why.warnings.extend(_halted(name, side))
    shares = side.idle_shares(patterns)
    known = [share for share in shares if share is not None]
    if any(share > MISSED for share in known):
        why.untested.append(
            f"Side {name} was {100 * max(known):.0f} % idle: its profile missed the traffic"
        )
    elif any(share >= BUSY for share in known):
        why.shares_alone.append(f"Side {name} was {100 * max(known):.0f} % idle")
    if len(known) < len(shares):
        why.shares_alone.append(
            f"How busy side {name} was is unknown (halted CPUs give no samples of its event)"
        )


def _halted(name: str, side: Side) -> list[str]:
    """Whether CPUs gave samples so unevenly that some were halted in between."""
    for boot in side.boots:
        sampled = boot.calls.counts.sum(axis=1)
        if counts_unhalted_only(boot.event) and sampled.min() < UNEVEN * sampled.max():
            least, most = sampled.min(), sampled.max()
            text = f"CPUs of side {name} gave {least:,} to {most:,} samples of unhalted cycles"
            return [f"{text}: some were halted in between, which costs do not contain."]
    return []


def _check_both(a: Side, b: Side, why: _Reasons) -> None:
    events = sorted({boot.event for side in (a, b) for boot in side.boots})
    if len(events) > 1:
        why.shares_alone.append(f"The profiles are of different events ({', '.join(events)})")
    slow = [_slow_downs(side) for side in (a, b)]
    if not all(slow):
        return
    slower = [100 * (1 - float(np.exp(np.mean(one)))) for one in slow]
    why.warnings.append(
        f"Profiling slowed side {why.names[0]} by {slower[0]:.1f} % and side {why.names[1]} by "
        f"{slower[1]:.1f} %."
    )
    if _differ(*slow):
        why.shares_alone.append("Profiling slowed the sides by different amounts")


def _slow_downs(side: Side) -> list[float]:
    """Logarithms of the rate while profiled over the run's own, of boots that know both."""
    return [log(boot.pps / boot.run_pps) for boot in side.boots if boot.pps and boot.run_pps]


def _differ(a: list[float], b: list[float]) -> bool:
    change = float(np.mean(b) - np.mean(a))
    freedom = len(a) + len(b) - 2
    if min(len(a), len(b)) < 2:
        return abs(change) > SLOW_DOWN_ONE_BOOT
    squares = sum(float(np.var(one)) * len(one) for one in (a, b))
    error = sqrt(squares / freedom * (1 / len(a) + 1 / len(b)))
    if error == 0:
        return change != 0
    return float(2 * stdtr(freedom, -abs(change) / error)) < SLOW_DOWN_LEVEL


def _rates(a: Side, b: Side, why: _Reasons) -> tuple[Rates, Rates] | None:
    """The cost of a packet of each boot, of side A's mean; None where a rate is unknown."""
    cores = _cores(a, b)
    found = []
    for name, side, per in zip(why.names, (a, b), cores, strict=True):
        own = [boot.pps for boot in side.boots if boot.pps]
        if len(own) == len(side.boots):
            found.append(Rates(per / np.array(own)))
            continue
        plain = side.plain_pps or [boot.run_pps for boot in side.boots if boot.run_pps]
        rates = np.array(plain, np.float64)
        if len(rates) < 2:
            why.shares_alone.append(f"The packets per second of side {name} are unknown")
            return None
        why.warnings.append(
            f"The packets per second of side {name} while profiled are unknown: those of its "
            f"{len(rates)} plain runs are used, their scatter is an error of all functions."
        )
        error = float(np.var(np.log(rates), ddof=1)) / len(rates)
        found.append(Rates(per / np.full(len(side.boots), rates.mean()), error, len(rates) - 1))
    unit = 100 / float(found[0].cost.mean())
    scaled = [Rates(one.cost * unit, one.common, one.freedom) for one in found]
    return scaled[0], scaled[1]


def _cores(a: Side, b: Side) -> tuple[Floats, Floats]:
    """The CPUs of each boot; the same of all where one is unknown."""
    known = [[boot.cores for boot in side.boots] for side in (a, b)]
    if not all(cores for side in known for cores in side):
        known = [[1] * len(side) for side in known]
    return np.array(known[0], np.float64), np.array(known[1], np.float64)
