"""Pages of operators: events to look at, releases and canaries to edit."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from webapp.accounts.admin import ModelForm, OperatedAdmin, ReadOnlyAdmin, whether
from webapp.events.models import Canary, LabEvent, Release
from webapp.results.models import wrong_with_line
from webapp.results.services import answer_to


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
