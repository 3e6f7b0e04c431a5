"""Another name for a revision, which may have come before the revision was known by it."""

from collections.abc import Sequence

from django.db import transaction

from webapp.results.models import PlaceProposal, Revision, RevisionAlias
from webapp.results.services.aliases import file_by_names
from webapp.results.services.merging import begin_merge, hand_over, move_runs

GOES = PlaceProposal._meta.get_field("revision")  # noqa: SLF001 (documented)


@transaction.atomic
def answer_to(*, revision: Revision, names: Sequence[str]) -> None:
    """Let ``revision`` answer to ``names`` as well. Runs that were sent as one of them before, and
    wait with it for its place, are runs of ``revision``. A name that another placed revision bears
    stays that one's.
    """
    waiting = Revision.objects.waiting().filter(tree=revision.tree_id, name__in=names)
    for row in waiting.exclude(pk=revision.pk):
        begin_merge(row, revision)
        move_runs(row, revision)
        hand_over(row, revision, goes=[GOES])
        row.delete()
    RevisionAlias.objects.bulk_create(
        [RevisionAlias(tree_id=revision.tree_id, revision=revision, name=name) for name in names],
        ignore_conflicts=True,
    )
    file_by_names(revision.runs.values_list("pk", flat=True))
