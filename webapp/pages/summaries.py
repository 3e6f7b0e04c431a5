"""What a commit did, over all series that were compared at it: shared by several pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.regressions.models import Comparison
from webapp.results.models import Revision


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """Counts of comparisons at one revision, and the one with the largest flagged change."""

    revision: Revision
    compared: int = 0
    regressed: int = 0
    improved: int = 0
    cannot_tell: int = 0
    largest: Comparison | None = None

    @property
    def words(self) -> str:
        """The verdict over all series, in a word or two."""
        if self.regressed and self.improved:
            return "mixed"
        if self.regressed:
            return "regression"
        if self.improved:
            return "improvement"
        if not self.compared:
            return "nothing to compare with"
        return "cannot tell" if self.cannot_tell == self.compared else "no change flagged"

    @property
    def verdict(self) -> str:
        """The verdict whose colour and mark go with the words; empty for none."""
        marks = {"mixed": "worse", "regression": "worse", "improvement": "better"}
        return marks.get(self.words, "cannot tell" if self.words == "cannot tell" else "")


def summarise(revisions: Sequence[Revision]) -> list[CommitSummary]:
    """The summaries of ``revisions`` in their order, in two queries."""
    ids = [revision.pk for revision in revisions]
    of_these = Comparison.objects.filter(revision__in=ids)
    tallies = {row.pop("revision_id"): row for row in of_these.tallied()}
    flagged = of_these.flagged().with_subjects().largest_of_each_revision()
    largest = {row.revision_id: row for row in flagged}
    return [
        CommitSummary(
            revision=revision,
            largest=largest.get(revision.pk),
            **tallies.get(revision.pk, {}),
        )
        for revision in revisions
    ]
