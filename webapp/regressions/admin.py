"""Pages of what was concluded, to look at; and the settings of series."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from webapp.accounts.operators import Admin, ModelForm, ReadOnlyAdmin
from webapp.regressions import services
from webapp.regressions.models import (
    Comparison,
    Finding,
    MinEffect,
    SeriesAnalysis,
    SeriesSettings,
)
from webapp.regressions.services import alerts
from webapp.results.models import Tree

PARTS = [f"series__{part}" for part in ("tree", "hardware", "mode", "metric")]


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = ["series", "revision", "previous", "percent", "percent_error", "verdict", "flag"]
    list_filter = ["flag", "verdict", "series__tree", "series__metric"]
    list_select_related = ["revision", "previous", *PARTS]
    search_fields = ["=revision__name", "series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(SeriesAnalysis)
class SeriesAnalysisAdmin(ReadOnlyAdmin):
    list_display = ["series", "version", "analysed_at"]
    list_select_related = PARTS
    search_fields = ["series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin):
    list_display = ["series", "revision", "verdict", "state", "change_pct", "probability"]
    list_filter = ["state", "verdict", "series__tree", "series__metric"]
    list_select_related = ["revision", *PARTS]
    search_fields = ["=revision__name", "series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(SeriesSettings)
class SeriesSettingsAdmin(Admin):
    """Direction, margin, smallest effect and canary of a series; saving has it analysed anew."""

    list_display = ["series", "better", "margin_pct", "min_effect_pct", "is_canary"]
    list_filter = ["is_canary"]
    list_select_related = PARTS
    search_fields = ["series__hardware__name", "series__mode__name"]
    raw_id_fields = ["series"]

    def save_model(
        self, request: HttpRequest, obj: SeriesSettings, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        services.mark_for_analysis([obj.series_id])

    def delete_model(self, request: HttpRequest, obj: SeriesSettings) -> None:
        super().delete_model(request, obj)
        services.mark_for_analysis([obj.series_id])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[SeriesSettings]) -> None:
        series = list(queryset.values_list("series_id", flat=True))
        super().delete_queryset(request, queryset)
        services.mark_for_analysis(series)


@admin.register(MinEffect)
class MinEffectAdmin(Admin):
    """The smallest effect worth an alert; a change opens and retracts alerts at once."""

    list_display = ["percent", "tree", "hardware", "mode"]
    list_select_related = ["tree", "hardware", "mode"]

    def save_model(
        self, request: HttpRequest, obj: MinEffect, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        _reconcile_all()

    def delete_model(self, request: HttpRequest, obj: MinEffect) -> None:
        super().delete_model(request, obj)
        _reconcile_all()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[MinEffect]) -> None:
        super().delete_queryset(request, queryset)
        _reconcile_all()


def _reconcile_all() -> None:
    alerts.reconcile_trees(Tree.objects.values_list("pk", flat=True))
