"""Writes to series that come from nowhere but an operator."""

from collections.abc import Iterable

from django.db import transaction

from webapp.results.models import Series
from webapp.results.services.locks import begin_writing, lock_series_ids
from webapp.results.services.points import mark_dirty


@transaction.atomic
def set_direction(*, series: Series, better: str) -> None:
    """Say which way is better in ``series``, empty meaning that of its metric; it is analysed anew,
    and what is concluded turns round. What was said before, in mails, stays as it was said.
    """
    begin_writing()
    lock_series_ids(pk=series.pk)
    Series.objects.filter(pk=series.pk).update(own_better=better)
    mark_dirty({series.pk: 0})


@transaction.atomic
def analyse_again(*, series: Iterable[int]) -> int:
    """Mark series (ids) dirty from their first point on; the number of those there are.

    The next sweep finds them.
    """
    begin_writing()
    found = lock_series_ids(pk__in=list(series))
    if found:
        mark_dirty(dict.fromkeys(found, 0))
    return len(found)
