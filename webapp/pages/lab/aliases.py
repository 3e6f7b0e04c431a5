"""`/aliases/`: names of labs that stand for others within a scope; made, looked at, taken back."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.services import is_operator, operator_required, signed_in_user
from webapp.labs.models import Lab
from webapp.merging.services import make_name_alias, undo_name_alias
from webapp.pages.lab.events import NamesForm
from webapp.pages.parts.links import NUMBER_MAX, newest, read_text, with_parts
from webapp.results.models import DIRECTORY_MAX, HARDWARE_MAX, NameAlias, Tree
from webapp.results.queries import called
from webapp.results.services import AliasNames, Unprocessable, preview_alias

ROWS = 50
TEXT_MAX = 300
BAD_REQUEST = 400
ALIAS_FIELDS = ("lab", "kind", "name", "means", "tree", "first", "last", "directory")
Found = TypeVar("Found")


class AliasForm(NamesForm):
    """A new alias, by names."""

    lab = forms.ModelChoiceField(Lab.objects.all(), to_field_name="name", empty_label=None)
    kind = forms.ChoiceField(label="Kind of name", choices=NameAlias.Kind.choices)
    name = forms.CharField(label="The name", max_length=HARDWARE_MAX)
    means = forms.CharField(
        label="stands for",
        max_length=HARDWARE_MAX,
        help_text="A new name is allowed, except of hardware.",
    )
    tree = forms.ModelChoiceField(
        Tree.objects.all(),
        to_field_name="name",
        required=False,
        empty_label="all",
        help_text="Needed with revisions.",
    )
    first = forms.CharField(
        label="From revision", max_length=64, required=False, help_text="Empty: from the start."
    )
    last = forms.CharField(
        label="up to revision", max_length=64, required=False, help_text="Empty: without end."
    )
    directory = forms.CharField(
        label="Result directory or session",
        max_length=DIRECTORY_MAX,
        required=False,
        help_text="The whole path as it was sent, its last part, or the session. * stands for "
        "anything. Empty: all.",
    )

    def names(self) -> AliasNames:
        """What the services take."""
        return AliasNames(**{name: str(self.cleaned_data[name] or "") for name in ALIAS_FIELDS})


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Aliases by lab, the last made first; those that were taken back are marked."""
    lab = read_text(request.GET, "lab")
    found = NameAlias.objects.named()
    rows, before = newest(found.filter(lab__name=lab) if lab else found, request, ROWS)
    context = {
        "lab": lab,
        "labs": Lab.objects.all(),
        "aliases": rows,
        "older": with_parts(reverse("aliases"), {"lab": lab, "before": before}) if before else "",
        "can_act": is_operator(request.user),
    }
    return render(request, "pages/lab/aliases.html", context)


@operator_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new alias. POST lists what it would move; with `act=make` it makes it."""
    if request.method != "POST":
        given = {name: request.GET.get(name, "")[:TEXT_MAX] for name in ALIAS_FIELDS}
        return render(request, "pages/lab/alias_new.html", {"form": AliasForm(initial=given)})
    form = AliasForm(request.POST)
    if request.POST.get("act") == "make":
        user = signed_in_user(request)
        alias = _done(form, lambda names: make_name_alias(names=names, by=user))
        if alias is not None:
            runs = "run was" if alias.moved == 1 else "runs were"
            messages.success(request, f"{alias}: {alias.moved} stored {runs} filed so.")
            return redirect("aliases")
        return render(request, "pages/lab/alias_new.html", {"form": form}, status=BAD_REQUEST)
    preview = _done(form, preview_alias)
    moving = preview.groups if preview else ()
    machines = called({one for each in moving for one in (each.hardware, each.into_hardware)})
    shown = [
        replace(one, hardware=machines[one.hardware], into_hardware=machines[one.into_hardware])
        for one in moving
    ]
    context = {"form": form, "preview": preview, "groups": shown}
    status = 200 if preview is not None else BAD_REQUEST
    return render(request, "pages/lab/alias_new.html", context, status=status)


@require_POST
@operator_required
def undo(request: HttpRequest, number: int) -> HttpResponse:
    """File the runs of an alias as they were sent."""
    try:
        alias = undo_name_alias(number=min(number, NUMBER_MAX), by=signed_in_user(request))
        messages.success(request, f"Taken back: {alias}.")
    except Unprocessable as refusal:
        messages.error(request, str(refusal))
    return redirect("aliases")


def _done(form: AliasForm, act: Callable[[AliasNames], Found]) -> Found | None:
    """What ``act`` found; None where the form names what is to be mended."""
    if not form.is_valid():
        return None
    try:
        return act(form.names())
    except Unprocessable as refusal:
        form.refuse(refusal)
        return None
