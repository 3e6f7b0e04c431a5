"""`/account/`: where a person's mails go, when not, and under which names the person commits; and
`/views/`: pages that people named, their own and those that others share.
"""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts import services
from webapp.accounts.admin import ModelForm
from webapp.accounts.models import SavedView, User
from webapp.notifications import services as notifications
from webapp.outbox.services import mail_settings
from webapp.pages.account.subscriptions import check_author
from webapp.pages.parts.links import NUMBER_MAX

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
        fields = services.OWN

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


BAD_REQUEST, NOT_FOUND = 400, 404


@method_decorator(services.signed_in_required, name="dispatch")
class Password(PasswordChangeView):
    """Changes one's own password; other sessions of the person end by that."""

    template_name = "pages/account/password.html"
    form_class = services.LimitedPasswordChange
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        """With the request, by which wrong passwords are counted."""
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        """Save, with a message on the next page."""
        messages.success(self.request, "Your password is changed.")
        notifications.notify_of_change(user=form.user, what="Your password was changed.")
        return super().form_valid(form)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def address(request: HttpRequest, token: str) -> HttpResponse:
    """What the link in the mail opens: GET shows, POST acts, for programs follow every link."""
    context: dict[str, Any] = {}
    try:
        context["new"] = new = notifications.NewAddress.read(token)
        if request.method == "POST":
            context["done"] = notifications.take_address(new)
    except notifications.AddressNotTaken as error:
        context["error"] = str(error)
    status = NOT_FOUND if "error" in context else 200
    return render(request, "pages/account/address.html", context, status=status)


@services.signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The person's own settings; POST saves them, or shows what is wrong with 400."""
    # Another object than the request's: the page's bar names the person while errors are shown.
    user = User.objects.get(username=request.user.get_username())
    form = AccountForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid() and _is_saved(request, form):
        return redirect("account")
    status = BAD_REQUEST if request.method == "POST" else 200
    context = {"form": form, "asked": notifications.asked_address(user)}
    return render(request, "pages/account/account.html", context, status=status)


@transaction.atomic
def _is_saved(request: HttpRequest, form: AccountForm) -> bool:
    user = form.save(commit=False)
    try:
        if form.asked:
            notifications.ask_address(user=user, address=form.asked)
    except notifications.AddressNotTaken as error:
        form.add_error("email", str(error))
        return False
    services.save_own_settings(user=user)
    messages.success(request, _saved_text(form))
    return True


def _saved_text(form: AccountForm) -> str:
    if not form.asked:
        return "Saved."
    way = mail_settings().way
    if way:
        return (
            f"Saved, but for {form.asked}: mails of this instance go {way}, so no link arrives "
            "there. An operator can set your address."
        )
    kept = form.instance.email
    goes = f"till then mails go to {kept}" if kept else "till then you get no mails"
    return f"Saved. A link was mailed to {form.asked}: open it to have mails sent there; {goes}."


@services.signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def views_page(request: HttpRequest) -> HttpResponse:
    """The views that the person can open; POST saves the page `address` as `name`."""
    user = services.signed_in_user(request)
    if request.method != "POST":
        return render(
            request, "pages/account/saved_views.html", {"views": services.views_for(user)}
        )
    name, address = request.POST.get("name", ""), request.POST.get("address", "")
    try:
        view = services.save_view(owner=user, name=name, address=address)
    except services.ViewError as error:
        messages.error(request, f"The view was not saved. {error}")
        return redirect("saved_views")
    messages.success(request, f"Saved as “{view}”.")
    return redirect("saved_views")


@services.signed_in_required
@require_POST
def act_on_view(request: HttpRequest, number: int) -> HttpResponse:
    """Share one of one's own, stop sharing it, or delete it."""
    owned = SavedView.objects.filter(owner=services.signed_in_user(request))
    view = owned.filter(pk=min(number, NUMBER_MAX)).first()
    wanted = request.POST.get("act", "")
    if view is None:
        messages.info(request, "You have no such view; it may be deleted already.")
    elif wanted == "delete":
        view.delete()
    elif wanted in ("share", "keep"):
        services.share_view(view=view, is_shared=wanted == "share")
    else:
        messages.error(request, "Choose what to do.")
    return redirect("saved_views")
