"""Series and their points."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin import (
    Confirmation,
    ModelForm,
    ReadOnlyAdmin,
    ask,
    bind,
    count_of,
    whether,
)
from webapp.results.models import Point, Series
from webapp.results.services.subjects import analyse_again, set_direction

PARTS = ["tree", "hardware", "mode", "metric", "variant"]


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    """To look at; what an operator sets is which way is better, and it is analysed anew then."""

    list_display = [*PARTS, "own_better", "points", "version", "dirty_from", "dirty_since"]
    readonly_fields = [*PARTS, "version", "dirty_from", "dirty_since"]
    list_display_links = ["tree", "hardware"]
    list_filter = [whether("dirty_from", "waiting for analysis"), "tree", "metric", "hardware__lab"]
    list_select_related = PARTS
    search_fields = ["hardware__name", "mode__name"]
    show_full_result_count = False
    actions = ["reanalyse"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(_points=count_of(Point, "series"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_operate_permission(request)

    def save_model(self, request: HttpRequest, obj: Series, form: ModelForm, change: bool) -> None:
        if "own_better" in form.changed_data:
            set_direction(series=obj, better=obj.own_better)

    @admin.display
    def points(self, series: Any) -> int:
        return int(series._points)  # noqa: SLF001

    @admin.action(description="Analyse anew", permissions=["operate"])
    def reanalyse(
        self, request: HttpRequest, queryset: QuerySet[Series]
    ) -> TemplateResponse | None:
        form = bind(Confirmation, request)
        if not form.is_valid():
            text = "A worker concludes anew, from the first point on, what these series show."
            return ask(self, request, queryset, form, title="Analyse anew", text=text)
        number = analyse_again(series=queryset.values_list("pk", flat=True))
        self.message_user(request, f"Waiting for a worker: {number}", messages.SUCCESS)
        return None


@admin.register(Point)
class PointAdmin(ReadOnlyAdmin):
    list_display = ["series", "revision", "n", "runs", "builds", "boots", "median", "mean"]
    list_filter = ["series__tree", "series__metric"]
    list_select_related = ["revision", *(f"series__{part}" for part in PARTS)]
    search_fields = ["=revision__name", "series__hardware__name", "series__mode__name"]
    ordering = ["-pk"]
    show_full_result_count = False
