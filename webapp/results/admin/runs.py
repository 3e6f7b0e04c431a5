"""Runs and their samples, and decisions about runs: the commits of those that wait, runs counted
together, marked samples.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin import (
    Confirmation,
    OperatedAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask,
    bind,
    whether,
)
from webapp.accounts.services import signed_in_user
from webapp.results import models
from webapp.results.documents import Unprocessable
from webapp.results.services import decide_samples, restore_run, undo_sample_decision, withdraw_run
from webapp.results.services.identities import apply_rule


class SamplesOfRun(ReadOnlyInline):
    model = models.Measurement
    fields = ["metric", "samples", "boots", "left_out", "marks"]
    readonly_fields = ["metric", "marks"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Measurement]:
        return super().get_queryset(request).select_related("series__metric", "run")

    @admin.display
    def metric(self, measurement: models.Measurement) -> str:
        return measurement.series.metric.name

    @admin.display(description="what may be wrong")
    def marks(self, measurement: models.Measurement) -> str:
        return "; ".join(f"sample {one.sample}: {one.text}" for one in measurement.marks) or "-"


class ProfilesOfRun(ReadOnlyInline):
    model = models.Profile
    fields = ["name", "event", "samples", "is_truncated", "pps", "received_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Profile]:
        return models.Profile.objects.without_calls()


class RefusedReplacementsOfRun(ReadOnlyInline):
    model = models.RefusedReplacement
    fields = ["agent", "tries", "first_at", "last_at"]
    readonly_fields = ["first_at", "last_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.RefusedReplacement]:
        return super().get_queryset(request).select_related("agent__lab")


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="Shown wherever the run is shown.",
    )


def _named(run: models.Run) -> str:
    return f"{run.uuid}: {run.revision} on {run.hardware} in {run.mode}"


@admin.register(models.Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = [
        "short_uuid",
        "revision",
        "hardware",
        "mode",
        "variant",
        "agent",
        "received_at",
        "withdrawn_at",
        "superseded_by",
    ]
    list_filter = [
        whether("withdrawn_at", "withdrawn"),
        whether("superseded_by", "replaced"),
        "history",
        "revision__tree",
        "agent__lab",
    ]
    list_select_related = [
        *("revision", "hardware", "mode", "variant", "agent__lab", "superseded_by")
    ]
    search_fields = ["=uuid", "=revision__name", "hardware__name", "mode__name"]
    search_help_text = "A whole UUID or revision, or a part of hardware or mode"
    show_full_result_count = False
    exclude = ["kernel"]
    readonly_fields = ["build_id", "kernel_ident"]
    inlines = [SamplesOfRun, ProfilesOfRun, RefusedReplacementsOfRun]
    actions = ["withdraw", "restore", "count_marked", "leave_out_marked"]

    @admin.display(description="UUID", ordering="uuid")
    def short_uuid(self, run: models.Run) -> str:
        return str(run.uuid)[:8]

    @admin.display
    def build_id(self, run: models.Run) -> str:
        return run.kernel.build_id

    @admin.display
    def kernel_ident(self, run: models.Run) -> str:
        return run.kernel.ident

    @admin.action(description="Withdraw from the statistics", permissions=["operate"])
    def withdraw(
        self, request: HttpRequest, queryset: QuerySet[models.Run]
    ) -> TemplateResponse | None:
        form = bind(ReasonForm, request)
        if not form.is_valid():
            text = (
                "These runs stay visible with the reason, leave the statistics, and their series "
                "are analysed anew."
            )
            return ask(self, request, queryset, form, title="Withdraw", text=text, describe=_named)
        runs = list(queryset.counted())  # type: ignore[attr-defined]
        for run in runs:
            withdraw_run(run=run, by=signed_in_user(request), reason=form.cleaned_data["reason"])
        self.message_user(request, f"Withdrawn: {len(runs)}", messages.SUCCESS)
        return None

    @admin.action(description="Take a withdrawal back", permissions=["operate"])
    def restore(
        self, request: HttpRequest, queryset: QuerySet[models.Run]
    ) -> TemplateResponse | None:
        withdrawn = queryset.filter(withdrawn_at__isnull=False)
        form = bind(Confirmation, request)
        if not form.is_valid():
            title = "Take the withdrawal back"
            text = "These withdrawn runs count again, and their series are analysed anew."
            return ask(self, request, withdrawn, form, title=title, text=text, describe=_named)
        done = sum(self._restore(request, run) for run in withdrawn)
        self.message_user(request, f"Taken back: {done}", messages.SUCCESS)
        return None

    @admin.action(description="Count the marked samples", permissions=["operate"])
    def count_marked(
        self, request: HttpRequest, queryset: QuerySet[models.Run]
    ) -> TemplateResponse | None:
        return self._decide(request, queryset, models.SampleDecision.Choice.COUNT)

    @admin.action(description="Leave out the marked samples", permissions=["operate"])
    def leave_out_marked(
        self, request: HttpRequest, queryset: QuerySet[models.Run]
    ) -> TemplateResponse | None:
        return self._decide(request, queryset, models.SampleDecision.Choice.LEAVE_OUT)

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[models.Run],
        choice: models.SampleDecision.Choice,
    ) -> TemplateResponse | None:
        form = bind(Confirmation, request)
        marked = queryset.filter(
            Exists(models.Measurement.objects.marked().filter(run=OuterRef("pk")))
        )
        if not form.is_valid():
            title = f"{choice.label.capitalize()} the marked samples"
            text = "This is on record with your name; the series of these runs are analysed anew."
            return ask(self, request, marked, form, title=title, text=text, describe=_named)
        runs = list(marked)
        if runs:
            by = signed_in_user(request)
            decide_samples(runs=[run.uuid for run in runs], choice=choice, by=by)
        self.message_user(request, f"Decided: {len(runs)}", messages.SUCCESS)
        return None

    def _restore(self, request: HttpRequest, run: models.Run) -> bool:
        try:
            restore_run(run=run)
        except Unprocessable as error:
            for problem in error.problems:
                self.message_user(request, problem.message, messages.ERROR)
            return False
        return True


@admin.register(models.RefusedReplacement)
class RefusedReplacementAdmin(ReadOnlyAdmin):
    """Who tried to replace another lab's runs. Nothing was changed by it."""

    list_display = ["last_at", "agent", "run", "lab", "tries", "first_at"]
    list_filter = ["agent__lab", "run__hardware__lab"]
    list_select_related = ["agent__lab", "run__hardware__lab"]
    search_fields = ["=run__uuid", "agent__name"]
    show_full_result_count = False

    @admin.display(description="lab of the run")
    def lab(self, line: models.RefusedReplacement) -> str:
        return line.run.hardware.lab.name


@admin.register(models.IdentityRule)
class IdentityRuleAdmin(OperatedAdmin):
    """A rule holds for runs to come, and decides what waits when it is saved."""

    list_display = ["pattern", "lab", "believe", "created_by", "created_at"]
    list_filter = ["lab", "believe"]
    list_select_related = ["lab", "created_by"]
    search_fields = ["pattern", "lab__name"]
    autocomplete_fields = ["lab"]
    readonly_fields = ["created_at"]

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save it, and decide the runs that it fits."""
        if not change:
            obj.created_by = request.user
        super().save_model(request, obj, form, change)
        decided = apply_rule(obj, by=obj.created_by)
        self.message_user(request, f"Waiting runs decided by it: {decided}", messages.SUCCESS)


@admin.register(models.WaitingRun)
class WaitingRunAdmin(ReadOnlyAdmin):
    """Who decided what. It is decided at /runs/waiting/."""

    list_display = ["run", "label", "since", "decided_at", "decided_by", "rule", "chosen"]
    list_filter = [whether("decided_at", "decided")]
    list_select_related = ["run", "decided_by", "chosen"]
    search_fields = ["label", "=run__uuid"]
    search_help_text = "A part of the label, or the run's UUID"
    show_full_result_count = False


@admin.register(models.NameAlias)
class NameAliasAdmin(ReadOnlyAdmin):
    """Made and taken back at /aliases/."""

    list_display = ["name", "means", "kind", "lab", "tree", "directory", "made_by", "undone_at"]
    list_filter = ["kind", "lab", whether("undone_at", "taken back")]
    list_select_related = ["lab", "tree", "made_by"]
    search_fields = ["name", "means"]


@admin.register(models.PoolingDecision)
class PoolingDecisionAdmin(ReadOnlyAdmin):
    """Who counted which runs together, and who took that back. It is decided on commit pages."""

    list_display = ["decided_at", "decided_by", "__str__", "undone_at", "undone_by"]
    list_filter = [whether("undone_at", "undone")]
    list_select_related = ["decided_by", "undone_by"]
    search_fields = ["runs", "=decided_by__username"]
    search_help_text = "A part of a run's UUID, or who decided"
    show_full_result_count = False


@admin.register(models.SampleDecision)
class SampleDecisionAdmin(ReadOnlyAdmin):
    """Who had the marked samples of which run count or not, and who took that back. It is decided
    on commit pages, by the API, and by the actions of runs.
    """

    list_display = ["decided_at", "who", "choice", "run", "metric", "undone_at", "undone_by"]
    list_filter = ["choice", whether("undone_at", "undone")]
    list_select_related = [
        "decided_by",
        "undone_by",
        "measurement__run",
        "measurement__series__metric",
    ]
    search_fields = ["=measurement__run__uuid", "=decided_by__username"]
    search_help_text = "A run's whole UUID, or who decided"
    show_full_result_count = False
    actions = ["undo"]

    @admin.display(description="run")
    def run(self, decision: models.SampleDecision) -> str:
        return str(decision.measurement.run)

    @admin.display(description="metric")
    def metric(self, decision: models.SampleDecision) -> str:
        return decision.measurement.series.metric.name

    @admin.action(description="Take back", permissions=["operate"])
    def undo(
        self, request: HttpRequest, queryset: QuerySet[models.SampleDecision]
    ) -> TemplateResponse | None:
        form = bind(Confirmation, request)
        if not form.is_valid():
            text = "The marks alone decide which samples of these runs count; they are pooled anew."
            return ask(self, request, queryset, form, title="Take back", text=text, describe=str)
        done = list(queryset.filter(undone_at__isnull=True))
        for row in done:
            undo_sample_decision(decision=row.pk, by=signed_in_user(request))
        self.message_user(request, f"Taken back: {len(done)}", messages.SUCCESS)
        return None
