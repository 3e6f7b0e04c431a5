"""Settings that are the same in every instance: how people sign in, by django-allauth; what a page
may load, which is no script or style but our own files, and nothing of another host; and which
function composes each kind of mail.

Allauth's own counts of tries are off: they need the cache, and refuse without saying for how long.
Ours (`webapp.accounts.signing_in.limits`) stand in all of its forms. Addresses of people are those
of their accounts, which answered or which an operator set; allauth keeps none of its own.

Rooms above the outbox own the words of mails: a composing function, named by its dotted path, takes
the stored mail and returns a `Message`. A system check tries every one of them.
"""

from collections.abc import Mapping
from typing import Any

SIGN_IN: dict[str, Any] = {
    "ACCOUNT_ADAPTER": "webapp.pages.account.adapters.Accounts",
    "ACCOUNT_LOGIN_METHODS": {"username"},
    "ACCOUNT_SIGNUP_FIELDS": ["username*", "password1*"],
    "ACCOUNT_EMAIL_VERIFICATION": "none",
    "ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS": False,
    "ACCOUNT_EMAIL_NOTIFICATIONS": True,
    "ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR": "django.contrib.auth.tokens."
    "PasswordResetTokenGenerator",
    "ACCOUNT_REAUTHENTICATION_REQUIRED": True,
    "ACCOUNT_REAUTHENTICATION_METHODS": ["password", "mfa"],
    "ACCOUNT_SESSION_REMEMBER": True,
    # Whoever lacks a role signs in as somebody else.
    "ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS": False,
    "ACCOUNT_RATE_LIMITS": False,
    "ACCOUNT_FORMS": {
        "login": "webapp.pages.account.account_forms.SignInForm",
        "reauthenticate": "webapp.pages.account.account_forms.PasswordAgainForm",
        "reset_password": "webapp.pages.account.account_forms.ForgottenForm",
    },
    "MFA_ADAPTER": "webapp.pages.account.adapters.Factors",
    "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
    "MFA_PASSKEY_LOGIN_ENABLED": True,
    # Addresses of accounts are not held by allauth, so it would find none that is verified.
    "MFA_ALLOW_UNVERIFIED_EMAIL": True,
    # Clocks of phones are half a minute off.
    "MFA_TOTP_TOLERANCE": 1,
    "MFA_RATE_LIMITS": False,
    "MFA_FORMS": {
        "authenticate": "webapp.pages.account.account_forms.CodeForm",
        "reauthenticate": "webapp.pages.account.account_forms.CodeAgainForm",
        "activate_totp": "webapp.pages.account.account_forms.NewAppForm",
        "authenticate_webauthn": "webapp.pages.account.account_forms.KeyForm",
        "login_webauthn": "webapp.pages.account.account_forms.PasskeyForm",
        "reauthenticate_webauthn": "webapp.pages.account.account_forms.KeyAgainForm",
        "add_webauthn": "webapp.pages.account.account_forms.NewKeyForm",
    },
    "SOCIALACCOUNT_ADAPTER": "webapp.pages.account.adapters.SingleSignOn",
    "SOCIALACCOUNT_REQUESTS_TIMEOUT": 3,
}

POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

COMPOSERS: Mapping[str, str] = {
    "account.address": "webapp.notifications.mails.notices.address",
    "account.password": "webapp.notifications.mails.notices.new_password",
    "account.changed": "webapp.notifications.mails.notices.sign_in_changed",
    "alert.opened": "webapp.notifications.mails.alerts.opened",
    "alert.confirmed": "webapp.notifications.mails.alerts.confirmed",
    "alert.moved": "webapp.notifications.mails.alerts.moved",
    "alert.recovered": "webapp.notifications.mails.alerts.recovered",
    "alert.returned": "webapp.notifications.mails.alerts.returned",
    "alert.retracted": "webapp.notifications.mails.alerts.retracted",
    "digest.daily": "webapp.notifications.mails.alerts.daily",
    "digest.weekly": "webapp.notifications.mails.alerts.weekly",
    "lab.refused": "webapp.notifications.mails.notices.refused",
    "status.changed": "webapp.notifications.mails.notices.changed",
    "bisect.done": "webapp.bisects.mails.compose_done",
}
