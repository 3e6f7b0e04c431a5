"""Forms of events and of aliases, which name rows that services look up."""

from typing import Any

from django import forms

from webapp.events.models import TEXT_MAX, LabEvent
from webapp.events.services import EventFields, EventNames, event_fields
from webapp.labs.models import Lab
from webapp.results.models import DIRECTORY_MAX, HARDWARE_MAX, Hardware, NameAlias, Tree
from webapp.results.services import AliasNames, Unprocessable

ALIAS_FIELDS = ("lab", "kind", "name", "means", "tree", "first", "last", "directory")
MOMENT = "%Y-%m-%dT%H:%M:%S"


class _NamesForm(forms.Form):
    def refuse(self, refusal: Unprocessable) -> None:
        """Show beside each field what is wrong with it."""
        for problem in refusal.problems:
            self.add_error(problem.path if problem.path in self.fields else None, problem.message)


class AliasForm(_NamesForm):
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


class EventForm(_NamesForm):
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

    fields_given: EventFields | None = None

    def clean(self) -> dict[str, Any] | None:
        """Find the rows that the names mean."""
        found = super().clean()
        if not self.errors:
            try:
                self.fields_given = event_fields(self._names())
            except Unprocessable as refusal:
                self.refuse(refusal)
        return found

    def _names(self) -> EventNames:
        given = self.cleaned_data
        return EventNames(
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
