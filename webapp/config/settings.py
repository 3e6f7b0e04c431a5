"""Settings. The only module that reads the environment; docs/figures.md lists every variable.

What no variable changes is in `webapp.config.fixed_settings`. Without any variable they describe
the system that `make up` starts from this checkout: its servers, its address and its key are
recorded in STATE (see `webapp.launcher`).
"""

import gc
import os
import secrets
import shlex
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery.schedules import schedule
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from webapp.config import connections, instance
from webapp.config.environment import Environment
from webapp.config.fixed_settings import *  # noqa: F403 (Django looks for all of them here)
from webapp.config.fixed_settings import (
    ALERT_SWEEP_SECONDS,
    BACKUP_SWEEP_SECONDS,
    BASE_DIR,
    CANARY_SWEEP_SECONDS,
    PRUNE_SECONDS,
    SENDING_TIME_LIMIT,
)
from webapp.config.logging import logging_config
from webapp.config.steady import SteadyClock

# Imports leave no garbage: looking for it takes a fifth of a command's start. On again in apps.py.
if not apps.ready:
    gc.disable()

# Where commands that pages show are found: in the checkout's own environment, as README.md calls
# them; in a container, and wherever else Driftline is installed, on the PATH.
COMMANDS = ".venv/bin/" if Path(sys.prefix).resolve() == BASE_DIR / ".venv" else ""
_env = Environment(os.environ)

# Where this instance lives, and what `make up` recorded there
STATE = _env.path("STATE", default=BASE_DIR / ".run")
try:
    _recorded = instance.read(STATE)
    _recorded_key = "" if _env.text("SECRET_KEY") else instance.read_secret_key(STATE)
except instance.BadState as error:
    raise ImproperlyConfigured(str(error)) from error
DATABASE_URL_GIVEN = bool(_env.text("DATABASE_URL"))
# What pages put before a command of this instance where it would find another one
_is_default = DATABASE_URL_GIVEN or STATE.resolve() == (BASE_DIR / ".run").resolve()
WHICH = "" if _is_default else f"STATE={shlex.quote(str(STATE))} "
# Where room is measured for PostgreSQL; None where it runs elsewhere
_elsewhere = DATABASE_URL_GIVEN and not _env.text("DRIFTLINE_DATABASE_DISK")
_disk = _env.path("DRIFTLINE_DATABASE_DISK", default=STATE)
DATABASE_DISK = None if _elsewhere else _disk
REDIS_URL_GIVEN = bool(_env.text("REDIS_URL"))

DEBUG = _env.flag("DRIFTLINE_DEBUG", default=False)
SECRET_KEY_GIVEN = bool(_env.text("SECRET_KEY"))
SECRET_KEY = _env.text("SECRET_KEY") or _recorded_key
if not SECRET_KEY:
    if DATABASE_URL_GIVEN and not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is needed beside DATABASE_URL: at least 50 random characters, the same in "
            "every process, e.g. from `openssl rand -base64 48`. SECRET_KEY_FILE may name a file."
        )
    # No instance yet: enough for commands such as makemigrations, and good for nothing else.
    SECRET_KEY = secrets.token_urlsafe(50)
SECRET_KEY_FALLBACKS = _env.listed("SECRET_KEY_FALLBACKS")
if not SECRET_KEY_GIVEN:
    SECRET_KEY_FALLBACKS += instance.read_former_keys(STATE)

# Of several machines on one database: which parts this one runs
_all_roles = ("web", "worker", "deliveries", "beat")
ROLES = _env.chosen("DRIFTLINE_ROLES", choices=_all_roles)
HAS_ALL_ROLES = _all_roles == ROLES

# Address. HOST is the name under which Caddy speaks TLS, maybe with a port.
HOST = _env.host("DRIFTLINE_HOST")
PUBLIC_URL = _env.page_url(
    "DRIFTLINE_PUBLIC_URL",
    default=f"https://{HOST}/" if HOST else _recorded.url or "http://127.0.0.1:8000/",
)
BIND = _env.text("DRIFTLINE_BIND", "127.0.0.1:8000")
# Whether Caddy stands before Gunicorn, and how many proxies of others before Caddy
FRONT = _env.flag("DRIFTLINE_FRONT", default=False)
TRUSTED_PROXIES = _env.number("DRIFTLINE_TRUSTED_PROXIES", default=0, least=0, most=10)
PROXIES = TRUSTED_PROXIES + FRONT
_public = urlsplit(PUBLIC_URL)
_over_tls = _public.scheme == "https"
# The local names serve the health checks of launcher, containers and load balancers.
ALLOWED_HOSTS = [
    *_env.listed("DRIFTLINE_ALLOWED_HOSTS"),
    *([_public.hostname] if _public.hostname else []),
    "localhost",
    "127.0.0.1",
    "[::1]",
]
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]

# Who may read: everybody, or only who has an account or an agent's token. None: as the database has
# it since its first `migrate` (webapp/accounts/services/people.py).
PUBLIC = _env.flag("DRIFTLINE_PUBLIC", default=False) if _env.text("DRIFTLINE_PUBLIC") else None

# Database. The web server keeps a pool for its threads; a worker process has one connection.
DATABASE_POOL = _env.number("DRIFTLINE_DATABASE_POOL", default=0, least=0, most=200)
_database = _env.database("DATABASE_URL", default=_recorded.database_url)
DATABASES = {"default": _database}
# Pages may be read from a replica (webapp.config.replica).
if _env.text("DATABASE_REPLICA_URL"):
    DATABASES["replica"] = _env.database("DATABASE_REPLICA_URL", default="")
    DATABASES["replica"]["TEST"] = {"MIRROR": "default"}
# After how long without a sign a machine at the other end of a connection counts as gone
SILENCE_SECONDS = _env.number("DRIFTLINE_SILENCE_SECONDS", default=25, least=5, most=7200)
_prepared = _env.flag("DRIFTLINE_PREPARED_STATEMENTS", default=True)
for _each in DATABASES.values():
    _each |= {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    _limits = {"connect_timeout": 5, **connections.of_client(SILENCE_SECONDS)}
    _each["OPTIONS"] = _limits | _each.get("OPTIONS", {})
    # Planning was most of a page's time in PostgreSQL. Some poolers know no prepared statements.
    if _prepared:
        _each["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 2}


# The web server signs in as a role that cannot change the schema (webapp.config.apps).
_web_url = _env.text("DATABASE_WEB_URL") or ("" if DATABASE_URL_GIVEN else _recorded.web_url)
WEB_DATABASE = _env.database("DATABASE_WEB_URL", default=_web_url) if _web_url else {}


def use_web_role() -> None:
    """Sign in as the role of the web server, where there is one."""
    _database.update(
        {name: WEB_DATABASE[name] for name in ("USER", "PASSWORD") if name in WEB_DATABASE}
    )


def use_pool(size: int) -> None:
    """Share ``size`` connections among the threads of this process, and as many to the replica."""
    for name, database in DATABASES.items():
        patience = 10 if name == "default" else 2  # instead of the replica there is the primary
        database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": size, "timeout": patience}
        database["CONN_MAX_AGE"] = 0


if DATABASE_POOL:
    use_pool(DATABASE_POOL)
# How long the database works on one statement, and waits for the next one of a transaction, in
# seconds; 0: for ever. In force in the web server and in the worker; migrations and commands may
# need hours.
STATEMENT_SECONDS = _env.number("DRIFTLINE_STATEMENT_SECONDS", default=30, least=0, most=3600)
IDLE_TRANSACTION_SECONDS = _env.number(
    "DRIFTLINE_IDLE_TRANSACTION_SECONDS", default=60, least=0, most=3600
)


def limit_statements(*, seconds: int, idle_seconds: int) -> None:
    """Have new connections of this process give up on what takes longer. A pooler that refuses
    the start-up parameter ``options`` needs 0 for both, and limits of its own."""
    limits = {"statement_timeout": seconds, "idle_in_transaction_session_timeout": idle_seconds}
    _begin_sessions_with({name: f"{limit}s" for name, limit in limits.items() if limit})


def _begin_sessions_with(values: dict[str, str]) -> None:
    options = [f"-c {name}={value}" for name, value in values.items()]
    for database in DATABASES.values() if options else ():
        given = database["OPTIONS"].get("options", "")
        database["OPTIONS"]["options"] = " ".join([given, *options]).strip()


if STATEMENT_SECONDS or IDLE_TRANSACTION_SECONDS:
    _begin_sessions_with(connections.of_server(SILENCE_SECONDS))


# Single sign-on, by OpenID Connect: without an address there is none.
OIDC_URL = _env.sign_on_url("DRIFTLINE_OIDC_URL")
OIDC_CLIENT_ID = _env.text("DRIFTLINE_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = _env.text("DRIFTLINE_OIDC_CLIENT_SECRET")
OIDC_NAME = _env.text("DRIFTLINE_OIDC_NAME", "single sign-on")
OIDC_ACCOUNTS = _env.flag("DRIFTLINE_OIDC_ACCOUNTS", default=False)
if OIDC_URL and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured(
        "DRIFTLINE_OIDC_CLIENT_ID is needed beside DRIFTLINE_OIDC_URL: the provider names it where "
        "this instance is registered."
    )

# Redis: the cache and the broker. Nothing lives only there, so it may be lost at any time.
REDIS_URL = _env.url("REDIS_URL", default=_recorded.redis_url, schemes=("redis", "rediss", "unix"))
_redis_over_tcp = {} if REDIS_URL.startswith("unix:") else connections.of_redis(SILENCE_SECONDS)
CACHES = {
    "default": {
        "BACKEND": "webapp.config.connections.OneServer",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "driftline",
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2, **_redis_over_tcp},
    }
}

# Celery
SWEEP_SECONDS = _env.number("DRIFTLINE_SWEEP_SECONDS", default=30, least=1, most=3600)
TASK_SECONDS = _env.number("DRIFTLINE_TASK_SECONDS", default=300, least=10, most=3600)
WORKER_STATEMENT_SECONDS = _env.number(
    "DRIFTLINE_WORKER_STATEMENT_SECONDS", default=TASK_SECONDS, least=0, most=86_400
)
MAIL_SWEEP_SECONDS = _env.number("DRIFTLINE_MAIL_SWEEP_SECONDS", default=15, least=1, most=3600)
CELERY_BROKER_URL = instance.broker_url(REDIS_URL)
CELERY_TASK_TIME_LIMIT = TASK_SECONDS
CELERY_TASK_SOFT_TIME_LIMIT = TASK_SECONDS * 9 // 10
CELERY_WORKER_CONCURRENCY = _env.number("DRIFTLINE_WORKER_PROCESSES", default=2, least=1, most=256)
# A request that queues a task gives up after about 5 s even when Redis hangs; the sweep finds the
# work later. The visibility timeout exceeds the longest task, or that would run twice at once
# (webapp.config.apps).
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 2 * max(TASK_SECONDS, SENDING_TIME_LIMIT) + 60,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    **_redis_over_tcp,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.5,
}

_steady_clock = SteadyClock()


def _every(seconds: float, task: str) -> dict[str, Any]:
    """An entry of beat's schedule that is sent when beat starts, and every ``seconds`` then."""
    interval = timedelta(seconds=seconds)
    return {
        "task": task,
        "schedule": schedule(interval, nowfun=_steady_clock),
        "last_run_at": _steady_clock() - interval,
        # What piled up while no worker ran would only repeat itself.
        "options": {"expires": seconds},
    }


CELERY_BEAT_SCHEDULE = {
    task.rpartition(".")[2].replace("_", "-"): _every(seconds, task)
    for task, seconds in (
        ("webapp.alerts.tasks.sweep_dirty_series", SWEEP_SECONDS),
        ("webapp.merging.tasks.sweep_estimates", SWEEP_SECONDS),
        ("webapp.alerts.tasks.analyse_stale_series", SWEEP_SECONDS),
        ("webapp.alerts.tasks.sweep_alerts", ALERT_SWEEP_SECONDS),
        ("webapp.notifications.tasks.sweep_events", MAIL_SWEEP_SECONDS),
        ("webapp.notifications.tasks.post_digests", ALERT_SWEEP_SECONDS),
        ("webapp.notifications.tasks.check_status", ALERT_SWEEP_SECONDS),
        ("webapp.outbox.tasks.sweep_mails", MAIL_SWEEP_SECONDS),
        ("webapp.outbox.tasks.sweep_deliveries", MAIL_SWEEP_SECONDS),
        ("webapp.jobs.tasks.sweep_jobs", SWEEP_SECONDS),
        ("webapp.bisects.tasks.sweep_bisects", SWEEP_SECONDS),
        ("webapp.events.tasks.sweep_canaries", CANARY_SWEEP_SECONDS),
        ("webapp.config.tasks.prune", PRUNE_SECONDS),
        ("webapp.launcher.tasks.back_up", BACKUP_SWEEP_SECONDS),
    )
}

# Web server (webapp.config.gunicorn)
WEB_WORKERS = _env.number("DRIFTLINE_WEB_WORKERS", default=2, least=1, most=64)
WEB_THREADS = _env.number("DRIFTLINE_WEB_THREADS", default=4, least=1, most=64)
# Polls of agents that wait for a job, in each process, in threads beside the above
WAITING_POLLS = _env.number("DRIFTLINE_HELD_POLLS", default=200, least=0, most=1000)
# Other requests of one address in each process (webapp.config.admission)
REQUESTS_PER_ADDRESS = _env.number("DRIFTLINE_REQUESTS_PER_ADDRESS", default=64, least=1, most=1000)
# Where the processes of the web server put what they count, for each of them to add up: emptied
# when it starts. Other programs count for themselves: prometheus_client would read the variable in
# each of them, and fail where no web server made the directory.
METRICS_DIRECTORY = _env.path("PROMETHEUS_MULTIPROC_DIR", default=STATE / "metrics")
os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
METRICS_SHARED = False

# API
UPLOAD_MAX_BYTES = _env.number(
    "DRIFTLINE_UPLOAD_MAX_BYTES", default=16 * 2**20, least=2**10, most=2**30
)
# How long a whole body may take: as long as the largest from a sender of 48 KiB a second
BODY_SECONDS = _env.number(
    "DRIFTLINE_BODY_SECONDS", default=20 + UPLOAD_MAX_BYTES // (48 * 2**10), least=1, most=86_400
)
# Django's own limit, which it checks before ours; strangers may send less: webapp.config.admission
DATA_UPLOAD_MAX_MEMORY_SIZE = UPLOAD_MAX_BYTES
API_REQUESTS_A_MINUTE = _env.number(
    "DRIFTLINE_API_REQUESTS_A_MINUTE", default=30_000, least=1, most=10_000_000
)

# What a lab may store, unless an operator gave it a quota of its own
LAB_RUNS_A_DAY = _env.number(
    "DRIFTLINE_LAB_RUNS_A_DAY", default=100_000, least=1, most=1_000_000_000
)
LAB_TREES = _env.number("DRIFTLINE_LAB_TREES", default=200, least=1, most=1_000_000)
LAB_SERIES = _env.number("DRIFTLINE_LAB_SERIES", default=50_000, least=1, most=100_000_000)
LAB_PROFILE_KILOBYTES = _env.number(
    "DRIFTLINE_LAB_PROFILE_KB", default=5_000_000, least=1, most=1_000_000_000
)

# For how many days what nobody needs any more is kept (webapp.config.tasks); 0: for ever
_DAYS = {"least": 0, "most": 36_500}
KEEP_MAIL_TEXT_DAYS = _env.number("DRIFTLINE_KEEP_MAIL_TEXT_DAYS", default=90, **_DAYS)
KEEP_DELIVERIES_DAYS = _env.number("DRIFTLINE_KEEP_DELIVERIES_DAYS", default=30, **_DAYS)
KEEP_JOB_LOGS_DAYS = _env.number("DRIFTLINE_KEEP_JOB_LOGS_DAYS", default=180, **_DAYS)
KEEP_PROFILES_DAYS = _env.number("DRIFTLINE_KEEP_PROFILES_DAYS", default=0, **_DAYS)
KEEP_REFUSALS_DAYS = _env.number("DRIFTLINE_KEEP_REFUSALS_DAYS", default=365, **_DAYS)
KEEP_AUDIT_DAYS = _env.number("DRIFTLINE_KEEP_AUDIT_DAYS", default=1095, **_DAYS)
KEEP_BACKUPS_DAYS = _env.number("DRIFTLINE_KEEP_BACKUPS_DAYS", default=14, **_DAYS)
BACKUPS = _env.text("DRIFTLINE_BACKUPS")
KEEP_WORKERS_DAYS = _env.number("DRIFTLINE_KEEP_WORKERS_DAYS", default=90, **_DAYS)
IDLE_FUNCTIONS = _env.listed("DRIFTLINE_IDLE_FUNCTIONS")
"""Patterns of functions in profiles that run while a CPU is idle; empty: those known."""

STATIC_ROOT = _env.path("DRIFTLINE_STATIC_ROOT", default=STATE / "static")

# Demonstration: how much faster than a real lab its simulated agents build, boot and run
DEMO_SPEED = _env.number("DRIFTLINE_DEMO_SPEED", default=40, least=1, most=100_000)

# … and by how many thousandths of a percent their machine gets slower with each job
DEMO_DRIFT = _env.number("DRIFTLINE_DEMO_DRIFT", default=0, least=0, most=1000)

# Security
SECURE_SSL_REDIRECT = _over_tls and TRUSTED_PROXIES > 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXIES else None
SECURE_HSTS_SECONDS = 31_536_000 if _over_tls else 0
# Whether other hosts of the domain speak TLS, and whether to preload that, its owner decides.
# With a host of its own, Caddy leads from plain HTTP to HTTPS.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", *(["security.W008"] if HOST else [])]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _over_tls
# Two instances on one host name differ only by their port, which cookies do not see.
_cookie_suffix = f"-{_public.port}" if _public.port else ""
SESSION_COOKIE_NAME = f"driftline-session{_cookie_suffix}"
CSRF_COOKIE_NAME = f"driftline-csrf{_cookie_suffix}"
BROWSER_COOKIE_NAME = f"driftline-browser{_cookie_suffix}"
WRITTEN_COOKIE_NAME = f"driftline-written{_cookie_suffix}"

# E-mail. A demonstration has a mail server of its own, whose mails it shows.
EMAIL_URL_GIVEN = bool(_env.text("DRIFTLINE_EMAIL_URL"))
MAILBOX = STATE / "mail" if _recorded.mail_url and not EMAIL_URL_GIVEN else None
globals().update(_env.email("DRIFTLINE_EMAIL_URL", default=_recorded.mail_url or "consolemail://"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = _env.text(
    "DRIFTLINE_EMAIL_FROM", f"driftline@{_public.hostname or 'localhost'}"
)

# Webhooks reach public addresses and the ports of web servers only, and of the others those that
# are listed here
WEBHOOKS_ALLOW = _env.networks("DRIFTLINE_WEBHOOKS_ALLOW")
WEBHOOKS_PORTS = _env.ports("DRIFTLINE_WEBHOOKS_PORTS")

# Findings of one commit come series by series: a mail waits for the others, and lists them all.
MAIL_SETTLE_SECONDS = _env.number("DRIFTLINE_MAIL_SETTLE_SECONDS", default=60, least=0, most=86_400)


# A line for each request, written by Caddy
ACCESS_LOG = _env.flag("DRIFTLINE_ACCESS_LOG", default=False)
LOGGING = logging_config(
    level=_env.choice(
        "DRIFTLINE_LOG_LEVEL", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR")
    ),
    style=_env.choice("DRIFTLINE_LOG_FORMAT", default="console", choices=("console", "json")),
)

# The agent's variables share the prefix and may be set on the same machine.
_env.refuse_unknown(
    others=("DRIFTLINE_SERVER", "DRIFTLINE_TOKEN", "DRIFTLINE_SPOOL", "DRIFTLINE_CONFIG")
)
