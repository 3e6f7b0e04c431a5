"""What the change detector says of one commit, over all series that received it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.regressions.models import Finding, SeriesAnalysis, Verdict
from webapp.results.models import Revision
from webapp.stats.changes.explain import TOO_FEW, why_not_at
from webapp.stats.changes.false_discovery import Gate, gate
from webapp.stats.changes.findings import Analysis, At, Noise, Segment

NO_EVIDENCE = 1.0
"""The p-value that stands for a series without a finding at the commit."""

NOT_ANALYSED = "Not analysed yet."


@dataclass(frozen=True, slots=True)
class Gated:
    """A finding that most likely begins at the commit, and its place among all that received it."""

    finding: Finding
    gate: Gate


@dataclass(frozen=True, slots=True)
class Detected:
    """The detector's word on one commit.

    ``begun`` most likely began here, those for the worse and the most striking first;
    ``suspected`` may have (the commit lies in their interval of suspects), though another is
    likelier. ``received`` series were measured at the commit.
    """

    begun: Sequence[Gated]
    suspected: Sequence[Finding]
    received: int

    @property
    def passed(self) -> int:
        """How many findings the gate for false discoveries lets through."""
        return sum(one.gate.passes for one in self.begun)


def detected_at(commit: Revision, received: Collection[int]) -> Detected:
    """The findings at ``commit``, gated over the series (ids) that received it; one query.

    A finding begins at a measured revision of its series, so its series is among ``received``.
    """
    live = Finding.objects.live().suspecting(commit.tree, commit.position)
    found = list(live.with_revisions().with_subjects())
    begun = {row.series_id: row for row in found if row.revision_id == commit.pk}
    others = sorted(set(received) - begun.keys())
    p_values = [row.p_value for row in begun.values()]
    gates = gate([*p_values, *(NO_EVIDENCE for _ in others)])
    ranked = [Gated(*pair) for pair in zip(begun.values(), gates, strict=False)]
    return Detected(
        begun=sorted(ranked, key=_weight),
        suspected=[row for row in found if row.revision_id != commit.pk],
        received=len(begun) + len(others),
    )


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
