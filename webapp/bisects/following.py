"""Bisects of what an operator merges: they go on, about what is left."""

from django.db.models import F, Func, Model, Value

from webapp.bisects.models import Bisect, BisectAct, BisectBoot
from webapp.results.models import Revision
from webapp.results.services.following import goes_over, on_merged

goes_over(Bisect, "series", "good", "bad", "culprit")
goes_over(BisectBoot, "revision")
goes_over(BisectAct, "revision")


@on_merged
def rename_along(source: Model, into: Model) -> None:
    """Revisions are also held by the ids along a bisect. Their indices stay, and so its words."""
    if not isinstance(source, Revision):
        return
    for column in ("along", "suspects"):
        held = Bisect.objects.filter(**{f"{column}__contains": [source.pk]})
        ids = Func(F(column), Value(source.pk), Value(into.pk), function="array_replace")
        held.update(**{column: ids})
