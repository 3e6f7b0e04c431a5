"""Settings. The only module that reads the environment; every variable has a documented default."""

from pathlib import Path
from typing import Any

import environ

BASE_DIR = Path(__file__).resolve().parents[2]
env = environ.Env()

STATE = Path(env("STATE", default=str(BASE_DIR / ".run"))).resolve()
SECRET_KEY = env("SECRET_KEY", default="development")
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

INSTALLED_APPS = [
    "webapp.accounts",
    "webapp.labs",
    "webapp.results",
    "webapp.regressions",
    "webapp.api",
    "webapp.pages",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_htmx",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
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
            ]
        },
    }
]
DATABASES = {"default": env.db("DATABASE_URL", default="postgresql:///driftline")}
REDIS_URL = env("REDIS_URL", default="redis://127.0.0.1:6379/0")
AUTH_USER_MODEL = "accounts.User"
MIGRATION_MODULES = {
    "accounts": "migrations.accounts",
    "labs": "migrations.labs",
    "results": "migrations.results",
    "regressions": "migrations.regressions",
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
