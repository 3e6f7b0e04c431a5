"""What a commit did, over all series that were compared at it: shared by several pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts.text import MARKS
from webapp.regressions.models import Comparison, Tally, Verdict
from webapp.results.models import Revision


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """What the comparisons at one revision say together, and the largest flagged change."""

    revision: Revision
    tally: Tally
    largest: Comparison | None = None

    @property
    def words(self) -> str:
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
                (Verdict.CANNOT_TELL, self.words == Verdict.CANNOT_TELL),
            )
            if is_there
        )

    @property
    def css_class(self) -> str:
        classes = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
        return classes.get(self.words, "cannot-tell")


def summarise(revisions: Sequence[Revision]) -> list[CommitSummary]:
    """The summaries of ``revisions`` in their order, in two queries."""
    ids = [revision.pk for revision in revisions]
    of_these = Comparison.objects.filter(revision__in=ids)
    tallies = of_these.tallies()
    flagged = of_these.flagged().with_subjects().largest_of_each_revision()
    largest = {row.revision_id: row for row in flagged}
    return [
        CommitSummary(revision, tallies.get(revision.pk, Tally()), largest.get(revision.pk))
        for revision in revisions
    ]
