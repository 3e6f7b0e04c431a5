"""`/events/`: what happened in the labs, recorded, edited and withdrawn by people."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.events import services
from webapp.events.models import TEXT_MAX, LabEvent
from webapp.labs.models import Lab
from webapp.pages.parts.links import NUMBER_MAX, newest, read_text, with_parts
from webapp.results.models import Hardware, Tree
from webapp.results.services import Unprocessable

ROWS = 50
BAD_REQUEST = 400
PARTS = ("tree", "hardware")
INITIAL = (*PARTS, "kind", "first", "last")
MOMENT = "%Y-%m-%dT%H:%M:%S"


class NamesForm(forms.Form):
    """A form that names rows, which a service looks up."""

    def refuse(self, refusal: Unprocessable) -> None:
        """Show beside each field what is wrong with it."""
        for problem in refusal.problems:
            self.add_error(problem.path if problem.path in self.fields else None, problem.message)


class EventForm(NamesForm):
    """A new or edited event, by names."""

    kind = forms.ChoiceField(choices=LabEvent.Kind.choices)
    text = forms.CharField(
        label="What happened", max_length=TEXT_MAX, widget=forms.Textarea(attrs={"rows": 3})
    )
    hardware = forms.ModelChoiceField(
        Hardware.objects.all(), to_field_name="name", required=False, empty_label="not one alone"
    )
    lab = forms.ModelChoiceField(
        Lab.objects.all(),
        to_field_name="name",
        label="Or a whole lab",
        required=False,
        empty_label="no",
    )
    tree = forms.ModelChoiceField(
        Tree.objects.all(),
        to_field_name="name",
        required=False,
        empty_label="all",
        help_text="Needed with revisions, and where it concerns neither hardware nor a lab.",
    )
    happened_at = forms.DateTimeField(
        label="At (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1}, format=MOMENT),
    )
    first = forms.CharField(
        label="Or from revision", max_length=64, required=False, help_text="The first it shows at."
    )
    last = forms.CharField(
        label="up to revision", max_length=64, required=False, help_text="Empty: that one alone."
    )
    begins_epoch = forms.BooleanField(
        label="Begins an epoch",
        required=False,
        help_text="What was measured before it is not compared with what comes after.",
    )

    fields_given: services.EventFields | None = None

    def clean(self) -> dict[str, Any] | None:
        """Find the rows that the names mean."""
        found = super().clean()
        if not self.errors:
            try:
                self.fields_given = services.event_fields(self._names())
            except Unprocessable as refusal:
                self.refuse(refusal)
        return found

    def _names(self) -> services.EventNames:
        given = self.cleaned_data
        return services.EventNames(
            kind=given["kind"],
            text=given["text"],
            hardware=given["hardware"].name if given["hardware"] else "",
            lab=str(given["lab"] or ""),
            tree=str(given["tree"] or ""),
            happened_at=given["happened_at"],
            first=given["first"],
            last=given["last"],
            begins_epoch=given["begins_epoch"],
        )


def form_of(event: LabEvent) -> EventForm:
    """The form filled in from ``event``."""
    names = ("kind", "text", "happened_at", "begins_epoch")
    rows = ("hardware", "lab", "tree", "first", "last")
    initial = {name: getattr(event, name) for name in names}
    initial |= {name: row.name if (row := getattr(event, name)) else "" for name in rows}
    return EventForm(initial=initial)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Events by tree and hardware, the last recorded first; withdrawn ones are marked."""
    wanted = {part: read_text(request.GET, part) for part in PARTS}
    rows, before = newest(LabEvent.objects.about(**wanted).named(), request, ROWS)
    context = {
        "wanted": wanted,
        "trees": Tree.objects.all(),
        "hardware": Hardware.objects.all(),
        "events": rows,
        "older": with_parts(reverse("events"), wanted | {"before": before}) if before else "",
        "can_act": is_triager(request.user),
    }
    return render(request, "pages/lab/events.html", context)


@triager_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new event; the address may fill it in (`INITIAL`). POST records it."""
    user = signed_in_user(request)
    if request.method != "POST":
        form = EventForm(initial={part: request.GET.get(part, "") for part in INITIAL})
        return render(request, "pages/lab/event_new.html", {"form": form})
    form = EventForm(request.POST)

    def record(fields: services.EventFields) -> LabEvent:
        source = LabEvent.Source.PERSON
        return services.record_event(fields=fields, source=source, created_by=user)[0]

    event = _stored(form, record)
    if event is None:
        return render(request, "pages/lab/event_new.html", {"form": form}, status=BAD_REQUEST)
    messages.success(request, "Recorded.")
    return redirect(event)


@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, number: int) -> HttpResponseBase:
    """One event; POST edits it."""
    if request.method == "POST":
        return _edit(request, number)
    event = _event(number)
    can_act = is_triager(request.user) and not event.is_withdrawn
    context = {"event": event, "form": form_of(event) if can_act else None}
    return render(request, "pages/lab/event.html", context)


@triager_required
def _edit(request: HttpRequest, number: int) -> HttpResponse:
    user, event, form = signed_in_user(request), _event(number), EventForm(request.POST)
    changed = _stored(
        form, lambda fields: services.edit_event(event=event.pk, fields=fields, actor=user)
    )
    if changed is None:
        context = {"event": event, "form": form}
        return render(request, "pages/lab/event.html", context, status=BAD_REQUEST)
    messages.success(request, "Saved.")
    return redirect(changed)


@require_POST
@triager_required
def withdraw(request: HttpRequest, number: int) -> HttpResponse:
    """Let an event count no more."""
    event = _event(number)
    reason = request.POST.get("reason", "").replace("\0", "")
    try:
        services.withdraw_event(event=event.pk, actor=signed_in_user(request), reason=reason)
        messages.success(request, "Withdrawn.")
    except Unprocessable as refusal:
        messages.error(request, str(refusal))
    return redirect(event)


def _stored(form: EventForm, store: Callable[[services.EventFields], LabEvent]) -> LabEvent | None:
    """The event; None where the form names what is to be mended."""
    if not form.is_valid() or form.fields_given is None:
        return None
    try:
        return store(form.fields_given)
    except Unprocessable as refusal:
        form.refuse(refusal)
        return None


def _event(number: int) -> LabEvent:
    return get_object_or_404(LabEvent.objects.named(), pk=min(number, NUMBER_MAX))
