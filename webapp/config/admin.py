"""The admin pages of labs, jobs, mail, experiments, bisects, analyses and events: labs, agents and
tokens, settings, releases and canaries to edit; the others to look at, for they have pages of their
own.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone

from webapp.accounts.admin import (
    Admin,
    Confirmation,
    ModelForm,
    OperatedAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask,
    bind,
    confirmed,
    count_of,
    whether,
)
from webapp.analysis.models import Finding, SeriesAnalysis, SeriesSettings
from webapp.analysis.services import mark_for_analysis
from webapp.bisects.models import Bisect, BisectSettings
from webapp.events.models import Canary, LabEvent, Release
from webapp.experiments.models import Cell, Experiment, ExperimentEvent, Side
from webapp.jobs.models import Job, JobEvent, Worker
from webapp.labs import services
from webapp.labs.models import MOST_DAYS, USABLE, Agent, Lab, Scope, Token, every_scope
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.results.models import wrong_with_line
from webapp.results.services import answer_to

PARTS = [f"series__{part}" for part in ("tree", "hardware", "mode", "metric")]


class EventsOfJob(ReadOnlyInline):
    model = JobEvent
    fields = ["at", "kind", "actor", "worker", "stage", "reason"]
    readonly_fields = ["at", "kind", "actor", "worker", "stage", "reason"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["pk", "state", "purpose", "revision", "hardware", "mode", "worker", "ended_at"]
    list_filter = ["state", "purpose", "hardware"]
    list_select_related = ["revision", "hardware", "mode", "worker"]
    search_fields = ["=pk", "=revision__name", "hardware__name", "mode__name"]
    exclude = ["lease"]
    inlines = [EventsOfJob]
    show_full_result_count = False


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "agent", "version", "draining", "last_seen_at"]
    list_filter = ["agent__lab", "draining"]
    list_select_related = ["agent__lab"]
    search_fields = ["name", "agent__name"]


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    list_display = ["pk", "kind", "about", "recipient", "state", "attempts", "due", "ended_at"]
    list_filter = ["state", "kind"]
    list_select_related = ["recipient"]
    search_fields = ["about", "recipient__username", "address", "message_id"]


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    list_display = ["name", "shown_url", "enabled", "failing_since", "created_by", "created_at"]
    list_filter = ["enabled"]
    exclude = ["secret", "url"]
    readonly_fields = ["shown_url"]
    search_fields = ["name"]


@admin.register(HookDelivery)
class HookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ["pk", "endpoint", "kind", "about", "state", "attempts", "status", "due"]
    list_filter = ["state", "endpoint"]
    list_select_related = ["endpoint"]
    search_fields = ["about", "uid"]


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


@admin.register(BisectSettings)
class BisectSettingsAdmin(Admin):
    """What begins by itself, the budget, the command to measure by hand, unlikely paths."""

    list_display = ["tree", "automatic", "confirm_candidates", "most_boots", "most_hours"]
    list_select_related = ["tree"]


@admin.register(Bisect)
class BisectAdmin(ReadOnlyAdmin):
    exclude = ["hold"]
    list_display = ["pk", "series", "good", "bad", "state", "outcome", "culprit", "probability"]
    list_filter = ["state", "outcome", "series__tree"]
    list_select_related = ["good", "bad", "culprit", *PARTS]
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
        mark_for_analysis([obj.series_id])


@admin.register(LabEvent)
class LabEventAdmin(ReadOnlyAdmin):
    """Recorded, edited and withdrawn at /events/."""

    list_display = [
        "text",
        "kind",
        "hardware",
        "lab",
        "tree",
        "happened_at",
        "first",
        "begins_epoch",
    ]
    list_filter = ["kind", "source", "begins_epoch", whether("withdrawn_at", "withdrawn"), "tree"]
    list_select_related = ["hardware", "lab", "tree", "first"]
    search_fields = ["text", "hardware__name"]


class ReleaseForm(ModelForm):
    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if fault := wrong_with_line(name):
            raise forms.ValidationError(f"The name {fault}")
        return name

    def clean(self) -> dict[str, Any] | None:
        found = super().clean()
        given = self.cleaned_data
        revision, tree = given.get("revision"), given.get("tree")
        if revision and tree and revision.tree_id != tree.pk:
            self.add_error("revision", f"This is no revision of {tree}")
        elif revision and revision.is_waiting:
            self.add_error("revision", "It waits for its place on the tree")
        return found


@admin.register(Release)
class ReleaseAdmin(OperatedAdmin):
    form = ReleaseForm
    list_display = ["name", "tree", "kind", "revision", "released_on"]
    list_filter = ["kind", "tree"]
    list_select_related = ["tree", "revision"]
    search_fields = ["name"]
    autocomplete_fields = ["revision"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Runs that name no more than the release are of its revision."""
        super().save_model(request, obj, form, change)
        answer_to(revision=obj.revision, names=obj.ids)


class CanaryForm(ModelForm):
    def clean(self) -> dict[str, Any] | None:
        found = super().clean()
        revision = self.cleaned_data.get("revision")
        if revision and revision.is_waiting:
            self.add_error("revision", "It waits for its place on the tree")
        return found


@admin.register(Canary)
class CanaryAdmin(OperatedAdmin):
    """What was measured stays when a canary is made inactive; none is deleted here."""

    form = CanaryForm
    list_display = ["__str__", "metric", "interval_days", "boots", "is_active", "created_at"]
    list_filter = ["is_active", "hardware"]
    list_select_related = ["hardware", "mode", "metric", "revision"]
    search_fields = ["hardware__name", "mode__name"]
    autocomplete_fields = ["hardware", "mode", "metric", "revision"]
    readonly_fields = ["created_by", "created_at"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: Any, obj: Canary, form: ModelForm, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        super().save_model(request, obj, form, change)


@admin.register(Lab)
class LabAdmin(OperatedAdmin):
    list_display = ["name", "simulated", "agents", "created_at"]
    list_filter = ["simulated"]
    search_fields = ["name", "description"]
    readonly_fields = ["created_at"]
    autocomplete_fields = ["contacts"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(_agents=count_of(Agent, "lab"))

    @admin.display(ordering="_agents")
    def agents(self, lab: Any) -> int:
        return int(lab._agents)  # noqa: SLF001 (annotated above)


class TokenForm(Confirmation):
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, initial=every_scope, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        label="Days",
        help_text="The token expires then; empty: never. Operators are mailed a week before.",
    )


class TokensOfAgent(ReadOnlyInline):
    model = Token
    fields = ["prefix", "state", "last_used_at", "scopes", "created_at"]
    readonly_fields = ["state", "created_at"]

    @admin.display
    def state(self, token: Token) -> str:
        return token.state(timezone.now())


@admin.register(Agent)
class AgentAdmin(OperatedAdmin):
    list_display = ["name", "lab", "good_tokens", "last_seen_at", "created_at"]
    list_filter = ["lab"]
    list_select_related = ["lab"]
    search_fields = ["name", "lab__name"]
    autocomplete_fields = ["lab"]
    readonly_fields = ["last_seen_at", "created_at"]
    inlines = [TokensOfAgent]
    actions = ["issue_token"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(_tokens=count_of(Token, "agent", USABLE))

    @admin.display(ordering="_tokens")
    def good_tokens(self, agent: Any) -> int:
        return int(agent._tokens)  # noqa: SLF001

    @admin.action(description="Issue a token", permissions=["operate"])
    def issue_token(
        self, request: HttpRequest, queryset: QuerySet[Agent]
    ) -> TemplateResponse | None:
        """For one agent, for the answer shows the token's text, and shows it once."""
        title = "Issue a token"
        if queryset.count() != 1:
            self.message_user(request, "Choose one agent.", messages.ERROR)
            return None
        form = bind(TokenForm, request)
        if not form.is_valid():
            text = "A new token for this agent is shown once. Its earlier tokens stay good."
            return ask(self, request, queryset, form, title=title, text=text)
        agent = queryset.get()
        issued = services.issue_token(agent=agent, **form.cleaned_data)
        context = {"opts": self.opts, "title": title, "agent": agent, "text": issued.text}
        return TemplateResponse(
            request, "admin/driftline/token.html", self.admin_site.each_context(request) | context
        )


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "state", "agent", "last_used_at", "scopes"]
    list_filter = [whether("revoked_at", "revoked"), "agent__lab"]
    list_select_related = ["agent__lab"]
    search_fields = ["prefix", "agent__name", "agent__lab__name"]
    fields = [
        *("agent", "prefix", "state", "scopes", "created_at", "last_used_at", "expires_at"),
        "revoked_at",
    ]
    readonly_fields = ["state"]
    actions = ["revoke"]

    @admin.display(ordering="expires_at")
    def state(self, token: Token) -> str:
        return token.state(timezone.now())

    @admin.action(description="Revoke", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> TemplateResponse | None:
        return confirmed(
            self,
            request,
            queryset,
            lambda token: services.revoke_token(token=token),
            title="Revoke",
            text="From now on uploads with these tokens are refused. This cannot be taken back.",
            done="Revoked",
        )
