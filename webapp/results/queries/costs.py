"""The series that a cost follows from."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from webapp.results.models import Series

PARENTS = """
SELECT cost.id, with_it.id, without.id
  FROM results_series AS cost
  JOIN results_metric AS metric ON metric.id = cost.metric_id
  JOIN results_mode AS mode ON mode.id = cost.mode_id
  JOIN results_series AS with_it
    ON with_it.tree_id = cost.tree_id AND with_it.hardware_id = cost.hardware_id
   AND with_it.mode_id = cost.mode_id AND with_it.metric_id = metric.of_id
   AND with_it.variant_id IS NULL
  JOIN results_mode AS plainer
    ON plainer.workload = mode.workload AND plainer.traffic = mode.traffic
   AND plainer.options = array_remove(mode.options, metric.option)
  JOIN results_series AS without
    ON without.tree_id = cost.tree_id AND without.hardware_id = cost.hardware_id
   AND without.mode_id = plainer.id AND without.metric_id = metric.of_id
   AND without.variant_id IS NULL
 WHERE cost.id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Parents:
    """The series (ids) that were measured with and without the option."""

    with_it: int
    without: int


def parents_of(series: Iterable[Series]) -> dict[int, Parents]:
    """Of those of ``series``, with their metrics, that are costs and have both parents, by id. One
    query, none where there is no cost.
    """
    costs = [one.pk for one in series if one.is_cost]
    if not costs:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(PARENTS, [costs])
        return {pk: Parents(with_it, without) for pk, with_it, without in cursor.fetchall()}
