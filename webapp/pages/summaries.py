"""What a commit did, over all series that were compared at it: shared by several pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.alerts.queries import Suspicion, suspicions_of_findings
from webapp.analysis.models import Comparison, Finding, Tally, Verdict
from webapp.charts.text import MARKS
from webapp.results.models import Revision, Series

BY_MINISTAT = "ministat"
"""What is said of a flag in a series too young for the detector."""


@dataclass(frozen=True, slots=True)
class Largest:
    """The change that stands for a commit. ``basis`` is the state of its finding, or ministat;
    ``percent_error`` half its 95 % interval.
    """

    series: Series
    verdict: str
    percent: float | None
    percent_error: float | None
    basis: str

    @property
    def is_worse(self) -> bool:
        """Whether the verdict is *worse*."""
        return self.verdict == Verdict.WORSE


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """What is flagged at one revision, over all series, the largest change among it, and which
    commits that may have begun at.
    """

    revision: Revision
    tally: Tally
    largest: Largest | None = None
    suspicion: Suspicion | None = None

    @property
    def is_cause(self) -> bool:
        """Whether the change may be called this commit's: no other shares the suspicion."""
        return self.suspicion is None or self.suspicion.commit is not None

    @property
    def text(self) -> str:
        """The verdict over all series, in a word or two."""
        tally = self.tally
        if tally.regressed and tally.improved:
            return "mixed"
        if tally.regressed:
            return "regression"
        if tally.improved:
            return "improvement"
        if not tally.compared:
            return "not compared"
        return "cannot tell" if tally.cannot_tell == tally.compared else "no change flagged"

    @property
    def marks(self) -> str:
        """The marks of the verdicts it holds, for those who do not see colours."""
        return "".join(
            MARKS[verdict]
            for verdict, is_there in (
                (Verdict.WORSE, self.tally.regressed),
                (Verdict.BETTER, self.tally.improved),
                (Verdict.CANNOT_TELL, self.text == Verdict.CANNOT_TELL),
            )
            if is_there
        )

    @property
    def css_class(self) -> str:
        """The CSS class of the verdicts together."""
        classes = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
        return classes.get(self.text, "cannot-tell")


def summarise(revisions: Sequence[Revision]) -> list[CommitSummary]:
    """The summaries of ``revisions`` in their order, in five queries."""
    ids = [revision.pk for revision in revisions]
    of_these = Comparison.objects.filter(revision__in=ids)
    tallies = of_these.tallies()
    flagged = of_these.flagged().with_subjects().largest_of_each_revision()
    live = Finding.objects.live().filter(revision__in=ids).with_subjects()
    rows = list(live.largest_of_each_revision().with_revisions())
    found = {row.revision_id: _of_finding(row) for row in rows}
    suspicions = suspicions_of_findings(rows)
    shared = {row.revision_id: suspicions[row.pk] for row in rows}
    young = {row.revision_id: _of_comparison(row) for row in flagged}
    return [
        CommitSummary(
            revision,
            tallies.get(revision.pk, Tally()),
            _larger(found.get(revision.pk), young.get(revision.pk)),
            shared.get(revision.pk),
        )
        for revision in revisions
    ]


def _larger(found: Largest | None, flagged: Largest | None) -> Largest | None:
    """The finding, unless only what ministat flags is worse. Flags follow findings, so a flag
    that is worse where no finding is comes from a series that the detector cannot judge yet.
    """
    if found is None or flagged is None:
        return found or flagged
    return flagged if flagged.is_worse and not found.is_worse else found


def _of_finding(row: Finding) -> Largest:
    ends = (row.low_pct, row.high_pct)
    half = (ends[1] - ends[0]) / 2 if ends[0] is not None and ends[1] is not None else None
    return Largest(row.series, row.verdict, row.change_pct, half, row.state)


def _of_comparison(row: Comparison) -> Largest:
    return Largest(row.series, row.verdict, row.percent, row.percent_error, BY_MINISTAT)
