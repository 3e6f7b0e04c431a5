"""Pages of what was concluded, to look at; and the settings of series."""

from django.contrib import admin
from django.http import HttpRequest

from webapp.accounts.admin import Admin, ModelForm, ReadOnlyAdmin
from webapp.analysis import services
from webapp.analysis.models import Finding, SeriesAnalysis, SeriesSettings

PARTS = [f"series__{part}" for part in ("tree", "hardware", "mode", "metric")]


@admin.register(SeriesAnalysis)
class SeriesAnalysisAdmin(ReadOnlyAdmin):
    list_display = ["series", "version", "analysed_at"]
    list_select_related = PARTS
    search_fields = ["series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin):
    list_display = ["series", "revision", "kind", "verdict", "state", "change_pct", "probability"]
    list_filter = ["kind", "state", "verdict", "series__tree", "series__metric"]
    list_select_related = ["revision", *PARTS]
    search_fields = ["=revision__name", "series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(SeriesSettings)
class SeriesSettingsAdmin(Admin):
    """Margin and canary of a series; saving has it analysed anew.

    The smallest effect is set at ``/thresholds/`` alone, which logs who set it and can undo it.
    """

    list_display = ["series", "margin_pct", "min_effect_pct", "is_canary"]
    list_filter = ["is_canary"]
    list_select_related = PARTS
    search_fields = ["series__hardware__name", "series__mode__name"]
    raw_id_fields = ["series"]

    def get_readonly_fields(
        self, request: HttpRequest, obj: SeriesSettings | None = None
    ) -> list[str]:
        """Settings stay with their series: under another one, its smallest effect would go along
        without a line in the log.
        """
        return ["min_effect_pct"] if obj is None else ["min_effect_pct", "series"]

    def has_delete_permission(
        self, request: HttpRequest, obj: SeriesSettings | None = None
    ) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: SeriesSettings, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        services.mark_for_analysis([obj.series_id])
