"""What people decided about marked samples."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin import Confirmation, ReadOnlyAdmin, ask, bind, whether
from webapp.results.models import SampleDecision
from webapp.results.services import undo_sample_decision


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
            self._undo(request, row)
        self.message_user(request, f"Taken back: {len(done)}", messages.SUCCESS)
        return None

    def _undo(self, request: Any, decision: SampleDecision) -> None:
        undo_sample_decision(decision=decision.pk, by=request.user)
        self.log_change(request, decision, "Took it back")
