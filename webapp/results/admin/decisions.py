"""Decisions about runs: the commits of those that wait, runs counted together, marked samples."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin import Confirmation, OperatedAdmin, ReadOnlyAdmin, ask, bind, whether
from webapp.accounts.services import signed_in_user
from webapp.results.models import (
    IdentityRule,
    NameAlias,
    PoolingDecision,
    SampleDecision,
    WaitingRun,
)
from webapp.results.services import undo_sample_decision
from webapp.results.services.waiting import apply_rule


@admin.register(IdentityRule)
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


@admin.register(WaitingRun)
class WaitingRunAdmin(ReadOnlyAdmin):
    """Who decided what. It is decided at /runs/waiting/."""

    list_display = ["run", "label", "since", "decided_at", "decided_by", "rule", "chosen"]
    list_filter = [whether("decided_at", "decided")]
    list_select_related = ["run", "decided_by", "chosen"]
    search_fields = ["label", "=run__uuid"]
    search_help_text = "A part of the label, or the run's UUID"
    show_full_result_count = False


@admin.register(NameAlias)
class NameAliasAdmin(ReadOnlyAdmin):
    """Made and taken back at /aliases/."""

    list_display = ["name", "means", "kind", "lab", "tree", "directory", "made_by", "undone_at"]
    list_filter = ["kind", "lab", whether("undone_at", "taken back")]
    list_select_related = ["lab", "tree", "made_by"]
    search_fields = ["name", "means"]


@admin.register(PoolingDecision)
class PoolingDecisionAdmin(ReadOnlyAdmin):
    """Who counted which runs together, and who took that back. It is decided on commit pages."""

    list_display = ["decided_at", "decided_by", "__str__", "undone_at", "undone_by"]
    list_filter = [whether("undone_at", "undone")]
    list_select_related = ["decided_by", "undone_by"]
    search_fields = ["runs", "=decided_by__username"]
    search_help_text = "A part of a run's UUID, or who decided"
    show_full_result_count = False


@admin.register(SampleDecision)
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
    def run(self, decision: SampleDecision) -> str:
        return str(decision.measurement.run)

    @admin.display(description="metric")
    def metric(self, decision: SampleDecision) -> str:
        return decision.measurement.series.metric.name

    @admin.action(description="Take back", permissions=["operate"])
    def undo(
        self, request: HttpRequest, queryset: QuerySet[SampleDecision]
    ) -> TemplateResponse | None:
        form = bind(Confirmation, request)
        if not form.is_valid():
            text = "The marks alone say which samples of these runs count; they are pooled anew."
            return ask(self, request, queryset, form, title="Take back", text=text, describe=str)
        done = list(queryset.filter(undone_at__isnull=True))
        for row in done:
            undo_sample_decision(decision=row.pk, by=signed_in_user(request))
        self.message_user(request, f"Taken back: {len(done)}", messages.SUCCESS)
        return None
