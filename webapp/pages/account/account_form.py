"""What people say about themselves."""

from typing import Any
from zoneinfo import available_timezones

from django import forms

from webapp.accounts.admin import ModelForm
from webapp.accounts.models import User
from webapp.accounts.services import OWN
from webapp.pages.mail.subscription_form import check_author

ALIASES_MAX = 20
ALIAS_MAX = 254
ADDRESS_MAX = 254
"""As long as the account holds one; a form's own limit is more."""


class AccountForm(ModelForm):
    """One's own settings."""

    email = forms.EmailField(
        label="E-mail",
        required=False,
        max_length=ADDRESS_MAX,
        show_hidden_initial=True,
        help_text="A new one counts once you opened the link that is mailed to it.",
    )
    aliases = forms.CharField(
        label="Also known as",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 40}),
        help_text="Other addresses and committer names of yours, one a line.",
    )
    time_zone = forms.ChoiceField(label="Time zone")
    quiet_from = forms.TimeField(label="Quiet from", required=False, widget=forms.TimeInput)
    quiet_until = forms.TimeField(label="Quiet until", required=False)
    single_keys = forms.BooleanField(
        label="Single keys",
        required=False,
        help_text="Letters and signs act on pages: j, a, g t; ? lists them. Off: Enter and Esc.",
    )

    class Meta:
        model = User
        fields = OWN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked = ""
        self.initial["aliases"] = "\n".join(self.instance.aliases)
        zone: Any = self.fields["time_zone"]
        zone.choices = [(name, name) for name in sorted(available_timezones())]
        for name in ("quiet_from", "quiet_until"):
            self.fields[name].widget = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")

    def clean_email(self) -> str:
        """The address to store: the former one, until a new one has answered."""
        given: str = self.cleaned_data["email"]
        former: str = self.initial["email"]
        if given == self.data.get(self["email"].html_initial_name):
            # As the page showed it, which may be older than a link that was opened since.
            return former
        self.asked = given if given and given != former else ""
        return former if self.asked else given

    def clean_aliases(self) -> list[str]:
        """The names, one a line, each once. Raises ValidationError for too many or too long."""
        lines = [line.strip() for line in self.cleaned_data["aliases"].splitlines()]
        names = list(dict.fromkeys(filter(None, lines)))
        if len(names) > ALIASES_MAX or any(len(name) > ALIAS_MAX for name in names):
            raise forms.ValidationError(
                f"Give at most {ALIASES_MAX} names of at most {ALIAS_MAX} characters."
            )
        for name in names:
            check_author(name)
        return names

    def clean(self) -> dict[str, Any]:
        """Both ends of the quiet hours or none, and not the same."""
        given = super().clean() or self.cleaned_data
        if (given.get("quiet_from") is None) != (given.get("quiet_until") is None):
            self.add_error("quiet_until", "Give both ends of the quiet hours, or none.")
        elif given.get("quiet_from") and given["quiet_from"] == given["quiet_until"]:
            self.add_error("quiet_until", "Give another time than that of the beginning.")
        return given
