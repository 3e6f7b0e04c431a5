"""What there is to choose from on the trend page, kept while the instance has the same series."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q

from webapp.pages.parts.kept import Kept
from webapp.results.models import Metric, Series, Tree

SECONDS = 60.0


class Measured(NamedTuple):
    """A series that can be chosen."""

    pk: int
    hardware: str
    mode: str
    simulated: bool


Subject = tuple[str, str]
"""The names of hardware and mode."""


class Offer(NamedTuple):
    """What there is to choose from in one tree and metric. ``costs`` are the series (ids) of what
    options cost, by hardware and the mode with the option.
    """

    hardware: list[str]
    modes: list[str]
    metrics: Sequence[Metric]
    measured: Sequence[Measured]
    costs: Mapping[Subject, Sequence[int]]


TREES: Kept[list[Tree]] = Kept(most=2, seconds=SECONDS)
METRICS: Kept[list[Metric]] = Kept(most=16, seconds=SECONDS)
OFFERS: Kept[Offer] = Kept(most=16, seconds=SECONDS)
"""By the stamp of `webapp.events.queries.chart_stamp`, and what they are of."""


def trees(stamp: str) -> list[Tree]:
    """All trees, each with ``is_measured``."""
    series = Series.objects.plain().filter(tree=OuterRef("pk"))
    return TREES.get(stamp, lambda: list(Tree.objects.annotate(is_measured=Exists(series))))


def metrics(stamp: str, tree: Tree) -> list[Metric]:
    """Those measured along ``tree``, and behind them what options cost."""
    found = Metric.objects.filter(series__tree=tree, series__variant=None).distinct()
    found = found.order_by(F("of").asc(nulls_first=True), "name")
    return METRICS.get((stamp, tree.pk), lambda: list(found))


def offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    """The plain series of ``metric`` along ``tree``, and the names that they have."""
    return OFFERS.get((stamp, tree.pk, metric.pk), lambda: _offer(stamp, tree, metric))


def _offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    rows = (
        Series.objects.plain()
        .filter(Q(metric=metric) | Q(metric__of=metric), tree=tree)
        .order_by("hardware__name", "mode__name", "pk")
        .values_list("pk", "hardware__name", "mode__name", "hardware__lab__simulated", "metric")
    )
    measured: list[Measured] = []
    costs: dict[Subject, list[int]] = defaultdict(list)
    for pk, hardware, mode, simulated, of in rows:
        one = Measured(pk, hardware, mode, simulated)
        if of == metric.pk:
            measured.append(one)
        else:
            costs[one.hardware, one.mode].append(one.pk)
    return Offer(
        hardware=sorted({one.hardware for one in measured}),
        modes=sorted({one.mode for one in measured}),
        metrics=metrics(stamp, tree),
        measured=measured,
        costs=costs,
    )
