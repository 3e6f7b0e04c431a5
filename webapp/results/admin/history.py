"""Trees and revisions."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.operators import (
    Inline,
    InlineFormSet,
    ModelForm,
    OperatedAdmin,
    bind,
    count_of,
)
from webapp.results.admin.merge_forms import merge_chosen
from webapp.results.models import Revision, RevisionAlias, Series, Tree
from webapp.results.services.merging import merge_revisions


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
        held = RevisionAlias.objects.filter(tree=tree, name=name).exclude(pk=self.instance.pk)
        if held.exists():
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


class IntoRevisionForm(forms.Form):
    """Names the revision that stays: a list of a hundred thousand would help nobody."""

    into = forms.CharField(
        label="The one that stays", help_text="Its id, an alias or the start of its hash."
    )

    def __init__(self, *args: Any, tree: Tree | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tree = tree

    def clean_into(self) -> Revision:
        name = str(self.cleaned_data["into"])
        if self.tree is None:
            raise forms.ValidationError("Choose revisions of one tree")
        found = Revision.objects.named(tree=self.tree, name=name)
        if found is None:
            raise forms.ValidationError(f"{self.tree} has no revision {name}")
        return found


@admin.register(Revision)
class RevisionAdmin(OperatedAdmin):
    """What is known of a commit comes from imports; only its aliases are edited here."""

    list_display = ["name", "tree", "position", "author_name", "committed_at", "subject"]
    list_filter = ["tree"]
    list_select_related = ["tree"]
    search_fields = ["aliases__name__startswith", "author_name__istartswith"]
    search_help_text = "The start of an id, a hash or an author's name"
    show_full_result_count = False
    readonly_fields = [
        "name",
        "tree",
        "position",
        "author_name",
        "author_email",
        "committed_at",
        "subject",
        "message",
        "paths",
        "path_count",
    ]
    inlines = [AliasesOfRevision]
    actions = ["merge"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A revision needs its place and its alias: uploads and imports give both."""
        return False

    @admin.action(description="Merge into another", permissions=["operate"])
    def merge(self, request: HttpRequest, queryset: QuerySet[Revision]) -> TemplateResponse | None:
        trees = Tree.objects.filter(revisions__in=queryset).distinct()
        form = bind(IntoRevisionForm, request, tree=trees[0] if len(trees) == 1 else None)
        text = (
            "These ids turned out to mean one commit: their runs and names go over to the one that "
            "stays, which keeps its position. This cannot be taken back."
        )
        return merge_chosen(self, request, queryset, form, merge_revisions, text=text)
