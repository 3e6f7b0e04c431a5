"""`/account/`: where one's mails go, when not, and under which names one commits."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from webapp.accounts.models import User
from webapp.accounts.operators import ModelForm
from webapp.accounts.roles import signed_in_required
from webapp.accounts.services import OWN, save_own_settings

ALIASES_MAX = 20
ALIAS_MAX = 254
BAD_REQUEST = 400


class AccountForm(ModelForm):
    """One's own settings."""

    email = forms.EmailField(label="E-mail", required=False)
    aliases = forms.CharField(
        label="Also known as",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 40}),
        help_text="Other addresses and committer names of yours, one a line: mjg@FreeBSD.org, mjg",
    )
    time_zone = forms.ChoiceField(label="Time zone")
    quiet_from = forms.TimeField(label="Quiet from", required=False, widget=forms.TimeInput)
    quiet_until = forms.TimeField(label="Quiet until", required=False)

    class Meta:
        model = User
        fields = OWN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["aliases"] = "\n".join(self.instance.aliases)
        zone: Any = self.fields["time_zone"]
        zone.choices = [(name, name) for name in sorted(available_timezones())]
        for name in ("quiet_from", "quiet_until"):
            self.fields[name].widget = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")

    def clean_aliases(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["aliases"].splitlines()]
        names = list(dict.fromkeys(filter(None, lines)))
        if len(names) > ALIASES_MAX or any(len(name) > ALIAS_MAX for name in names):
            raise forms.ValidationError(
                f"Give at most {ALIASES_MAX} names of at most {ALIAS_MAX} characters."
            )
        return names

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if (given.get("quiet_from") is None) != (given.get("quiet_until") is None):
            self.add_error("quiet_until", "Give both ends of the quiet hours, or none.")
        elif given.get("quiet_from") and given["quiet_from"] == given["quiet_until"]:
            self.add_error("quiet_until", "Give another time than that of the beginning.")
        return given


@signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    # Another object than the request's: the page's bar names the person while errors are shown.
    user = User.objects.get(username=request.user.get_username())
    form = AccountForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        save_own_settings(user=form.save(commit=False))
        messages.success(request, "Saved.")
        return redirect("account")
    status = BAD_REQUEST if request.method == "POST" else 200
    return render(request, "pages/account.html", {"form": form}, status=status)
