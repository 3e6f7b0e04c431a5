"""Runs that wait for the decision which commit they measured, rules that decide it, and names that
stand for others."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest

from webapp.accounts.admin import OperatedAdmin, ReadOnlyAdmin, whether
from webapp.results.models import IdentityRule, NameAlias, WaitingRun
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
