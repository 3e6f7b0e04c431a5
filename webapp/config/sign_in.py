"""How people sign in: the settings of django-allauth, which are the same in every instance.

Its own counts of tries are off: they need the cache, and refuse without saying for how long. Ours
(`webapp.accounts.signing_in.limits`) stand in all of its forms. Addresses of people are those of
their accounts, which answered or which an operator set; it keeps none of its own.
"""

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
        "login": "webapp.pages.account.sign_in_forms.SignInForm",
        "reauthenticate": "webapp.pages.account.sign_in_forms.PasswordAgainForm",
        "reset_password": "webapp.pages.account.sign_in_forms.ForgottenForm",
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
        "authenticate": "webapp.pages.account.factor_forms.CodeForm",
        "reauthenticate": "webapp.pages.account.factor_forms.CodeAgainForm",
        "activate_totp": "webapp.pages.account.factor_forms.NewAppForm",
        "authenticate_webauthn": "webapp.pages.account.factor_forms.KeyForm",
        "login_webauthn": "webapp.pages.account.factor_forms.PasskeyForm",
        "reauthenticate_webauthn": "webapp.pages.account.factor_forms.KeyAgainForm",
        "add_webauthn": "webapp.pages.account.factor_forms.NewKeyForm",
    },
    "SOCIALACCOUNT_ADAPTER": "webapp.pages.account.adapters.SingleSignOn",
    "SOCIALACCOUNT_REQUESTS_TIMEOUT": 3,
}
