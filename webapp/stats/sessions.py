"""Sessions, which are runs that were measured together: those of one revision compared two and two,
and those from elsewhere, of another session than the one that a series was measured in.

Each session of a pair is compared as a whole, from the uploads that it holds. The builds of a
session are what may differ from those of another: uploads of one build are pooled, and the builds
of both sessions show how builds scatter. Where both sessions measured one and the same build, all
boots of a session are pooled; where boots are not known, its uploads are the units.

What is measured together shares the set-up of its day: another generator, other rules, another
room. In a series where every revision is a session of its own, that is noise between revisions like
any other. Where one session measured all of the last `HOME` revisions, the noise between them does
not hold it: a few percent by which the next session differs may be its set-up or a commit. So it
stands beside the series until a second session lies where it does, and one of `OWN` revisions in a
row and more begins a stretch of its own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from math import expm1, fsum, inf, sqrt
from statistics import fmean, median
from typing import Any, NamedTuple

from webapp.stats.changes import scale
from webapp.stats.changes.noise import EFFICIENCY, MEDIAN_OF_SQUARES
from webapp.stats.compare import Samples, summarize
from webapp.stats.single_build import Build, Evidence, NoisePrior, build_of

HOME = 16
"""Revisions in a row by which a session is the one that a series is measured in: more than a
fortnight of nightly builds, so that a lab which calls a week or two a session loses nothing."""

OWN = 5
"""Revisions in a row from which on a session from elsewhere has a level and a noise of its own."""

LONG, NEAREST = 12, 5
"""Revisions by which a session is compared with home, and those of either that lie nearest: home
may have moved lately, and others are compared with what lies beside them."""

NOISE = 30
"""Newest revisions of the home session of which the noise is taken."""

LIMIT = 2.5
"""Normal score from which on two sessions differ: with less no change is confirmed."""

SHARE = 0.5
"""Part of its distance from home that a session lies off another one with which it agrees, at most:
with a third, accidents agree hardly less often, and a loss of 3 % is found in 60 instead of 68 % of
series (`python -m benchmarks.worlds --only elsewhere`)."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One run of a point: ``name`` identifies it, ``build`` what was measured, ``session``
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
        noise = self.levels * (NoisePrior().median_pct / 100) ** 2 * share
        return abs(self.difference) / sqrt(noise + self.run_share * self.variance)

    def evidence(self, known: int) -> Evidence:
        """The estimate from the units; ``known`` stands for degrees of freedom where there are
        none.
        """
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
    """Return the level of one run; None where no sample is positive. Unknown boots are None."""
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


class Measured(NamedTuple):
    """One revision of a series: its ``level`` on the log scale and the ``sessions`` of its runs; a
    run that names none is of the series' routine, the session ``""``.
    """

    level: float
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class ForeignSession:
    """A revision of ``session`` alone, which lies ``pct`` percent from those of ``home`` before it.

    ``begins``: the first of a stretch of its own. Otherwise it stands beside the series.
    """

    session: str
    home: str
    pct: float
    begins: bool

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ForeignSession":
        """What ``asdict`` wrote, whatever stands beside it."""
        return cls(data["session"], data["home"], data["pct"], begins=data["begins"])

    @property
    def text(self) -> str:
        """What becomes of it, in a sentence or two."""
        apart = f"{self.pct:+.1f} % from {self.home or 'the runs without a session'}"
        if self.begins:
            return (
                f"Session {self.session} begins here, {apart}: compared with itself alone "
                "until another session agrees."
            )
        return (
            f"Session {self.session} stands beside the series, {apart}: "
            "it counts once another session agrees."
        )


def sessions_apart(points: Sequence[Measured]) -> dict[int, ForeignSession]:
    """The revisions (by index, along the tree) that stand beside a series, or begin a stretch of
    their own: a function of all of its points that agree.
    """
    if not _may_part(points):
        return {}
    decided: dict[int, ForeignSession | None] = {}
    plain: list[int] = []
    for at in range(len(points)):
        if at not in decided:
            decided |= _decided(points, plain, at)
        found = decided[at]
        if found is None:
            plain.append(at)
        elif found.begins:
            plain = [at]
    return {at: found for at, found in decided.items() if found is not None}


def _may_part(points: Sequence[Measured]) -> bool:
    """Whether any session has measured as many revisions as home has, and another one any."""
    named: dict[str, int] = defaultdict(int)
    for point in points:
        for one in point.sessions:
            named[one] += 1
    return len(named) > 1 and max(named.values()) >= HOME


def _decided(
    points: Sequence[Measured], plain: Sequence[int], at: int
) -> dict[int, ForeignSession | None]:
    """What becomes of the session that the point ``at`` is alone of, for each of its points from
    there on; None: they count. ``plain`` are the points before that do.
    """
    home = _home(points, plain)
    if home is None or len(points[at].sessions) != 1 or points[at].sessions <= {home, ""}:
        return {at: None}
    (session,) = points[at].sessions
    its, others = _around(points, at, session)
    noise = _noise([points[i].level for i in plain[-NOISE:]])
    before, first, last = (
        [points[i].level for i in chosen] for chosen in (plain[-LONG:], its[:LONG], its[-NEAREST:])
    )
    count: dict[int, ForeignSession | None] = dict.fromkeys(its)
    if not _differ(before, first, noise):
        return count
    gap = fmean(first) - median(before)
    pairs = [(before[-NEAREST:], first), *((last, one) for one in others.values())]
    if any(_agree(*pair, noise, SHARE * abs(gap)) for pair in pairs):
        return count
    of = ForeignSession(session, home, 100 * expm1(gap), begins=_row(its) >= OWN)
    return count | {at: of} if of.begins else dict.fromkeys(its, of)


def _home(points: Sequence[Measured], plain: Sequence[int]) -> str | None:
    """The session of all the newest of ``plain``, if there is one."""
    if len(plain) < HOME:
        return None
    common = frozenset.intersection(*(points[i].sessions for i in plain[-HOME:]))
    return min(common, default=None)


def _around(
    points: Sequence[Measured], at: int, session: str
) -> tuple[list[int], dict[str, list[float]]]:
    """The points that are of ``session`` alone from ``at`` on, and the levels of the `NEAREST`
    others among or after them, by session.
    """
    its: list[int] = []
    others: dict[str, list[float]] = defaultdict(list)
    count = 0
    for i in range(at, len(points)):
        if points[i].sessions == {session}:
            its.append(i)
            continue
        for one in points[i].sessions - {session}:
            others[one].append(points[i].level)
        count += 1
        if count == NEAREST:
            break
    return its, others


def _row(its: Collection[int]) -> int:
    """How many follow each other from the first on."""
    return next(n for n, (a, b) in enumerate(pairwise([*its, inf]), 1) if b > a + 1)


class _Noise(NamedTuple):
    variance: float
    freedom: float


def _noise(levels: Sequence[float]) -> _Noise:
    squares = [(b - a) ** 2 / 2 for a, b in pairwise(levels)]
    largest = 9 * median(squares) / MEDIAN_OF_SQUARES
    variance = fsum(min(one, largest) for one in squares) / len(squares)
    return _Noise(variance, EFFICIENCY * len(squares))


def _agree(some: Sequence[float], other: Sequence[float], noise: _Noise, most: float) -> bool:
    """Whether they lie at one level, at ``most`` so far apart."""
    return not _differ(some, other, noise) and abs(fmean(some) - fmean(other)) < most


def _differ(some: Sequence[float], other: Sequence[float], noise: _Noise) -> bool:
    apart = fmean(some) - fmean(other)
    share = 1 / len(some) + 1 / len(other)
    if not noise.variance:
        return apart != 0
    return scale.as_score(apart * apart / (noise.variance * share), noise.freedom) >= LIMIT
