"""A bisect in a line: shared by the list, the overview, and the pages of alerts and commits."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.bisects.models import Bisect, BisectDecision
from webapp.bisects.queries import NOT_YET, with_what_is_left


@dataclass(frozen=True, slots=True)
class BisectLine:
    """A bisect with what it last said."""

    bisect: Bisect
    sentence: str


def lines_of(bisects: Sequence[Bisect]) -> list[BisectLine]:
    """The lines of ``bisects`` in their order, in one query."""
    if not bisects:
        return []
    rows = BisectDecision.objects.filter(bisect__in=bisects)
    latest = rows.order_by("bisect_id", "-number").distinct("bisect_id")
    sentences = {row.bisect_id: with_what_is_left(row.figures) for row in latest}
    return [BisectLine(one, sentences.get(one.pk, NOT_YET)) for one in bisects]
