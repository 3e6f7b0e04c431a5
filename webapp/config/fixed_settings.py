"""Settings that are the same in every instance: no variable of the environment changes them.

Allauth's own counts of tries are off: they need the cache, and refuse without stating for how long.
Ours (`webapp.accounts.limits`) stand in all of its forms. Addresses of people are those
of their accounts, which answered or which an operator set; allauth keeps none of its own.

Rooms above the outbox own the words of mails: a composing function, named by its dotted path in
``MAIL_COMPOSERS``, takes the stored mail and returns a `Message`. A system check tries every one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kombu import Exchange, Queue

BASE_DIR = Path(__file__).resolve().parents[2]

NEW_OBJECTS = 10_000
"""So many more before Python looks for cycles among the new ones: by its 700 it looked ten times
while one chart was drawn, and again and again in an analysis, a tenth of the time either took."""

INSTALLED_APPS = [
    "webapp.launcher",
    "webapp.config",
    "webapp.readiness",
    "webapp.demo",
    "webapp.accounts",
    "webapp.outbox",
    "webapp.labs",
    "webapp.results",
    "webapp.jobs",
    "webapp.events",
    "webapp.analysis",
    "webapp.alerts",
    "webapp.notifications",
    "webapp.bisects",
    "webapp.experiments",
    "webapp.merging",
    "webapp.api",
    "webapp.pages",
    "webapp.config.admin_site.SiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_htmx",
    "ninja",
]
MIDDLEWARE = [
    "webapp.config.middleware.CountRequests",
    "django.middleware.security.SecurityMiddleware",
    "webapp.config.middleware.RefuseLargeBodies",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "webapp.config.middleware.PrivateAnswers",
    "webapp.config.replica.RememberWrites",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "webapp.config.middleware.Acting",
    "allauth.account.middleware.AccountMiddleware",
    "webapp.accounts.limits.SignIn",
    "webapp.config.middleware.PrivateInstance",
    "webapp.config.middleware.RejectNulBytes",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "webapp.config.middleware.DatabaseLost",
]
ROOT_URLCONF = "webapp.config.urls"
WSGI_APPLICATION = "webapp.config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "webapp" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webapp.config.middleware.reading",
            ],
            "libraries": {
                "components": "webapp.pages.parts.components",
                "demonstration": "webapp.demo.links",
                "driftline": "webapp.pages.parts.filters",
            },
        },
    }
]
_measured = ["labs", "results", "jobs", "events", "analysis", "alerts", "bisects", "experiments"]
_tables = ["readiness", "accounts", "outbox", "notifications", *_measured]
MIGRATION_MODULES = {app: f"migrations.{app}" for app in _tables}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LOGGING_CONFIG = "webapp.config.logging.configure"

# How people sign in, by django-allauth
AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["webapp.accounts.limits.LimitedBackend"]
PASSWORD_HASHERS = ["webapp.accounts.limits.BoundedHasher"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "overview"
PASSWORD_RESET_TIMEOUT = 86_400
ACCOUNT_ADAPTER = "webapp.pages.account.adapters.Accounts"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105 (a dotted path)
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
ACCOUNT_SESSION_REMEMBER = True
# Whoever lacks a role signs in as somebody else.
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_RATE_LIMITS = False
ACCOUNT_FORMS = {
    "login": "webapp.pages.account.account_forms.SignInForm",
    "reauthenticate": "webapp.pages.account.account_forms.PasswordAgainForm",
    "reset_password": "webapp.pages.account.account_forms.ForgottenForm",
}
MFA_ADAPTER = "webapp.pages.account.adapters.Factors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# Addresses of accounts are not held by allauth, so it would find none that is verified.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Clocks of phones are half a minute off.
MFA_TOTP_TOLERANCE = 1
MFA_RATE_LIMITS = False
MFA_FORMS = {
    "authenticate": "webapp.pages.account.account_forms.CodeForm",
    "reauthenticate": "webapp.pages.account.account_forms.CodeAgainForm",
    "activate_totp": "webapp.pages.account.account_forms.NewAppForm",
    "authenticate_webauthn": "webapp.pages.account.account_forms.KeyForm",
    "login_webauthn": "webapp.pages.account.account_forms.PasskeyForm",
    "reauthenticate_webauthn": "webapp.pages.account.account_forms.KeyAgainForm",
    "add_webauthn": "webapp.pages.account.account_forms.NewKeyForm",
}
SOCIALACCOUNT_ADAPTER = "webapp.pages.account.adapters.SingleSignOn"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 3

# Celery
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
# Endpoints and mail servers are as slow as they like, so what leaves has a queue and a worker of
# its own. A worker that is not given the queues to take from takes from all.
_exchange = Exchange("driftline")
CELERY_TASK_QUEUES = [Queue(name, _exchange, name) for name in ("analysis", "deliveries")]
CELERY_TASK_DEFAULT_QUEUE = CELERY_TASK_DEFAULT_ROUTING_KEY = "analysis"
CELERY_TASK_DEFAULT_EXCHANGE = _exchange.name
CELERY_TASK_ROUTES = {"webapp.outbox.tasks.*": {"queue": "deliveries"}}
# Acknowledged when done, so every task may run twice. One that kills its process is not queued
# again: it would kill the next one at once, for ever. Messages only wake workers; the sweeps find
# what a killed one left.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False
# Of a task that sends: it takes up nothing new after the first of them, and what is under way has
# deadlines of its own.
SENDING_SECONDS, SENDING_SOFT_LIMIT, SENDING_TIME_LIMIT = 60, 110, 120
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.5,
}
ALERT_SWEEP_SECONDS = 300.0  # a snooze ends to the minutes, quiet days to the hour
CANARY_SWEEP_SECONDS = 300.0  # they are due by days
PRUNE_SECONDS = 86_400.0
BACKUP_SWEEP_SECONDS = 3_600.0  # they are due by days
CELERY_BEAT_SCHEDULER = "webapp.readiness.scheduling:SingleScheduler"

# Large bodies at once in each process: of all, of one address, and of one token or person
LARGE_BODIES, LARGE_BODIES_PER_ADDRESS, LARGE_BODIES_PER_SENDER = 16, 8, 4

# Static files
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "webapp.config.staticfiles.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "webapp.config.staticfiles.StaticStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# What a page may load: no script or style but our own files, and nothing of another host
CONTENT_SECURITY_POLICY = {
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
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]

# Which function composes each kind of mail
MAIL_COMPOSERS: Mapping[str, str] = {
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
EMAIL_TIMEOUT = 10
EMAIL_SUBJECT_PREFIX = ""
