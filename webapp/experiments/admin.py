"""Experiments to look at; people act on them at /experiments/."""

from django.contrib import admin

from webapp.accounts.admin import ReadOnlyAdmin, ReadOnlyInline
from webapp.experiments.models import Cell, Experiment, ExperimentEvent, Side


class SideInline(ReadOnlyInline):
    model = Side
    fields = ["order", "label", "revision", "variant", "mode", "options", "session"]


class EventInline(ReadOnlyInline):
    model = ExperimentEvent
    fields = ["at", "kind", "actor", "text"]
    readonly_fields = ["at"]


@admin.register(Experiment)
class ExperimentAdmin(ReadOnlyAdmin):
    """Its cells, of which there may be hundreds, have a list of their own."""

    list_display = ["pk", "question", "state", "tree", "lab", "owner", "margin_pct", "asof"]
    list_display_links = ["pk", "question"]
    list_filter = ["state", "tree", "lab"]
    list_select_related = ["tree", "lab", "owner"]
    search_fields = ["question", "source"]
    ordering = ["-pk"]
    inlines = [SideInline, EventInline]


@admin.register(Cell)
class CellAdmin(ReadOnlyAdmin):
    """What each experiment compares, and how it is judged."""

    list_display = ["__str__", "experiment", "order", "margin_pct", "build_noise_pct"]
    list_filter = ["metric"]
    list_select_related = ["experiment", "hardware", "mode", "metric"]
    search_fields = ["experiment__question", "hardware__name", "mode__name"]
    ordering = ["-experiment", "order"]
