"""What each variable of the environment is for: the table of settings in docs/figures.md.

`python -m tests.data_model --write` draws it; the default is the one that `settings` reads with,
unless it depends on the instance and is described here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: its purpose, and in Markdown its default where that is no constant."""

    what: str
    default: str = ""


VARIABLES = {
    "STATE": Variable("directory of the instance", "`.run` in the checkout"),
    "DATABASE_URL": Variable(
        "`postgresql://user:password@host:port/name`", "the server recorded in STATE"
    ),
    "DRIFTLINE_DATABASE_DISK": Variable(
        "a directory on the disk of PostgreSQL, whose room `/status/` watches",
        "STATE; none beside `DATABASE_URL`",
    ),
    "DATABASE_WEB_URL": Variable(
        "the same database with the role of the web server, which `migrate` gives its rights: rows "
        "only, no change of the schema or the audit log; empty: the role of `DATABASE_URL`",
        "the role `driftline_web` of the server recorded in STATE",
    ),
    "DATABASE_REPLICA_URL": Variable(
        "a streaming replica of the same database, which pages are read from; empty: none", "none"
    ),
    "REDIS_URL": Variable(
        "`redis://…`, `rediss://…` or `unix:///path?db=0`", "the server recorded in STATE"
    ),
    "SECRET_KEY": Variable(
        "signs sessions, encrypts secrets of webhooks and second factors; required beside "
        "`DATABASE_URL` where STATE has none",
        "`STATE/secret_key`",
    ),
    "SECRET_KEY_FALLBACKS": Variable(
        "former keys, separated by commas: what they signed or encrypted stays good",
        "`STATE/secret_key_fallbacks`",
    ),
    "DRIFTLINE_HOST": Variable(
        "name under which Caddy serves the pages over HTTPS, `name` or `name:port`"
    ),
    "DRIFTLINE_ROLES": Variable(
        "which parts `make up` runs on this machine, where several share `DATABASE_URL` and "
        "`REDIS_URL`: of `web,worker,deliveries,beat`",
        "all",
    ),
    "DRIFTLINE_PUBLIC_URL": Variable(
        "where people find the pages: for links in mails, accepted hosts and origins; `https` "
        "switches secure cookies and HSTS on",
        "`https://` and `DRIFTLINE_HOST`, else the address recorded in STATE, else "
        "`http://127.0.0.1:8000/`",
    ),
    "DRIFTLINE_ALLOWED_HOSTS": Variable(
        "further host names, separated by commas; the public one and the local ones are accepted"
    ),
    "DRIFTLINE_PUBLIC": Variable(
        "everybody may read; `false`: pages and answers need an account or a token",
        "`false`; `true` for a demonstration, and where the instance was in use before it became "
        "`false`",
    ),
    "DRIFTLINE_OIDC_URL": Variable(
        "single sign-on: the issuer of an OpenID Connect provider, over HTTPS; it sends people "
        "back to `/sign-in/oidc/callback/`",
        "none",
    ),
    "DRIFTLINE_OIDC_CLIENT_ID": Variable("as the provider names this instance"),
    "DRIFTLINE_OIDC_CLIENT_SECRET": Variable("the secret that belongs to it"),
    "DRIFTLINE_OIDC_NAME": Variable("what the button to sign in names it"),
    "DRIFTLINE_OIDC_ACCOUNTS": Variable(
        "whoever the provider knows gets a viewer's account at the first sign-in; else people "
        "connect the account that they have"
    ),
    "DRIFTLINE_TRUSTED_PROXIES": Variable(
        "proxies before Caddy, at private addresses, whose `X-Forwarded-…` are believed; without "
        "it all clients behind them count as one address"
    ),
    "DRIFTLINE_FRONT": Variable(
        "Caddy stands before Gunicorn and is believed; `make up` and Compose set it"
    ),
    "DRIFTLINE_TLS": Variable(
        "in Compose; `internal`: a certificate of Caddy's own authority", "`public`"
    ),
    "DRIFTLINE_BIND": Variable("where Gunicorn listens; `make up` sets it from `BIND` and `PORT`"),
    "DRIFTLINE_WEB_WORKERS": Variable("processes of the web server"),
    "DRIFTLINE_WEB_THREADS": Variable("requests that each of them handles at once"),
    "DRIFTLINE_HELD_POLLS": Variable(
        "polls of agents that may wait for a job in each of them, in threads of their own"
    ),
    "DRIFTLINE_WORKER_PROCESSES": Variable(
        "processes of the Celery worker `worker`; `deliveries` has two"
    ),
    "DRIFTLINE_REQUESTS_PER_ADDRESS": Variable(
        "requests of one address (IPv6: one /64) at once in each web process, waiting polls apart"
    ),
    "DRIFTLINE_BODY_SECONDS": Variable(
        "longest time for a whole body; in Compose raise it with `DRIFTLINE_UPLOAD_MAX_BYTES`",
        "20, and one more for each 48 KiB of the largest upload: `361`",
    ),
    "DRIFTLINE_DATABASE_POOL": Variable(
        "connections kept by each web process; 0: as many as `DRIFTLINE_WEB_THREADS`"
    ),
    "DRIFTLINE_PREPARED_STATEMENTS": Variable(
        "PostgreSQL keeps the plans of statements; `false` for a pooler of transactions that "
        "knows no prepared statements (PgBouncer before 1.21)"
    ),
    "DRIFTLINE_STATEMENT_SECONDS": Variable(
        "longest statement of the web server (503 `took_too_long`); 0: no limit"
    ),
    "DRIFTLINE_WORKER_STATEMENT_SECONDS": Variable(
        "the same for the worker; commands and migrations have no limit", "`DRIFTLINE_TASK_SECONDS`"
    ),
    "DRIFTLINE_IDLE_TRANSACTION_SECONDS": Variable(
        "how long the database waits for the next statement of a transaction, in the worker at "
        "least as long as a task. A pooler that refuses the start-up parameter `options` needs 0 "
        "for all three"
    ),
    "DRIFTLINE_SILENCE_SECONDS": Variable(
        "after how long without a sign a machine at the other end of a connection to PostgreSQL or "
        "Redis counts as gone, at both ends: a statement ends, a lock is free"
    ),
    "DRIFTLINE_SWEEP_SECONDS": Variable("pause between searches for lost work"),
    "DRIFTLINE_TASK_SECONDS": Variable("longest run of a task; a task that sends has 120"),
    "DRIFTLINE_UPLOAD_MAX_BYTES": Variable("largest upload, unpacked"),
    "DRIFTLINE_API_REQUESTS_A_MINUTE": Variable("requests of one token"),
    "DRIFTLINE_LAB_RUNS_A_DAY": Variable(
        "runs that a lab without a quota of its own may store in a day (UTC)"
    ),
    "DRIFTLINE_LAB_TREES": Variable("trees that its uploads may be the first to name"),
    "DRIFTLINE_LAB_SERIES": Variable("series that its hardware may have"),
    "DRIFTLINE_LAB_PROFILE_KB": Variable("kilobytes of its profiles"),
    "DRIFTLINE_IDLE_FUNCTIONS": Variable(
        "patterns (`*idle*,mwait*`) of functions that run while a CPU is idle, in profiles",
        "those known",
    ),
    "DRIFTLINE_KEEP_MAIL_TEXT_DAYS": Variable(
        "days for which texts of mails that ended are kept; 0, here and below: for ever"
    ),
    "DRIFTLINE_KEEP_DELIVERIES_DAYS": Variable("the same for deliveries to webhooks"),
    "DRIFTLINE_KEEP_JOB_LOGS_DAYS": Variable("the same for logs of jobs"),
    "DRIFTLINE_KEEP_PROFILES_DAYS": Variable("the same for profiles, after their arrival"),
    "DRIFTLINE_KEEP_REFUSALS_DAYS": Variable("the same for refused replacements"),
    "DRIFTLINE_KEEP_WORKERS_DAYS": Variable(
        "days of silence after which a worker that never had a job is forgotten"
    ),
    "DRIFTLINE_BACKUPS": Variable(
        "directory into which the worker writes a backup a day; empty: none", "none"
    ),
    "DRIFTLINE_KEEP_AUDIT_DAYS": Variable("the audit log; 30 at least, 0: for ever"),
    "DRIFTLINE_KEEP_BACKUPS_DAYS": Variable(
        "for how many days these backups are kept; 0: for ever"
    ),
    "DRIFTLINE_EMAIL_URL": Variable(
        "how mail leaves: `smtp://user:password@host:25`, `smtp+tls://…:587`, `smtp+ssl://…:465`, "
        "`filemail:///directory`, `dummymail://`; `consolemail` writes it to the log",
        "`consolemail://`; with `make demo` its own mail server",
    ),
    "DRIFTLINE_EMAIL_FROM": Variable("sender of mails", "`driftline@` and the public host"),
    "DRIFTLINE_MAIL_SWEEP_SECONDS": Variable(
        "pause between searches for mails and webhook deliveries that became due"
    ),
    "DRIFTLINE_MAIL_SETTLE_SECONDS": Variable(
        "how long the first mail about an alert waits for findings of the same commit"
    ),
    "DRIFTLINE_WEBHOOKS_ALLOW": Variable(
        "private networks that webhooks may reach, e.g. `10.0.0.0/8,fd00::/8`"
    ),
    "DRIFTLINE_WEBHOOKS_PORTS": Variable(
        "ports of webhooks besides 80, 443 and 8000 to 8999, e.g. `9443,10000-10099`"
    ),
    "DRIFTLINE_STATIC_ROOT": Variable("compressed scripts and styles", "`STATE/static`"),
    "PROMETHEUS_MULTIPROC_DIR": Variable(
        "where the processes of one web server put what they count",
        "`STATE/metrics`; in the image `/tmp/driftline-metrics`",
    ),
    "DRIFTLINE_LOG_LEVEL": Variable("`DEBUG`, `INFO`, `WARNING` or `ERROR`"),
    "DRIFTLINE_LOG_FORMAT": Variable("`console` for people, `json` for machines"),
    "DRIFTLINE_ACCESS_LOG": Variable(
        "Caddy writes a line for each request, into `STATE/logs/access.log` or its container's log"
    ),
    "DRIFTLINE_DEMO_SPEED": Variable("how much faster than a real lab simulated agents work"),
    "DRIFTLINE_DEMO_DRIFT": Variable(
        "thousandths of a percent by which the simulated machine slows down with each job"
    ),
    "DRIFTLINE_DEBUG": Variable("Django's error pages with everything on them: development only"),
}
