"""`/account/`: where one's mails go, when not, and under which names one commits."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from webapp.accounts.models import User
from webapp.accounts.services import LimitedPasswordChange, save_own_settings, signed_in_required
from webapp.notifications.services import (
    AddressNotTaken,
    NewAddress,
    ask_address,
    asked_address,
    take_address,
)
from webapp.outbox.services import mail_settings
from webapp.pages.account.account_form import AccountForm

BAD_REQUEST, NOT_FOUND = 400, 404


@method_decorator(signed_in_required, name="dispatch")
class Password(PasswordChangeView):
    """Changes one's own password; other sessions of the person end by that."""

    template_name = "pages/account_password.html"
    form_class = LimitedPasswordChange
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        """With the request, by which wrong passwords are counted."""
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        """Save, and say so on the next page."""
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def address(request: HttpRequest, token: str) -> HttpResponse:
    """What the link in the mail opens: GET shows, POST acts, for programs follow every link."""
    context: dict[str, Any] = {}
    try:
        context["new"] = new = NewAddress.read(token)
        if request.method == "POST":
            context["done"] = take_address(new)
    except AddressNotTaken as error:
        context["error"] = str(error)
    status = NOT_FOUND if "error" in context else 200
    return render(request, "pages/account_address.html", context, status=status)


@signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The person's own settings; POST saves them, or shows what is wrong with 400."""
    # Another object than the request's: the page's bar names the person while errors are shown.
    user = User.objects.get(username=request.user.get_username())
    form = AccountForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid() and _is_saved(request, form):
        return redirect("account")
    status = BAD_REQUEST if request.method == "POST" else 200
    context = {"form": form, "asked": asked_address(user)}
    return render(request, "pages/account.html", context, status=status)


@transaction.atomic
def _is_saved(request: HttpRequest, form: AccountForm) -> bool:
    user = form.save(commit=False)
    try:
        if form.asked:
            ask_address(user=user, address=form.asked)
    except AddressNotTaken as error:
        form.add_error("email", str(error))
        return False
    save_own_settings(user=user)
    messages.success(request, _saved_text(form))
    return True


def _saved_text(form: AccountForm) -> str:
    if not form.asked:
        return "Saved."
    way = mail_settings.in_force().way
    if way:
        return (
            f"Saved, but for {form.asked}: mails of this instance go {way}, so no link arrives "
            "there. An operator can set your address."
        )
    kept = form.instance.email
    goes = f"till then mails go to {kept}" if kept else "till then you get no mails"
    return f"Saved. A link was mailed to {form.asked}: open it to have mails sent there; {goes}."
