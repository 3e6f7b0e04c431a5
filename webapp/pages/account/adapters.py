"""What django-allauth asks of this instance: its words, its mails, who gets an account, and the
provider of single sign-on, OpenID Connect with the identities of one issuer.
"""

import hashlib
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.accounts.models import User
from webapp.accounts.services import read_secret
from webapp.encryption import encrypt
from webapp.notifications.services import ask_new_password, notify_of_change

PROVIDER = "oidc"
"""What identities are stored under."""

FORBIDDEN = 403
log = structlog.get_logger()
CHANGES = {
    "account/email/password_reset": "Your password was set anew by mail",
    "mfa/email/totp_activated": "An authenticator app was added to your account",
    "mfa/email/totp_deactivated": "The authenticator app of your account was removed",
    "mfa/email/webauthn_added": "A key was added to your account",
    "mfa/email/webauthn_removed": "A key of your account was removed",
    "mfa/email/recovery_codes_generated": "Your account has new recovery codes",
    "socialaccount/email/account_connected": "Your account was connected with single sign-on",
    "socialaccount/email/account_disconnected": "Your account was disconnected from single sign-on",
}
"""What the person is mailed, by allauth's name of the mail."""

MESSAGES = {
    "account/messages/password_changed.txt": "Your password is changed.",
    "mfa/messages/totp_activated.txt": "The app is added: signing in asks for its code.",
    "mfa/messages/totp_deactivated.txt": "The app is removed.",
    "mfa/messages/webauthn_added.txt": "The key is added.",
    "mfa/messages/webauthn_removed.txt": "The key is removed.",
    "mfa/messages/recovery_codes_generated.txt": "You have new recovery codes: keep them.",
    "socialaccount/messages/account_connected.txt": "Your account is connected.",
    "socialaccount/messages/account_connected_updated.txt": "Your account was connected already.",
    "socialaccount/messages/account_connected_other.txt": "Another account is connected with that "
    "identity: disconnect that one first.",
    "socialaccount/messages/account_disconnected.txt": "Your account is disconnected.",
}
"""The message of the next page, by allauth's name of the message; it has more, which are not shown.
"""


class IdentityProvider(OpenIDConnectProvider):
    """Who somebody is follows from the issuer and its subject, and from nothing else.

    An instance that changes its provider would else take the new one's subject 17 for the former
    one's. Of what the provider knows about people only a name for the page is stored.
    """

    def extract_uid(self, data: dict[str, Any]) -> str:
        """A digest of issuer and subject. Raises OAuth2Error where the provider names nobody, or
        answers for another subject than that of the token (OpenID Connect Core, 5.3.2).
        """
        token, info = data.get("id_token") or {}, data.get("userinfo") or {}
        issuer, subject = token.get("iss"), token.get("sub")
        if not issuer or not subject or info.get("sub", subject) != subject:
            raise OAuth2Error("The provider does not say who signed in.")
        return hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Under which name the page of the account shows the identity."""
        common = self.extract_common_fields(data)
        name = common.get("username") or common.get("email") or common.get("name")
        return {"name": str(name or "")[:150]}


class Accounts(DefaultAccountAdapter):
    """Accounts are made by operators, and mails leave by the outbox."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "Wrong username or password. Capital letters count.",
        "incorrect_password": "This is not your password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """No: operators add accounts, or single sign-on makes them (`SingleSignOn`)."""
        return False

    def is_safe_url(self, url: str | None) -> bool:
        """Whether it leads to a page of ours: the other names of this host are other sites."""
        request = self.request
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        )

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Back to the page to sign in, with a message."""
        messages.error(request, "This account is not active; an operator can change that.")
        return redirect("account_login")

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Post the mail with the link, which is made when it is sent."""
        ask_new_password(user=user)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Post the mail about what was changed."""
        if what := CHANGES.get(template_prefix):
            notify_of_change(user=user, what=f"{what}.")

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *_: Any,
        message: str | None = None,
        **__: Any,
    ) -> None:
        """Show the message on the next page, in our own text."""
        if text := message or MESSAGES.get(message_template or ""):
            messages.add_message(request, level, text)


class Factors(DefaultMFAAdapter):
    """Second factors, in our words."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "Wrong code or key. A code of the app is valid for half a minute and "
        "works once."
    }

    def generate_authenticator_name(self, user: Any, type: str) -> str:  # noqa: A002 (by keyword)
        """What the form of a new key proposes."""
        return f"Key {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"

    def encrypt(self, text: str) -> str:
        """The secret of an app or of recovery codes, as it is stored."""
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret in clear. Raises FactorUnreadable, also for an empty one."""
        return read_secret(encrypted_text)


class SingleSignOn(DefaultSocialAccountAdapter):
    """One provider, from the settings, and nobody's account by an address alone."""

    error_messages = DefaultSocialAccountAdapter.error_messages | {
        "no_password": "Your account has no password: without single sign-on you could not sign "
        "in. An operator can give it one."
    }

    def on_authentication_error(self, request: HttpRequest, *_: Any, **details: Any) -> None:
        """Back to the page to sign in, with a message; what failed is in the log.

        Raises ImmediateHttpResponse.
        """
        error, exception = details.get("error"), details.get("exception")
        log.warning("single sign-on failed", error=str(error), exception=str(exception))
        cancelled = error == AuthError.CANCELLED
        what = "was cancelled" if cancelled else "failed; try again, or ask an operator"
        messages.error(request, f"Signing in with {settings.OIDC_NAME} {what}.")
        raise ImmediateHttpResponse(redirect("account_login"))

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """The provider of the settings; none without its address."""
        if not settings.OIDC_URL or provider not in (None, PROVIDER, IdentityProvider.id):
            return []
        return [
            SocialApp(
                provider=IdentityProvider.id,
                provider_id=PROVIDER,
                name=settings.OIDC_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings={"server_url": settings.OIDC_URL, "oauth_pkce_enabled": True},
            )
        ]

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> IdentityProvider:
        """The provider. Raises SocialApp.DoesNotExist where there is none."""
        return IdentityProvider(request, app=self.get_app(request, provider))

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Of a newcomer keep an address that the provider has seen answer, and no other: mails,
        and links to a new password, go to it.
        """
        if sociallogin.is_existing:
            return
        verified = [one.email for one in sociallogin.email_addresses if one.verified]
        sociallogin.email_addresses = []
        sociallogin.user.email = verified[0] if verified else ""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Whether a newcomer gets an account; a page has the reason why not."""
        email = sociallogin.user.email
        has_account = bool(email) and User.objects.filter(email__iexact=email).exists()
        if settings.OIDC_ACCOUNTS and not has_account:
            return True
        context = {"name": settings.OIDC_NAME, "email": email if has_account else ""}
        page = render(request, "pages/account/no_account.html", context, status=FORBIDDEN)
        raise ImmediateHttpResponse(page)

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """Store the newcomer. The address belongs to the account: allauth keeps none."""
        user: User = sociallogin.user
        email, user.email = user.email, ""
        super().save_user(request, sociallogin, form)
        user.email = email
        user.save(update_fields=["email"])
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        """Where the connection is shown."""
        return reverse("mfa_index")
