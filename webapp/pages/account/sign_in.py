"""Signing in and what belongs to it: django-allauth's views, in our pages and within our limits."""

from typing import Any

from allauth.account.views import LoginView, PasswordResetView
from allauth.mfa.base.views import IndexView
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from allauth.socialaccount.views import ConnectionsView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from webapp.accounts.services import Asking, FactorUnreadable, is_readable
from webapp.outbox.services import mail_settings
from webapp.pages.account.adapters import PROVIDER

SENT = (
    "If an account with a password has this address, a link was mailed to it; it holds for "
    f"{settings.PASSWORD_RESET_TIMEOUT // 3600} hours."
)
REDIRECTS = 302


def sign_on_name() -> str:
    """What the provider of single sign-on is called; empty where there is none."""
    return settings.OIDC_NAME if settings.OIDC_URL else ""


class SignIn(LoginView):
    """Name and password, a passkey, or single sign-on."""

    template_name = "pages/account/sign_in.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With where to go then, and what the provider is called."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["next"] = self.get_next_url() or ""
        return context | {"sign_on": sign_on_name()}

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in. Whoever was signed in here is not any more, also while a code is asked for."""
        if self.request.user.is_authenticated:
            logout(self.request)
        response: HttpResponse = super().form_valid(form)
        return response


class Passkey(LoginWebAuthnView):
    """A passkey instead of a password; the browser asks for the challenge first."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The challenge, as JSON. Each makes a session, so a stranger gets so many a minute."""
        Asking(request).spend()
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response


class Forgotten(PasswordResetView):
    """A link to a new password. The answer is the same whether an account has the address."""

    template_name = "pages/account/forgotten.html"
    success_url = reverse_lazy("account_login")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With where mails go, if not to people."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"way": mail_settings.in_force().way}

    def form_valid(self, form: Any) -> HttpResponse:
        """Post the mail if there is such an account, and say what was done if there is."""
        Asking(self.request).spend()
        response: HttpResponse = super().form_valid(form)
        messages.info(self.request, SENT)
        return response


class Factors(IndexView):
    """What a person signs in with."""

    template_name = "pages/account/factors.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With keys, and identities of single sign-on."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        found = context["authenticators"]
        context["keys"] = found.get("webauthn", [])
        wraps = [found[kind] for kind in ("totp", "recovery_codes") if kind in found]
        context["unreadable"] = [
            one.instance.type for one in wraps if not is_readable(one.instance)
        ]
        connected = SocialAccount.objects.filter(user=self.request.user).order_by("pk")
        return context | {"sign_on": sign_on_name(), "connected": list(connected)}


class Codes(ViewRecoveryCodesView):
    """The recovery codes that are left."""

    template_name = "pages/account/factor_codes.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With the codes, unless they cannot be read."""
        try:
            context: dict[str, Any] = super().get_context_data(**kwargs)
        except FactorUnreadable:
            return kwargs | {"is_unreadable": True, "unused_codes": []}
        return context


class Disconnect(ConnectionsView):
    """Removes an identity of single sign-on."""

    http_method_names = ["post"]
    success_url = reverse_lazy("mfa_index")

    def form_invalid(self, form: Any) -> HttpResponse:
        """Say why not, on the page that it was asked from."""
        for error in form.non_field_errors() or ["This identity is not connected any more."]:
            messages.error(self.request, error)
        return redirect(self.success_url)


@login_not_required
@never_cache
@require_POST
def sign_on(request: HttpRequest) -> HttpResponseBase:
    """The way to the provider, by a page that leads there.

    A redirect would be refused: the policy of our pages lets forms send to this host alone.
    """
    Asking(request).spend()
    try:
        response: HttpResponseBase = openid_connect.login(request, PROVIDER)
    except (RequestException, KeyError):
        messages.error(request, f"{settings.OIDC_NAME} does not answer now; try again later.")
        return redirect("account_login")
    if response.status_code != REDIRECTS:
        return response
    context = {"name": settings.OIDC_NAME, "to": response["Location"]}
    return render(request, "pages/account/sign_on.html", context)


@login_not_required
@never_cache
@require_safe
def signed_on(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Where the provider sends people back to."""
    try:
        response: HttpResponseBase = openid_connect.callback(request, provider_id)
    except (RequestException, KeyError):
        messages.error(request, f"{settings.OIDC_NAME} does not answer now; try again later.")
        return redirect("account_login")
    return response
