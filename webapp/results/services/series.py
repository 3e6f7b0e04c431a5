"""Writes to series that come from nowhere but an operator."""

from collections.abc import Iterable

from django.db import transaction

from webapp.results.services.pooling import mark_dirty
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.subjects import lock_series_ids


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
