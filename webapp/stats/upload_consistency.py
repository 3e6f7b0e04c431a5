"""Whether uploads of one revision agree, or differ by more than their noise lets them.

Every two uploads of a point are compared, on logarithms. A boot is the unit where both state their
boots and one has two of them: then what other boots scatter by is measured. Else the noise between
boots is not measured, and has a prior, like that between different builds (`NoisePrior`),
together with what the series itself shows. The two that differ most decide, by a limit divided by
how many pairs there are (Bonferroni). Where uploads were measured in several sessions and a session
has several, every two sessions are compared as well, each as a whole; runs and sessions then have
half of the limit each. In words and with figures: docs/statistics.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import exp, expm1, floor, fsum, log, sqrt
from statistics import median

from scipy.special import stdtr

from webapp.stats.sessions import SessionPair, Upload, session_pairs, upload_of
from webapp.stats.single_build import Evidence, NoisePrior, chance
from webapp.stats.single_build.chance import LEAST_PCT

__all__ = [
    "HISTORY",
    "LIMIT",
    "MOST_UPLOADS",
    "Disagreement",
    "History",
    "Upload",
    "history_of",
    "judge",
    "may_disagree",
    "upload_of",
]

LIMIT = 0.0025
"""The largest chance, two-sided, of uploads that differ as much without a cause: twice as strict as
the one point in two hundred that may be marked in vain, because what is believed may be too low."""

MOST_UPLOADS = 16
"""Of more, the outermost are compared, half of them at either end: pairs grow with the square."""

HISTORY = 200
"""Newest points of a series of which its own scatter is taken."""

MEDIAN_OF_NORMAL = 0.6745
"""Median of the absolute value of a standard normal deviate."""

PERCENT_STEP, FREEDOM_STEP = 1.2, 2.0
"""What a series shows is rounded to steps of these factors: marks that moved with every upload
would be judged anew with each of them."""

FREEDOM_SHARE = 0.25
"""Degrees of freedom for each difference of neighbours: their median has .37 of the efficiency of a
standard deviation (Rousseeuw and Croux, 1993), and neighbouring differences share a point (2/3)."""

MOST_LOG = 700.0
"""A hundred times exp() of more than this is no number any more."""

EXACT = 1_000_000
"""Degrees of freedom that stand for a scatter that is known."""


@dataclass(frozen=True, slots=True)
class History:
    """Scatter of the revisions of a series in percent, by so many degrees of freedom."""

    percent: float
    freedom: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The run (or session) named ``second`` lies ``percent`` above ``first``, which without a cause
    is seen with ``chance``, at most ``limit`` for a mark.
    """

    first: str
    second: str
    percent: float
    chance: float
    limit: float
    of_sessions: bool = False

    @property
    def is_beyond_noise(self) -> bool:
        """Whether they differ by more than noise explains."""
        return self.chance <= self.limit


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two uploads by their common unit; ``unknown`` levels of noise are not in ``variance``."""

    first: Upload
    second: Upload
    difference: float
    variance: float
    freedom: int
    share: float
    unknown: int

    @property
    def rank(self) -> float:
        """The larger, the less the difference can be noise: by the belief's median."""
        noise = 2 * self.unknown * (NoisePrior().median_pct / 100) ** 2
        return abs(self.difference) / sqrt(noise + self.share * self.variance)


def history_of(levels: Sequence[tuple[float, int]]) -> History | None:
    """Return what neighbours along the tree show: of each point its mean and how many uploads it
    has, in order. By the median, so that steps, odd revisions and marked ones do not count for
    much; rounded, the degrees of freedom down. None where they are less than one.
    """
    logs = [(log(mean), uploads) for mean, uploads in levels if mean > 0]
    gaps = [abs(b - a) / sqrt(1 / n + 1 / m) for (a, n), (b, m) in pairwise(logs)]
    freedom = FREEDOM_SHARE * len(gaps)
    if freedom < 1:
        return None
    percent = max(100 * median(gaps) / MEDIAN_OF_NORMAL, LEAST_PCT)
    steps = round(log(percent / LEAST_PCT) / log(PERCENT_STEP))
    return History(
        percent=round(LEAST_PCT * PERCENT_STEP**steps, 6),
        freedom=FREEDOM_STEP ** floor(log(freedom, FREEDOM_STEP)),
    )


def may_disagree(uploads: Sequence[Upload]) -> bool:
    """Whether any history could make them disagree: their samples alone, without all other noise,
    do not explain the difference.
    """
    sessions = session_pairs(uploads, MOST_UPLOADS)
    pairs, limit = _pairs(uploads, LIMIT / 2 if sessions else LIMIT)
    return any(_chance_by_samples(pair) <= limit for pair in pairs) or any(
        _of_session_samples(pair) <= LIMIT / 2 / pair.among for pair in sessions
    )


def judge(uploads: Sequence[Upload], history: History | None = None) -> Disagreement | None:
    """Return the two that differ most, and how often that is noise; None where it is not known:
    fewer than two uploads, or nothing is known of their scatter. Two sessions, where they differ
    beyond noise, else two runs.
    """
    sessions = session_pairs(uploads, MOST_UPLOADS)
    if found := _judge_sessions(sessions, history):
        return found
    pairs, limit = _pairs(uploads, LIMIT / 2 if sessions else LIMIT)
    judged = [pair for pair in pairs if pair.freedom or history]
    if not judged:
        return None
    pair = max(judged, key=lambda one: one.rank)
    low, high = (pair.first, pair.second)[:: 1 if pair.difference >= 0 else -1]
    return Disagreement(
        first=low.name,
        second=high.name,
        percent=_percent(pair.difference),
        chance=_chance(pair, history),
        limit=limit,
    )


def _judge_sessions(pairs: Sequence[SessionPair], history: History | None) -> Disagreement | None:
    """The two sessions that differ most; None unless noise does not explain how they do."""
    judged = [pair for pair in pairs if pair.freedom or history]
    if not judged:
        return None
    pair = max(judged, key=lambda one: one.rank)
    if pair.levels:
        seen = min(1.0, 2 * chance(pair.evidence(EXACT), _believed(pair.levels, history)))
    else:
        seen = _of_session_samples(pair)
    first, second = (pair.first, pair.second)[:: 1 if pair.difference >= 0 else -1]
    found = Disagreement(
        first,
        second,
        percent=_percent(pair.difference),
        chance=seen,
        limit=LIMIT / 2 / pair.among,
        of_sessions=True,
    )
    return found if found.is_beyond_noise else None


def _percent(difference: float) -> float:
    return 100 * expm1(min(abs(difference), MOST_LOG))


def _of_session_samples(pair: SessionPair) -> float:
    """Student's, two-sided, as if nothing scattered but what their units show."""
    score = abs(pair.difference) / sqrt(pair.run_share * pair.variance)
    return 2 * float(stdtr(pair.freedom or EXACT, -score))


def _pairs(uploads: Sequence[Upload], limit: float) -> tuple[list[_Pair], float]:
    """All pairs, and the share of ``limit`` that holds for each."""
    some = list(uploads)
    if len(some) > MOST_UPLOADS:
        ordered = sorted(some, key=lambda one: (one.samples.mean, one.name))
        some = ordered[: MOST_UPLOADS // 2] + ordered[-MOST_UPLOADS // 2 :]
    pairs = [_pair(a, b) for a, b in combinations(some, 2)]
    count = len(uploads) * (len(uploads) - 1) // 2
    return pairs, limit / max(count, 1)


def _pair(first: Upload, second: Upload) -> _Pair:
    a, b, unknown = first.samples, second.samples, 1
    if first.boots and second.boots and max(first.boots.units, second.boots.units) > 1:
        a, b, unknown = first.boots, second.boots, 0
    freedom = a.units + b.units - 2
    scatter = fsum([a.squares, b.squares]) / freedom if freedom else 0.0
    return _Pair(
        first,
        second,
        difference=b.mean - a.mean,
        variance=max(scatter, first.floor**2, second.floor**2),
        freedom=freedom,
        share=1 / a.units + 1 / b.units,
        unknown=unknown + (first.build != second.build),
    )


def _chance(pair: _Pair, history: History | None) -> float:
    if not pair.unknown:
        return _chance_by_samples(pair)
    evidence = Evidence(
        loss=abs(pair.difference),
        newest=abs(pair.difference),
        old=1,
        new=1,
        squares=0.0,
        run_variance=pair.variance,
        run_freedom=pair.freedom or EXACT,
        run_share=pair.share,
        unit_share=pair.share / 2,
    )
    return min(1.0, 2 * chance(evidence, _believed(pair.unknown, history)))


def _chance_by_samples(pair: _Pair) -> float:
    """Student's, two-sided; of single samples only their last digit is known to scatter."""
    score = abs(pair.difference) / sqrt(pair.share * pair.variance)
    return 2 * float(stdtr(pair.freedom or EXACT, -score))


def _believed(levels: int, history: History | None) -> NoisePrior:
    """The noise of an upload of that many ``levels`` (of boots and builds), lognormal like what the
    series itself shows, which holds them all. Where that is more, it counts alone: a guess must not
    talk down what was measured. Else both are weighed by how sure they are.
    """
    belief = NoisePrior()
    guess, weight = log(belief.median_pct * sqrt(levels)), log(belief.spread) ** -2
    if history is None:
        return NoisePrior(exp(guess), belief.spread)
    shown, own = log(history.percent), 2 * history.freedom
    total = own if shown > guess else weight + own
    mean = shown if shown > guess else (weight * guess + own * shown) / total
    return NoisePrior(exp(mean), exp(total**-0.5))
