"""Pages of labs, agents and tokens."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone

from webapp.accounts.admin import (
    Confirmation,
    OperatedAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask,
    bind,
    confirmed,
    count_of,
    whether,
)
from webapp.labs import services
from webapp.labs.models import MOST_DAYS, USABLE, Agent, Lab, Scope, Token, every_scope


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
