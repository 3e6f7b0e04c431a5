"""Signing in and what belongs to it: django-allauth's views, in our pages and within our limits,
and their addresses, under the names by which django-allauth knows them.

What has no address here does not exist: nobody signs up, and addresses of mail are changed on the
account's page.
"""

from collections.abc import Callable
from typing import Any

from allauth.account import views as account
from allauth.account.views import LoginView, PasswordResetView
from allauth.mfa.base import views as mfa
from allauth.mfa.base.views import IndexView
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp import views as app
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn import views as keys
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from allauth.socialaccount.views import ConnectionsView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from webapp.accounts.services import (
    Asking,
    FactorUnreadable,
    is_readable,
    signed_in_required,
    take_code,
)
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
        return context | {"way": mail_settings().way}

    def form_valid(self, form: Any) -> HttpResponse:
        """Post the mail if there is such an account, and state what was done if there is."""
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


class NewApp(ActivateTOTPView):
    """A new app."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Add the app, and take the code that was given: it opens nothing more."""
        response: HttpResponse = super().form_valid(form)
        take_code(user=self.request.user, code=form.cleaned_data["code"])
        return response


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
        """Give the reason, on the page that it was asked from."""
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


AnyView = Callable[..., HttpResponseBase]
HOME = reverse_lazy("mfa_index")


def own(view: Any, template: str, **options: Any) -> AnyView:
    """A page of who is signed in."""
    return signed_in_required(view.as_view(template_name=template, **options))


def act(view: Any, **options: Any) -> AnyView:
    """What a button on such a page does."""
    return require_POST(signed_in_required(view.as_view(success_url=HOME, **options)))


SIGN_IN: list[tuple[str, AnyView, str]] = [
    ("", never_cache(SignIn.as_view()), "account_login"),
    (
        "code/",
        mfa.AuthenticateView.as_view(template_name="pages/account/sign_in_code.html"),
        "mfa_authenticate",
    ),
    ("passkey/", Passkey.as_view(), "mfa_login_webauthn"),
    ("oidc/", sign_on, "openid_connect_login"),
    ("forgotten/", Forgotten.as_view(), "account_reset_password"),
    (
        "again/",
        own(account.ReauthenticateView, "pages/account/sign_in_again.html"),
        "account_reauthenticate",
    ),
    (
        "again/code/",
        own(mfa.ReauthenticateView, "pages/account/sign_in_again.html"),
        "mfa_reauthenticate",
    ),
    (
        "again/key/",
        own(keys.ReauthenticateWebAuthnView, "pages/account/sign_in_again.html"),
        "mfa_reauthenticate_webauthn",
    ),
]
OWN: list[tuple[str, AnyView, str]] = [
    ("", own(Factors, "pages/account/factors.html"), "mfa_index"),
    ("app/", own(NewApp, "pages/account/factor_app.html"), "mfa_activate_totp"),
    ("app/remove/", act(app.DeactivateTOTPView), "mfa_deactivate_totp"),
    ("keys/", own(keys.AddWebAuthnView, "pages/account/factor_key.html"), "mfa_add_webauthn"),
    ("keys/<int:pk>/remove/", act(keys.RemoveWebAuthnView), "mfa_remove_webauthn"),
    ("codes/", own(Codes, "pages/account/factor_codes.html"), "mfa_view_recovery_codes"),
    (
        "codes/new/",
        require_POST(signed_in_required(codes.GenerateRecoveryCodesView.as_view())),
        "mfa_generate_recovery_codes",
    ),
    ("oidc/remove/", act(Disconnect), "socialaccount_connections"),
]

urlpatterns = [
    *(path(f"sign-in/{route}", view, name=name) for route, view, name in SIGN_IN),
    path(
        "sign-in/oidc/callback/",
        signed_on,
        {"provider_id": PROVIDER},
        name="openid_connect_callback",
    ),
    path(
        "sign-in/new-password/<slug:uidb36>/<str:key>/",
        never_cache(
            account.PasswordResetFromKeyView.as_view(
                template_name="pages/account/new_password.html",
                success_url=reverse_lazy("account_login"),
            )
        ),
        name="account_reset_password_from_key",
    ),
    path("sign-out/", require_POST(account.LogoutView.as_view()), name="account_logout"),
    *(path(f"account/factors/{route}", view, name=name) for route, view, name in OWN),
]
