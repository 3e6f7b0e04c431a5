"""The addresses of signing in, under the names by which django-allauth knows them.

What is not here does not exist: nobody signs up, and addresses are changed on the account's page.
"""

from collections.abc import Callable
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as keys
from django.http import HttpResponseBase
from django.urls import path, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from webapp.accounts.services import signed_in_required
from webapp.pages.account import sign_in
from webapp.pages.account.adapters import PROVIDER

AnyView = Callable[..., HttpResponseBase]
HOME = reverse_lazy("mfa_index")


def own(view: Any, template: str, **options: Any) -> AnyView:
    """A page of who is signed in."""
    return signed_in_required(view.as_view(template_name=template, **options))


def act(view: Any, **options: Any) -> AnyView:
    """What a button on such a page does."""
    return require_POST(signed_in_required(view.as_view(success_url=HOME, **options)))


SIGN_IN: list[tuple[str, AnyView, str]] = [
    ("", never_cache(sign_in.SignIn.as_view()), "account_login"),
    (
        "code/",
        mfa.AuthenticateView.as_view(template_name="pages/account/sign_in_code.html"),
        "mfa_authenticate",
    ),
    ("passkey/", sign_in.Passkey.as_view(), "mfa_login_webauthn"),
    ("oidc/", sign_in.sign_on, "openid_connect_login"),
    ("forgotten/", sign_in.Forgotten.as_view(), "account_reset_password"),
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
    ("", own(sign_in.Factors, "pages/account/factors.html"), "mfa_index"),
    ("app/", own(app.ActivateTOTPView, "pages/account/factor_app.html"), "mfa_activate_totp"),
    ("app/remove/", act(app.DeactivateTOTPView), "mfa_deactivate_totp"),
    ("keys/", own(keys.AddWebAuthnView, "pages/account/factor_key.html"), "mfa_add_webauthn"),
    ("keys/<int:pk>/remove/", act(keys.RemoveWebAuthnView), "mfa_remove_webauthn"),
    ("codes/", own(sign_in.Codes, "pages/account/factor_codes.html"), "mfa_view_recovery_codes"),
    (
        "codes/new/",
        require_POST(signed_in_required(codes.GenerateRecoveryCodesView.as_view())),
        "mfa_generate_recovery_codes",
    ),
    ("oidc/remove/", act(sign_in.Disconnect), "socialaccount_connections"),
]

urlpatterns = [
    *(path(f"sign-in/{route}", view, name=name) for route, view, name in SIGN_IN),
    path(
        "sign-in/oidc/callback/",
        sign_in.signed_on,
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
