"""What may be said of a whole table of comparisons: a claim for each mode, then for machines."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.analysis.models import Finding
from webapp.analysis.queries.verdicts import PointVerdict
from webapp.stats.better import Better
from webapp.stats.compare import (
    Across,
    Evidence,
    Headline,
    Outcome,
    Verdict,
    across_machines,
    estimate_of,
)
from webapp.stats.decisive import LIMIT_OF_COMMIT, what_settles

CAVEAT = (
    "Not a fact about the commit yet: builds of one and the same revision differ too, and this "
    "series cannot tell by how much."
)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The set ``index`` after the base against the base, in one mode and metric on one machine."""

    mode: str
    metric: str
    index: int
    better: Better
    judged: PointVerdict


@dataclass(frozen=True, slots=True)
class ModeClaim:
    """One mode, in one metric, of the set ``index`` after the base, over its machines: the
    ``positions`` of these among all pairs, and what may be said.
    """

    mode: str
    metric: str
    index: int
    positions: tuple[int, ...]
    across: Across


@dataclass(frozen=True, slots=True)
class TableClaims:
    """What may be said of a table: of each of its ``modes``, and of each pair (``headline``)."""

    modes: Sequence[ModeClaim]
    headline: Headline

    @property
    def counts(self) -> Counter[Outcome]:
        """How many pairs count as what: as many as stand under each heading."""
        return Counter(self.headline.outcomes)


def claims_of(pairs: Sequence[JudgedPair]) -> TableClaims:
    """The gate of every table, of a commit and of a comparison: any of its claims is wrong in at
    most 5 of 100 tables.
    """
    modes = _of_modes(pairs)
    return TableClaims(modes, _of_pairs(pairs, modes))


def _of_modes(pairs: Sequence[JudgedPair]) -> list[ModeClaim]:
    positions: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for position, one in enumerate(pairs):
        positions[one.mode, one.metric, one.index].append(position)
    across = across_machines([[_evidence(pairs[at]) for at in its] for its in positions.values()])
    return [
        ModeClaim(*key, tuple(its), one)
        for (key, its), one in zip(positions.items(), across, strict=True)
    ]


def _of_pairs(pairs: Sequence[JudgedPair], claims: Sequence[ModeClaim]) -> Headline:
    """The verdict of each pair, as far as it may be said of that machine alone."""
    alone: dict[int, Verdict] = {}
    for claim in claims:
        alone |= dict(zip(claim.positions, claim.across.verdicts, strict=True))
    verdicts = (alone[position] for position in range(len(pairs)))
    return Headline(tuple(verdicts), tuple(one.judged.verdict for one in pairs))


def _evidence(pair: JudgedPair) -> Evidence:
    one = pair.judged
    return Evidence(
        look=one.look,
        estimate=estimate_of(one.percent, one.low, one.high, one.df),
        builds=one.builds,
        from_history=one.build_noise is not None,
        is_open=one.one_build or one.runs_disagree,
        better=pair.better,
        margin=one.margin,
    )


def one_build_lines(finding: Finding) -> Sequence[str]:
    """How sure it is, by what belief, and what would settle it; nothing where the detector found it
    or nothing open is left to say.
    """
    facts = finding.one_build
    if facts is None or finding.state != Finding.State.ONE_BUILD:
        return []
    return [
        CAVEAT if facts["builds_after"] == 1 else f"{_builds(facts)} do not settle it yet.",
        _chance(facts),
        _size(facts),
        _belief(facts),
        what_settles(str(finding.revision), str(finding.previous)),
    ]


def _builds(facts: Mapping[str, Any]) -> str:
    before, after = facts["builds_before"], facts["builds_after"]
    return f"{before} build{'' if before == 1 else 's'} before and {after} from it on"


def _chance(facts: Mapping[str, Any]) -> str:
    pairs, limit = facts["pairs"], f"limit {_share(facts['limit'])}"
    if pairs > 1:
        limit += f"; {_share(LIMIT_OF_COMMIT)} for the {pairs} pairs of this commit together"
    chance = _share(facts["chance"])
    return f"Without a change, a loss as large is seen with a chance of {chance} ({limit})."


def _size(facts: Mapping[str, Any]) -> str:
    sure = abs(facts["sure_pct"])
    return f"Its size, with the builds' scatter counted, is at least {sure:.1f} % with 95 %."


def _belief(facts: Mapping[str, Any]) -> str:
    median, spread, turning = facts["median_pct"], facts["spread"], facts["turning_pct"]
    return (
        f"Believed: builds scatter by {median:.2g} %, in two series of three within × {spread:.2g} "
        f"of it. If they scatter by {turning:.1f} % or more here, it would not be an alert."
    )


def _share(chance: float) -> str:
    return f"{100 * chance:.2g} %"
