"""Analyse series anew, with progress; safe to interrupt."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.services import mark_for_analysis
from webapp.results.models import Series
from webapp.stats import changes


class Command(BaseCommand):
    help = (
        "Analyse series anew, from their first point on. Without options: those that another "
        "version of the method analysed. Interrupt it at any time: what is left stays marked, and "
        "the worker's sweep or the next call finishes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="every series")
        parser.add_argument("--tree", help="every series of a tree")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = list(_chosen(whole=options["all"], tree=options["tree"]))
        mark_for_analysis(chosen)
        self._follow(len(chosen))

    def _follow(self, count: int) -> None:
        """Analyse what is marked beside the worker, which takes its share, and say how far it is.

        The worker may hold the last ones; they are its own to finish.
        """
        while analyse_dirty_series().finished:
            left = Series.objects.dirty().count()
            self.stderr.write(f"{max(count - left, 0)} of {count} series analysed", ending=_ENDING)
        if _ENDING == "\r":
            self.stderr.write("")
        self.stdout.write(f"{count} series analysed anew")


_ENDING = "\r" if sys.stderr.isatty() else "\n"


def _chosen(*, whole: bool, tree: str | None) -> Any:
    if whole:
        return Series.objects.values_list("pk", flat=True)
    if tree is not None:
        found = Series.objects.filter(tree__name=tree).values_list("pk", flat=True)
        if not found:
            raise CommandError(
                f"no series of a tree {tree!r}; see the names with GET /api/v1/series"
            )
        return found
    old = SeriesAnalysis.objects.exclude(detector=changes.VERSION)
    return old.values_list("series_id", flat=True)
