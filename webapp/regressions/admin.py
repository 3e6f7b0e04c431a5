"""Pages of what was concluded: to look at."""

from django.contrib import admin

from webapp.accounts.operators import ReadOnlyAdmin
from webapp.regressions.models import Comparison, SeriesAnalysis

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
