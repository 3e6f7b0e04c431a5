"""Trees and revisions."""

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
    InlineFormSet,
    ModelForm,
    OperatedAdmin,
    ask,
    bind,
    count_of,
)
from webapp.results.documents import Unprocessable
from webapp.results.models import Revision, RevisionAlias, Series, Tree
from webapp.results.services.revisions import displace_revision, place_revision


@admin.register(Tree)
class TreeAdmin(OperatedAdmin):
    """A tree's name is fixed: agents derive it from kernels."""

    list_display = ["name", "revisions", "series", "created_at"]
    search_fields = ["name", "description"]
    readonly_fields = ["created_at"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super()
            .get_queryset(request)
            .annotate(_revisions=count_of(Revision, "tree"), _series=count_of(Series, "tree"))
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["created_at", *(["name"] if obj else [])]

    @admin.display(ordering="_revisions")
    def revisions(self, tree: Any) -> int:
        return int(tree._revisions)  # noqa: SLF001

    @admin.display(ordering="_series")
    def series(self, tree: Any) -> int:
        return int(tree._series)  # noqa: SLF001


class AliasForm(ModelForm):
    """An alias in the tree of its revision."""

    class Meta:
        model = RevisionAlias
        fields = ["name"]

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        tree = self.instance.revision.tree
        others = RevisionAlias.objects.filter(tree=tree, name=name).exclude(pk=self.instance.pk)
        if others.exists():
            raise forms.ValidationError("Another revision of the tree answers to it; merge the two")
        self.instance.tree = tree
        return name


class AliasFormSet(InlineFormSet):
    """Keeps the alias that is the revision's own name: look-ups go by aliases alone."""

    def clean(self) -> None:
        super().clean()
        own = self.instance.name
        for form in self.initial_forms:
            if form.initial.get("name") == own and (
                form.cleaned_data.get("DELETE") or form.cleaned_data.get("name") != own
            ):
                raise forms.ValidationError(f"{own} is the revision's own name and stays")


class AliasesOfRevision(Inline):
    model = RevisionAlias
    form = AliasForm
    formset = AliasFormSet
    extra = 0


class WaitingForPlace(admin.SimpleListFilter):
    title = "waiting for a place"
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Yes"), ("no", "No")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        found: dict[str | None, Any] = {"yes": "waiting", "no": "placed"}
        name = found.get(self.value())
        return getattr(queryset, name)() if name else None


class Disputed(admin.SimpleListFilter):
    """Uploads gave other places than the one that the revision has."""

    title = "other places proposed"
    parameter_name = "disputed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Yes, and nobody decided")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.value() != "yes":
            return None
        return queryset.filter(decided=False, proposals__isnull=False).distinct()


class PlaceForm(Confirmation):
    position = forms.IntegerField(
        required=False, help_text="Empty: where they are, or where they were first proposed to be."
    )

    def __init__(self, *args: Any, several: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.several = several

    def clean_position(self) -> int | None:
        position: int | None = self.cleaned_data["position"]
        if position is not None and self.several:
            raise forms.ValidationError("Choose one revision to give it a place")
        return position


def _proposed(revision: Revision) -> str:
    where = "waits" if revision.is_waiting else f"at {revision.position}"
    return ", ".join([f"{revision} of {revision.tree} {where}", *_proposals(revision)])


def _proposals(revision: Revision) -> list[str]:
    rows = revision.proposals.select_related("agent__lab")
    return [f"{one.position} by {one.agent}" for one in rows]


@admin.register(Revision)
class RevisionAdmin(OperatedAdmin):
    """What is known of a commit comes from imports; only its aliases are edited here."""

    list_display = [
        "name",
        "tree",
        "place",
        "is_estimated",
        "decided",
        "proposed_by",
        "author_name",
        "committed_at",
        "subject",
    ]
    list_filter = [WaitingForPlace, Disputed, "is_estimated", "decided", "tree"]
    list_select_related = ["tree", "proposed_by__lab"]
    search_fields = ["aliases__name__startswith", "author_name__istartswith"]
    search_help_text = "The start of an id, a hash or an author's name"
    show_full_result_count = False
    readonly_fields = [
        "name",
        "tree",
        "place",
        "is_estimated",
        "decided",
        "proposed_by",
        "other_places",
        "author_name",
        "author_email",
        "committed_at",
        "subject",
        "message",
        "paths",
        "path_count",
        "parent_known",
    ]
    exclude = ["position"]
    inlines = [AliasesOfRevision]
    actions = ["place_on_tree", "displace"]

    @admin.display(ordering="position")
    def place(self, revision: Revision) -> str:
        return "waits" if revision.is_waiting else str(revision.position)

    @admin.display(description="proposed and not taken")
    def other_places(self, revision: Revision) -> str:
        return ", ".join(_proposals(revision)) or "-"

    @admin.action(description="Decide the place on the tree", permissions=["operate"])
    def place_on_tree(
        self, request: HttpRequest, queryset: QuerySet[Revision]
    ) -> TemplateResponse | None:
        form = bind(PlaceForm, request, several=queryset.count() > 1)
        title = "Decide the place"
        text = (
            "These revisions have their place for good: the one they have, or the first that was "
            "proposed. Runs that waited are pooled there and analysed."
        )
        if form.is_valid():
            try:
                self._place(request, list(queryset), form.cleaned_data["position"])
            except Unprocessable as error:
                for problem in error.problems:
                    form.add_error(None, problem.message)
            else:
                return None
        return ask(self, request, queryset, form, title=title, text=text, describe=_proposed)

    @transaction.atomic
    def _place(self, request: Any, rows: list[Revision], position: int | None) -> None:
        for row in rows:
            place_revision(revision=row, position=position)
        self.message_user(request, f"Decided: {len(rows)}", messages.SUCCESS)

    @admin.action(description="Take off the place", permissions=["operate"])
    def displace(
        self, request: HttpRequest, queryset: QuerySet[Revision]
    ) -> TemplateResponse | None:
        form = bind(Confirmation, request)
        if form.is_valid():
            try:
                self._displace(request, list(queryset))
            except Unprocessable as error:
                for problem in error.problems:
                    form.add_error(None, problem.message)
            else:
                return None
        text = (
            "An upload gave these revisions their place. They wait for another one, and their runs "
            "leave the statistics until they have it."
        )
        return ask(self, request, queryset, form, title="Take off the place", text=text)

    @transaction.atomic
    def _displace(self, request: Any, rows: list[Revision]) -> None:
        for row in rows:
            displace_revision(revision=row)
        self.message_user(request, f"Waiting for a place: {len(rows)}", messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A revision needs its place and its alias: uploads and imports give both."""
        return False
