"""Health checks of containers: `python -m webapp.config.alive [web|worker|deliveries|beat]`.

`web` (the default) asks the web server on this machine whether it answers; the others ask the
database whether that part did something in this container lately. The exit status is 0, or 1 with
the reason on standard error. For images without curl; imports neither Django's applications nor
Celery's.
"""

import sys
import urllib.request
from collections.abc import Sequence

import psycopg

from webapp.config import settings
from webapp.readiness import heartbeats


class NotAlive(Exception):
    """The message gives why."""


def main(arguments: Sequence[str]) -> int:
    """The exit status for one part."""
    part = arguments[0] if arguments else "web"
    if part not in ("web", *heartbeats.PARTS):
        print(f"alive: one of web, {', '.join(heartbeats.PARTS)} is needed", file=sys.stderr)  # noqa: T201
        return 2
    try:
        _require_web() if part == "web" else _require_heartbeat(part)
    except (OSError, psycopg.Error, NotAlive) as error:
        print(f"alive: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _require_web() -> None:
    """Raise unless /healthz answers 200."""
    port = settings.BIND.rpartition(":")[2]
    urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()


def _require_heartbeat(part: str) -> None:
    with heartbeats.connect(settings.DATABASES["default"]) as connection:
        ages = heartbeats.ages(connection)
    host = heartbeats.host()
    signs = (part, heartbeats.STANDBY) if part == heartbeats.BEAT else (part,)
    if not any(heartbeats.is_fresh(ages.get(sign, {}).get(host)) for sign in signs):
        own = {name: age for name, age in ages.get(part, {}).items() if name == host}
        raise NotAlive(heartbeats.last_seen(part, own))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
