"""Rules about parts of labels, for operators: saving one files stored runs by it."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from webapp.accounts.admin import OperatedAdmin, ReadOnlyAdmin
from webapp.merging.services import refile_by_label_rules
from webapp.results.models import LabelRule, Variant


@admin.register(LabelRule)
class LabelRuleAdmin(OperatedAdmin):
    """What a part of a label is. Those that come with the program are switched off, not deleted."""

    list_display = ["pattern", "becomes", "lab", "order", "image_only", "asked", "builtin"]
    sortable_by = ["pattern", "becomes"]
    list_filter = ["kind", "is_active", "lab"]
    list_select_related = ["lab"]
    search_fields = ["pattern", "name", "lab__name"]
    autocomplete_fields = ["lab"]

    # Headings are never broken: long ones would leave no width to what stands below the others.
    @admin.display(description="becomes", ordering="kind")
    def becomes(self, rule: LabelRule) -> str:
        """What it makes of a part."""
        name = f", called {rule.name}" if rule.name else ""
        return f"{rule.get_kind_display()}{name}"

    @admin.display(boolean=True, description="image only")
    def image_only(self, rule: LabelRule) -> bool:
        """Whether it fits only what the image's name holds."""
        return rule.of_image

    @admin.display(boolean=True, description="asked")
    def asked(self, rule: LabelRule) -> bool:
        """Whether it is in force."""
        return rule.is_active

    @admin.display(boolean=True, description="built in")
    def builtin(self, rule: LabelRule) -> bool:
        """Whether an upgrade brought it."""
        return rule.is_builtin

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """By pattern and place an upgrade knows the rules that it need not bring."""
        return ["lab", "pattern", "of_image"] if obj and obj.is_builtin else []

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Those that come with the program are only switched off."""
        is_builtin = isinstance(obj, LabelRule) and obj.is_builtin
        return super().has_delete_permission(request, obj) and not is_builtin

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save it, and file stored runs by it."""
        super().save_model(request, obj, form, change)
        self._refile(request)

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete it, and file stored runs without it."""
        super().delete_model(request, obj)
        self._refile(request)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete them, and file stored runs without them."""
        super().delete_queryset(request, queryset)
        self._refile(request)

    def _refile(self, request: HttpRequest) -> None:
        moved = refile_by_label_rules()
        self.message_user(request, f"Stored runs filed anew: {moved}", messages.SUCCESS)


@admin.register(Variant)
class VariantAdmin(ReadOnlyAdmin):
    """What was measured besides plain kernels."""

    list_display = ["name", "parts"]
    search_fields = ["name"]
