"""Sessions of one revision, two and two: each as a whole, from the uploads that it holds.

The builds of a session are what may differ from those of another: uploads of one build are pooled,
and the builds of both sessions show how builds scatter. Where both sessions measured one and the
same build, all boots of a session are pooled; where boots are not told, its uploads are the units.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import fsum, sqrt
from typing import Any

from webapp.stats.compare import Samples, summarize
from webapp.stats.decisive import Belief, Build, Evidence, build_of


@dataclass(frozen=True, slots=True)
class Upload:
    """One run of a point: ``name`` tells it from others, ``build`` what was measured, ``session``
    with what others (empty: not known).

    ``samples`` and ``boots`` are the mean of the logarithms with the squares around it, of single
    samples and of boots (None: not all are known). ``floor`` is what equal values leave open.
    """

    name: str
    build: str
    samples: Build
    boots: Build | None
    floor: float
    session: str = ""

    def to_data(self) -> dict[str, Any]:
        """Numbers, strings and dicts only: what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Upload":
        """What `to_data` wrote, also after a passage through JSON."""
        boots = data["boots"] and Build(**data["boots"])
        return cls(**{**data, "samples": Build(**data["samples"]), "boots": boots})


@dataclass(frozen=True, slots=True)
class SessionPair:
    """Two sessions by their names and units. ``levels`` of noise (of boots and builds) are believed
    to come to what the units show; ``variance`` is that within a unit. ``among`` so many pairs.
    """

    first: str
    second: str
    before: tuple[Build, ...]
    after: tuple[Build, ...]
    levels: int
    variance: float
    among: int

    @property
    def difference(self) -> float:
        """How far the second lies above the first, on the log scale."""
        return _mean(self.after) - _mean(self.before)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the variance within units."""
        return sum(unit.units - 1 for unit in (*self.before, *self.after))

    @property
    def run_share(self) -> float:
        """How many times the variance within units counts in that of the difference."""
        return sum(_shares(side) / len(side) ** 2 for side in (self.before, self.after))

    @property
    def rank(self) -> float:
        """The larger, the less the difference can be noise: by the belief's median."""
        share = 1 / len(self.before) + 1 / len(self.after)
        noise = self.levels * (Belief().median_pct / 100) ** 2 * share
        return abs(self.difference) / sqrt(noise + self.run_share * self.variance)

    def evidence(self, known: int) -> Evidence:
        """What the units say; ``known`` stands for degrees of freedom where there are none."""
        squares = fsum(
            (unit.mean - _mean(side)) ** 2 for side in (self.before, self.after) for unit in side
        )
        units = (*self.before, *self.after)
        return Evidence(
            loss=abs(self.difference),
            newest=abs(self.difference),
            old=len(self.before),
            new=len(self.after),
            squares=squares,
            run_variance=self.variance,
            run_freedom=self.freedom or known,
            run_share=self.run_share,
            unit_share=_shares(units) / len(units),
        )


def session_pairs(uploads: Sequence[Upload], most: int) -> list[SessionPair]:
    """Every two sessions; none where each has one upload, which are compared as such. Of more than
    ``most`` sessions the outermost, half of them at either end.
    """
    by_name: dict[str, list[Upload]] = defaultdict(list)
    for one in uploads:
        if one.session:
            by_name[one.session].append(one)
    if len(by_name) < 2 or all(len(its) == 1 for its in by_name.values()):
        return []
    among = len(by_name) * (len(by_name) - 1) // 2
    names = sorted(by_name, key=lambda name: (_mean([one.samples for one in by_name[name]]), name))
    if len(names) > most:
        names = [*names[: most // 2], *names[-most // 2 :]]
    return [_pair(a, b, by_name[a], by_name[b], among) for a, b in combinations(names, 2)]


def _pair(
    first: str, second: str, before: Sequence[Upload], after: Sequence[Upload], among: int
) -> SessionPair:
    both = [*before, *after]
    boots = [one.boots for one in both if one.boots]
    is_measured = len(boots) == len(both) and any(one.units > 1 for one in boots)
    is_one_build = len({one.build for one in both}) == 1
    sides = [_units(side, measured=is_measured, one_build=is_one_build) for side in (before, after)]
    units = [*sides[0], *sides[1]]
    freedom = sum(unit.units - 1 for unit in units)
    scatter = fsum(unit.squares for unit in units) / freedom if freedom else 0.0
    return SessionPair(
        first,
        second,
        before=tuple(sides[0]),
        after=tuple(sides[1]),
        levels=(not is_measured) + (not is_one_build),
        variance=max(scatter, *(one.floor**2 for one in both)),
        among=among,
    )


def _units(uploads: Sequence[Upload], *, measured: bool, one_build: bool) -> list[Build]:
    if one_build and not measured:
        return [one.samples for one in uploads]
    by_build: dict[str, list[Build]] = defaultdict(list)
    for one in uploads:
        by_build[one.build].append(one.boots if measured and one.boots else one.samples)
    return [_pooled(its) for _, its in sorted(by_build.items())]


def _pooled(units: Sequence[Build]) -> Build:
    """All units together, with their squares around the common mean."""
    count = sum(one.units for one in units)
    mean = fsum(one.units * one.mean for one in units) / count
    squares = fsum(one.squares + one.units * (one.mean - mean) ** 2 for one in units)
    return Build(mean, squares, count)


def _mean(units: Sequence[Build]) -> float:
    return fsum(one.mean for one in units) / len(units)


def _shares(units: Iterable[Build]) -> float:
    return fsum(1.0 / one.units for one in units)


def upload_of(
    name: str,
    build: str,
    samples: Sequence[float],
    boots: Sequence[object] | None,
    session: str = "",
) -> Upload | None:
    """Return what one run says; None where no sample is positive. Unknown boots are None."""
    positive = [value for value in samples if value > 0]
    runs = build_of(positive)
    if runs is None:
        return None
    known = boots is not None and None not in boots
    return Upload(
        name=name,
        build=build,
        samples=runs,
        boots=build_of(samples, boots) if known else None,
        floor=summarize(Samples(positive)).floor("log"),
        session=session,
    )
