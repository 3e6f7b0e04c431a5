"""What the change detector says of one commit, over all series that received it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

from webapp.alerts.queries.finding_at import FindingAt, findings_suspecting
from webapp.alerts.queries.suspicion import Suspicion, suspicions_of_findings
from webapp.analysis.models import SeriesAnalysis, Verdict
from webapp.results.models import Revision
from webapp.results.queries import NamedSeries
from webapp.stats.changes import TOO_FEW, Analysis, At, Gate, Noise, Segment, gate_among, why_not_at

NOT_ANALYSED = "Not analysed yet."


class Gated(NamedTuple):
    """A finding first seen at the commit, its place among all that received it, and which commits
    it may have begun at.
    """

    finding: FindingAt
    gate: Gate
    suspicion: Suspicion


class Suspecting(NamedTuple):
    """A finding that another revision showed first, of which the commit may be the cause."""

    finding: FindingAt
    suspicion: Suspicion


@dataclass(frozen=True, slots=True)
class Detected:
    """The detector's word on one commit.

    ``begun`` are seen here first, those for the worse and the most striking first. ``sharing`` lie
    in a step that this commit shares: nobody measured it, so it is as likely as the one that shows
    them first. Of ``suspected`` another is likelier. ``received`` series were measured here.
    """

    begun: Sequence[Gated]
    sharing: Sequence[Suspecting]
    suspected: Sequence[Suspecting]
    received: int

    @property
    def let_through(self) -> Sequence[Gated]:
        """The findings that a headline may tell: those that the gate for false discoveries lets
        through, and one build a side, which has a limit of its own.
        """
        return [one for one in self.begun if one.gate.passes or one.finding.was_one_build]

    @property
    def gated(self) -> Sequence[Gated]:
        """Those of ``begun`` that the gate is for."""
        return [one for one in self.begun if not one.finding.was_one_build]

    @property
    def passed(self) -> int:
        """How many of them the gate lets through."""
        return sum(one.gate.passes for one in self.gated)


def passing(findings: Sequence[tuple[Verdict, float]], received: int) -> set[Verdict]:
    """The verdicts, with their p-values, that a headline may tell of the findings at a commit.

    ``received`` series have a revision before it to be compared with.
    """
    gates = gate_among([p_value for _, p_value in findings], received)
    return {verdict for (verdict, _), its in zip(findings, gates, strict=True) if its.passes}


def detected_at(
    commit: Revision, received: Collection[int], known: Mapping[int, NamedSeries]
) -> Detected:
    """The findings at ``commit``, gated over the series (ids) that received it; two queries, and
    one more where there is any, however many there are, and one for series that are not ``known``.

    A finding begins at a measured revision of its series, so its series is among ``received``.
    """
    found = findings_suspecting(commit, known)
    begun = {row.series.pk: row for row in found if row.revision.pk == commit.pk}
    looks = len(set(received) | begun.keys())
    gates = _gates(list(begun.values()), looks)
    suspicions = suspicions_of_findings(found)
    ranked = [Gated(row, gates[row.pk], suspicions[row.pk]) for row in begun.values()]
    elsewhere = [
        Suspecting(row, suspicions[row.pk]) for row in found if row.revision.pk != commit.pk
    ]
    shares = [_shares(one.finding, commit) for one in elsewhere]
    return Detected(
        begun=sorted(ranked, key=_weight),
        sharing=list(compress(elsewhere, shares)),
        suspected=[one for one, does in zip(elsewhere, shares, strict=True) if not does],
        received=looks,
    )


def _gates(begun: Sequence[FindingAt], looks: int) -> dict[int, Gate]:
    """The gate of each finding (id) among ``looks`` series. One build a side, which has a limit of
    its own, is gated by itself and moves no other.
    """
    rows = [row for row in begun if not row.was_one_build]
    alone = [row for row in begun if row.was_one_build]
    gates = gate_among([row.p_value for row in rows], looks)
    found = {row.pk: gate for row, gate in zip(rows, gates, strict=True)}
    return found | {row.pk: gate_among([row.p_value], looks)[0] for row in alone}


def _shares(row: FindingAt, commit: Revision) -> bool:
    """Whether ``commit`` lies in the step that the finding most likely is."""
    return row.previous.position < commit.position < row.revision.position


def _weight(one: Gated) -> tuple[bool, int]:
    return one.finding.verdict != Verdict.WORSE, one.gate.rank


def why_not(commit: Revision, series: Collection[int]) -> dict[int, str]:
    """For each series (id) the sentence that says why nothing is reported at ``commit``."""
    rows = SeriesAnalysis.objects.filter(series__in=series).values_list("series_id", "summary")
    summaries: dict[int, dict[str, Any]] = dict(rows)
    return {pk: _why_not(summaries.get(pk) or {}, commit.position) for pk in series}


def _why_not(summary: Mapping[str, Any], position: int) -> str:
    if not summary:
        return NOT_ANALYSED
    newest = summary["newest"]
    if newest is None:
        return TOO_FEW
    if position >= newest["revision"]["position"]:
        return str(summary["why_not"])
    return why_not_at(_levels_of(summary), position)


def _levels_of(summary: Mapping[str, Any]) -> Analysis:
    """As much of a stored analysis as the sentence about an earlier revision needs."""
    noise = summary["noise"]
    return Analysis(
        count=summary["count"],
        changes=(),
        segments=tuple(_segment(one) for one in summary["segments"]),
        noise=noise and Noise(**noise),
        smallest=None,
        newest=None,
        is_bimodal=summary["is_bimodal"],
        is_drifting=summary["is_drifting"],
        retracted=(),
        left_out=(),
    )


def _segment(stored: Mapping[str, Any]) -> Segment:
    return Segment(**{**stored, "first": At(**stored["first"]), "last": At(**stored["last"])})
