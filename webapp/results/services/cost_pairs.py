"""Which series are measured with an option and without it, of those that changed."""

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from webapp.results.models import ModeName, Series
from webapp.results.services.database import fetch_rows

FEWEST_REVISIONS = 5
"""Revisions that must have been measured both with and without: the detector asks as many of a
series before it says anything."""

# Every batch of an analysis asks this, so it must cost nothing where no option exists.
MODES = """
SELECT id, workload, traffic, options FROM results_mode
 WHERE cardinality(options) > 0 OR id = ANY(%s)
"""
# Points that disagree take no part; LIMIT, because only the first shared revisions are of interest.
PAIRS = """
SELECT DISTINCT with_it.id, without.id, with_it.tree_id, with_it.hardware_id, with_it.mode_id,
       with_it.metric_id, with_it.own_better, asked.option, shared.revisions,
       LEAST(with_it.dirty_from, without.dirty_from)
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
       AS asked (tree, hardware, metric, mode, base, option)
  JOIN results_mode AS base ON base.name = asked.base
  JOIN results_series AS with_it
    ON with_it.tree_id = asked.tree AND with_it.hardware_id = asked.hardware
   AND with_it.mode_id = asked.mode AND with_it.metric_id = asked.metric
   AND with_it.variant_id IS NULL
  JOIN results_series AS without
    ON without.tree_id = asked.tree AND without.hardware_id = asked.hardware
   AND without.mode_id = base.id AND without.metric_id = asked.metric
   AND without.variant_id IS NULL
 CROSS JOIN LATERAL (
       SELECT count(*) AS revisions
         FROM (SELECT FROM results_point AS one
                 JOIN results_point AS two
                   ON two.revision_id = one.revision_id AND two.series_id = without.id
                  AND NOT two.disagrees
                WHERE one.series_id = with_it.id AND NOT one.disagrees
                LIMIT %s) AS first) AS shared
"""
FORSAKEN = """
SELECT cost.id FROM results_series AS cost
  JOIN results_metric AS metric ON metric.id = cost.metric_id
  JOIN results_mode AS mode ON mode.id = cost.mode_id
 WHERE cost.id = ANY(%s) AND metric.of_id IS NOT NULL
   AND NOT (metric.option = ANY(mode.options)
            AND EXISTS (
                SELECT FROM results_series AS with_it
                 WHERE with_it.tree_id = cost.tree_id AND with_it.mode_id = cost.mode_id
                   AND with_it.hardware_id = cost.hardware_id
                   AND with_it.metric_id = metric.of_id AND with_it.variant_id IS NULL)
            AND EXISTS (
                SELECT FROM results_series AS without
                  JOIN results_mode AS plainer ON plainer.id = without.mode_id
                 WHERE without.tree_id = cost.tree_id AND without.hardware_id = cost.hardware_id
                   AND without.metric_id = metric.of_id AND without.variant_id IS NULL
                   AND plainer.workload = mode.workload AND plainer.traffic = mode.traffic
                   AND plainer.options = array_remove(mode.options, metric.option)))
"""


Key = tuple[int, int, int, int, str]
"""Tree, hardware, mode and the metric it is the cost in (ids), and the option."""


class Pair(NamedTuple):
    """Series (ids) with and without ``option``, and what their cost is filed under. ``revisions``
    that both have, counted up to `FEWEST_REVISIONS`; ``since``: the lowest position that changed.
    """

    with_it: int
    without: int
    tree: int
    hardware: int
    mode: int
    metric: int
    own_better: str
    option: str
    revisions: int
    since: int | None

    @property
    def key(self) -> Key:
        """What tells its cost from others."""
        return self.tree, self.hardware, self.mode, self.metric, self.option

    @property
    def is_complete(self) -> bool:
        """Whether enough revisions have both."""
        return self.revisions >= FEWEST_REVISIONS


@dataclass(frozen=True, slots=True)
class Changed:
    """What is to be renewed: the pairs of changed series, and costs (ids) that lost a parent."""

    pairs: Sequence[Pair]
    forsaken: Sequence[int]


def changed_costs(changed: Sequence[Series]) -> Changed:
    """What follows from ``changed`` series, with their metrics. One statement where no mode of
    theirs was measured with an option more or less, and none of them is a cost.
    """
    costs = [one.pk for one in changed if one.is_cost]
    measured = [one for one in changed if not one.is_cost and one.is_plain]
    forsaken = fetch_rows(FORSAKEN, costs) if costs else []
    return Changed(_pairs_of(measured), [pk for (pk,) in forsaken])


def _pairs_of(measured: Sequence[Series]) -> list[Pair]:
    """The pairs that any of the series is a part of."""
    if not measured:
        return []
    of_mode = _options_of({one.mode_id for one in measured})
    asked = {
        (one.tree_id, one.hardware_id, one.metric_id, *pair)
        for one in measured
        for pair in of_mode.get(one.mode_id, ())
    }
    if not asked:
        return []
    columns = map(list, zip(*sorted(asked), strict=True))
    return [Pair(*row) for row in fetch_rows(PAIRS, *columns, FEWEST_REVISIONS)]


def _options_of(modes: AbstractSet[int]) -> dict[int, list[tuple[int, str, str]]]:
    """By the mode (id) that has an option, or that is without one of another mode's: the mode with
    it (id), the name without it, and the option.
    """
    rows = fetch_rows(MODES, list(modes))
    parts = {pk: ModeName.of(*names) for pk, *names in rows}
    ids = {str(name): pk for pk, name in parts.items()}
    found: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for pk, name in parts.items():
        for option in name.options:
            base = str(name.without(option))
            for one in {pk, ids.get(base)} & modes:
                found[one].append((pk, base, option))
    return found
