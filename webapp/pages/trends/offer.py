"""What there is to choose from on the trend page, kept while the instance has the same series."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from webapp.pages.parts.kept import Kept
from webapp.results.models import Metric, Series, Tree

SECONDS = 60.0


class Measured(NamedTuple):
    """A series that can be chosen."""

    pk: int
    hardware: str
    mode: str
    simulated: bool


class Offer(NamedTuple):
    """What there is to choose from in one tree and metric."""

    hardware: list[str]
    modes: list[str]
    metrics: Sequence[Metric]
    measured: Sequence[Measured]


TREES: Kept[list[Tree]] = Kept(most=2, seconds=SECONDS)
METRICS: Kept[list[Metric]] = Kept(most=16, seconds=SECONDS)
OFFERS: Kept[Offer] = Kept(most=16, seconds=SECONDS)
"""By the stamp of `webapp.events.queries.chart_stamp`, and what they are of."""


def trees(stamp: str) -> list[Tree]:
    """All trees, each with ``is_measured``."""
    series = Series.objects.plain().filter(tree=OuterRef("pk"))
    return TREES.get(stamp, lambda: list(Tree.objects.annotate(is_measured=Exists(series))))


def metrics(stamp: str, tree: Tree) -> list[Metric]:
    """Those measured along ``tree``."""
    found = Metric.objects.filter(series__tree=tree, series__variant=None).distinct()
    return METRICS.get((stamp, tree.pk), lambda: list(found))


def offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    """The plain series of ``metric`` along ``tree``, and the names that they have."""
    return OFFERS.get((stamp, tree.pk, metric.pk), lambda: _offer(stamp, tree, metric))


def _offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    measured = [
        Measured(*row)
        for row in Series.objects.plain()
        .filter(tree=tree, metric=metric)
        .order_by("hardware__name", "mode__name")
        .values_list("pk", "hardware__name", "mode__name", "hardware__lab__simulated")
    ]
    return Offer(
        hardware=sorted({one.hardware for one in measured}),
        modes=sorted({one.mode for one in measured}),
        metrics=metrics(stamp, tree),
        measured=measured,
    )
