"""Analyse series anew, with progress; safe to interrupt."""

import sys
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count
from django.utils import timezone

from webapp.alerts.services.analysing import analyse_stale_series
from webapp.analysis.models import Finding, FindingEvent, SeriesAnalysis
from webapp.analysis.services import mark_stale
from webapp.results.models import Series


class Command(BaseCommand):
    help = (
        "Analyse series anew, from their first point on. Without options: those that an earlier "
        "version of the method analysed, as the worker does by itself after an upgrade. At the end "
        "it counts the findings that changed, by kind. Nobody is notified of what changes by it. "
        "Interrupt it at any time: the worker does what is left."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="every series")
        parser.add_argument("--tree", help="every series of a tree")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["all"] or options["tree"] is not None:
            mark_stale(_chosen(tree=options["tree"]))
        self._follow(SeriesAnalysis.objects.stale().count())

    def _follow(self, count: int) -> None:
        """Analyse what is marked beside the worker, which takes its share, and print how far it is.

        The worker may hold the last ones; they are its own to finish.
        """
        begun = timezone.now()
        while analyse_stale_series():
            left = SeriesAnalysis.objects.stale().count()
            self.stderr.write(f"{max(count - left, 0)} of {count} series analysed", ending=_ENDING)
        if _ENDING == "\r":
            self.stderr.write("")
        left = SeriesAnalysis.objects.stale().count()
        self.stdout.write(f"{max(count - left, 0)} series analysed anew")
        for line in _changed_since(begun):
            self.stdout.write(line)
        if left:
            self.stderr.write(f"{left} are left to the worker, which holds them or has newer runs")


_ENDING = "\r" if sys.stderr.isatty() else "\n"


def _changed_since(begun: datetime) -> list[str]:
    """How many findings of each kind became what since then."""
    rows = (
        FindingEvent.objects.filter(at__gte=begun)
        .order_by("finding__kind", "kind")
        .values_list("finding__kind", "kind")
        .annotate(count=Count("finding", distinct=True))
    )
    names = dict(Finding.Kind.choices)
    return [f"{names[kind]}: {count} {what}" for kind, what, count in rows]


def _chosen(*, tree: str | None) -> Any:
    if tree is None:
        return Series.objects.values_list("pk", flat=True)
    found = Series.objects.filter(tree__name=tree).values_list("pk", flat=True)
    if not found:
        raise CommandError(f"no series of a tree {tree!r}; see the names with GET /api/v1/series")
    return found
