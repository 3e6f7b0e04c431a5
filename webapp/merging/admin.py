"""Merging for operators: an action of the pages of hardware, modes and revisions.

Those pages belong to results, which know nothing of the rooms that a merge concerns: here they are
registered again, with the action.
"""

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from webapp.accounts.admin import OperatedAdmin, ReadOnlyAdmin, ask, bind
from webapp.accounts.models import User
from webapp.merging.services import (
    merge_hardware,
    merge_modes,
    merge_revisions,
    refile_by_label_rules,
)
from webapp.results import models
from webapp.results.admin import HardwareAdmin, ModeAdmin, RevisionAdmin
from webapp.results.services import Unprocessable, dismiss_twins, suggest_again, suggested_twins


@admin.register(models.LabelRule)
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
    def becomes(self, rule: models.LabelRule) -> str:
        """What it makes of a part."""
        name = f", called {rule.name}" if rule.name else ""
        return f"{rule.get_kind_display()}{name}"

    @admin.display(boolean=True, description="image only")
    def image_only(self, rule: models.LabelRule) -> bool:
        """Whether it fits only what the image's name holds."""
        return rule.of_image

    @admin.display(boolean=True, description="asked")
    def asked(self, rule: models.LabelRule) -> bool:
        """Whether it is in force."""
        return rule.is_active

    @admin.display(boolean=True, description="built in")
    def builtin(self, rule: models.LabelRule) -> bool:
        """Whether an upgrade brought it."""
        return rule.is_builtin

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """By pattern and place an upgrade knows the rules that it need not bring."""
        return ["lab", "pattern", "of_image"] if obj and obj.is_builtin else []

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Those that come with the program are only switched off."""
        is_builtin = isinstance(obj, models.LabelRule) and obj.is_builtin
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


@admin.register(models.Variant)
class VariantAdmin(ReadOnlyAdmin):
    """What was measured besides plain kernels."""

    list_display = ["name", "parts"]
    search_fields = ["name"]


Merge = Callable[..., None]
SUBJECTS_TEXT = (
    "Everything measured under these counts as measured under the one that stays; series that "
    "become one are pooled and analysed anew. Uploads under the old names land there. This cannot "
    "be taken back."
)
REVISIONS_TEXT = (
    "These ids turned out to mean one commit: their runs and names go over to the one that stays, "
    "which keeps its position. This cannot be taken back."
)


class IntoForm(forms.Form):
    """Chooses the one that stays."""

    def __init__(self, *args: Any, choices: QuerySet[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"] = forms.ModelChoiceField(choices, label="The one that stays")


class IntoRevisionForm(forms.Form):
    """Names the revision that stays: a list of a hundred thousand would help nobody."""

    into = forms.CharField(
        label="The one that stays", help_text="Its id, an alias or the start of its hash."
    )

    def __init__(self, *args: Any, tree: models.Tree | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tree = tree

    def clean_into(self) -> models.Revision:
        name = str(self.cleaned_data["into"])
        if self.tree is None:
            raise forms.ValidationError("Choose revisions of one tree")
        found = models.Revision.objects.named(tree=self.tree, name=name)
        if found is None:
            raise forms.ValidationError(f"{self.tree} has no revision {name}")
        return found


class TwinsForm(forms.Form):
    """Names two modes."""

    one = forms.CharField(max_length=models.NAME_MAX)
    other = forms.CharField(max_length=models.NAME_MAX)


def merge_chosen(
    page: OperatedAdmin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    form: forms.Form,
    merge: Merge,
    *,
    text: str,
) -> TemplateResponse | None:
    """Ask ``form`` for ``into``, then merge every chosen row into that; all of them or none."""
    if form.is_valid():
        into: Model = form.cleaned_data["into"]
        sources = [row for row in queryset if row != into]
        try:
            with transaction.atomic():
                for source in sources:
                    merge(source=source, into=into)
        except Unprocessable as error:
            for problem in error.problems:
                form.add_error(None, problem.message)
        else:
            page.message_user(request, f"Merged into {into}: {len(sources)}", messages.SUCCESS)
            return None
    return ask(page, request, queryset, form, title="Merge", text=text)


class MergingHardwareAdmin(HardwareAdmin):
    actions = ["merge"]

    @admin.action(description="Merge into another", permissions=["operate"])
    def merge(
        self, request: HttpRequest, queryset: QuerySet[models.Hardware]
    ) -> TemplateResponse | None:
        form = bind(IntoForm, request, choices=models.Hardware.objects.order_by("name"))
        return merge_chosen(self, request, queryset, form, merge_hardware, text=SUBJECTS_TEXT)


class MergingModeAdmin(ModeAdmin):
    actions = ["merge"]
    change_list_template = "admin/driftline/modes.html"

    def get_urls(self) -> list[URLPattern]:
        twins = self.admin_site.admin_view(self.twins)
        return [path("twins/", twins, name="results_mode_twins"), *super().get_urls()]

    def twins(self, request: HttpRequest) -> HttpResponse:
        """Modes that may be one in two spellings; each merged by the action, or dismissed."""
        if not self.has_operate_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._act_on_twins(request)
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "title": "Suggested twins",
            "suggested": suggested_twins(),
            "dismissed": models.DismissedTwins.objects.select_related("dismissed_by"),
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/driftline/twins.html", context)

    def _act_on_twins(self, request: HttpRequest) -> HttpResponse:
        form = TwinsForm(request.POST)
        names = form.cleaned_data if form.is_valid() else {}
        if names and request.POST.get("act") == "again":
            suggest_again(**names)
            self.message_user(request, "Suggested again", messages.SUCCESS)
        elif models.Mode.objects.filter(name__in=names.values()).count() == 2:
            dismiss_twins(**names, by=cast("User", request.user))
            self.message_user(request, "Dismissed: not suggested again", messages.SUCCESS)
        else:
            self.message_user(request, "Name two modes that there are", messages.ERROR)
        return redirect("admin:results_mode_twins")

    @admin.action(description="Merge into another", permissions=["operate"])
    def merge(
        self, request: HttpRequest, queryset: QuerySet[models.Mode]
    ) -> TemplateResponse | None:
        asked = {"into": request.POST.get("into")}
        form = bind(IntoForm, request, choices=models.Mode.objects.order_by("name"), initial=asked)
        return merge_chosen(self, request, queryset, form, merge_modes, text=SUBJECTS_TEXT)


class MergingRevisionAdmin(RevisionAdmin):
    actions = [*RevisionAdmin.actions, "merge"]

    @admin.action(description="Merge into another", permissions=["operate"])
    def merge(
        self, request: HttpRequest, queryset: QuerySet[models.Revision]
    ) -> TemplateResponse | None:
        trees = models.Tree.objects.filter(revisions__in=queryset).distinct()
        form = bind(IntoRevisionForm, request, tree=trees[0] if len(trees) == 1 else None)
        return merge_chosen(self, request, queryset, form, merge_revisions, text=REVISIONS_TEXT)


for subject, merging in (
    (models.Hardware, MergingHardwareAdmin),
    (models.Mode, MergingModeAdmin),
    (models.Revision, MergingRevisionAdmin),
):
    admin.site.unregister(subject)
    admin.site.register(subject, merging)
