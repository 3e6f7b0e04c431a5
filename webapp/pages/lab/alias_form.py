"""What an operator says of a name that stands for another one."""

from django import forms

from webapp.labs.models import Lab
from webapp.results.models import DIRECTORY_MAX, HARDWARE_MAX, NameAlias, Tree
from webapp.results.services import AliasNames, Unprocessable

FIELDS = ("lab", "kind", "name", "means", "tree", "first", "last", "directory")


class AliasForm(forms.Form):
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

    def refuse(self, refusal: Unprocessable) -> None:
        """Say beside each field what is wrong with it."""
        for problem in refusal.problems:
            self.add_error(problem.path if problem.path in self.fields else None, problem.message)

    def names(self) -> AliasNames:
        """What the services take."""
        return AliasNames(**{name: str(self.cleaned_data[name] or "") for name in FIELDS})
