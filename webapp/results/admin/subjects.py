"""Hardware, modes, metrics, series and their points."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin import (
    Confirmation,
    Inline,
    ModelForm,
    OperatedAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask,
    bind,
    count_of,
    whether,
)
from webapp.results.documents import Unprocessable
from webapp.results.models import Hardware, HardwareAlias, Metric, Mode, ModeAlias, Point, Series
from webapp.results.services import forget_names, subjects

PARTS = ["tree", "hardware", "mode", "metric", "variant"]


class AboutSeries(OperatedAdmin):
    """A page with the number of its series in the list."""

    series_field = ""

    def get_queryset(self, request: HttpRequest) -> Any:
        number = count_of(Series, self.series_field)
        return super().get_queryset(request).annotate(_series=number)

    @admin.display(ordering="_series")
    def series(self, row: Any) -> int:
        return int(row._series)  # noqa: SLF001


class HardwareForm(ModelForm):
    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name != self.initial.get("name"):
            try:
                subjects.check_hardware_name(name=name, hardware=self.instance)
            except Unprocessable as error:
                raise forms.ValidationError([one.message for one in error.problems]) from error
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse what another machine is called: pages would have one name for two."""
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        if "name" not in typed:
            return typed
        parts = {name: typed.get(name, "") for name in ("name", "display_name", "cpu", "nic")}
        agreed = {part: getattr(self.instance, part) for part in ("agreed_cpu", "agreed_nic")}
        called = str(Hardware(**parts, **agreed)).lower()
        others = Hardware.objects.exclude(pk=self.instance.pk)
        if taken := next((one for one in others if str(one).lower() == called), None):
            error = f"Pages call {taken.name} {taken!s}: choose a display name of its own"
            self.add_error("display_name", error)
        return typed


class HardwareAliasForm(ModelForm):
    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if Hardware.objects.filter(name=name).exists():
            raise forms.ValidationError("Hardware has this name now; merge the two instead")
        return name


class AliasesOfHardware(Inline):
    model = HardwareAlias
    form = HardwareAliasForm
    extra = 0


@admin.register(Hardware)
class HardwareAdmin(AboutSeries):
    """Another name typed here renames: the former one becomes an alias."""

    series_field = "hardware"
    form = HardwareForm
    list_display = ["name", "display_name", "cpu", "nic", "lab", "series", "created_at"]
    list_filter = ["lab"]
    list_select_related = ["lab"]
    search_fields = ["name", "display_name", "cpu", "nic", "aliases__name", "description"]
    autocomplete_fields = ["lab"]
    readonly_fields = ["created_at"]
    inlines = [AliasesOfHardware]

    def save_model(
        self, request: HttpRequest, obj: Hardware, form: ModelForm, change: bool
    ) -> None:
        if change and "name" in form.changed_data:
            subjects.rename_hardware(hardware=Hardware.objects.get(pk=obj.pk), name=obj.name)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        transaction.on_commit(forget_names)


class AliasesOfMode(ReadOnlyInline):
    model = ModeAlias
    fields = ["name"]


@admin.register(Mode)
class ModeAdmin(AboutSeries):
    """Modes are made by uploads, and their parts are their name: nothing here is edited."""

    series_field = "mode"
    list_display = ["name", "workload", "traffic", "options", "series"]
    list_filter = ["workload", "traffic"]
    search_fields = ["name", "aliases__name"]
    readonly_fields = ["name", "workload", "traffic", "options"]
    inlines = [AliasesOfMode]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Metric)
class MetricAdmin(AboutSeries):
    """Unit and direction are what the first upload stated, until somebody decides here."""

    series_field = "metric"
    list_display = ["name", "unit", "better", "series"]
    search_fields = ["name"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """What an option costs has the direction of the metric it is the cost in."""
        return ["name", *(["unit", "better"] if obj is not None and obj.is_cost else [])]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Metric, form: ModelForm, change: bool) -> None:
        """The stored numbers stay; every series of the metric is analysed anew."""
        if form.changed_data:
            subjects.change_metric(metric=obj, unit=obj.unit, better=obj.better)


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
            subjects.set_direction(series=obj, better=obj.own_better)

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
        number = subjects.analyse_again(series=queryset.values_list("pk", flat=True))
        self.message_user(request, f"Waiting for a worker: {number}", messages.SUCCESS)
        return None
