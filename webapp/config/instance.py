"""What a STATE directory records of the instance that lives in it.

The launcher writes these records; settings read them, so that `manage.py` finds the servers of the
instance in the checkout without any variable. Imports neither Django nor Celery.
"""

import json
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit

FILE_NAME = "instance.json"
WEB_ROLE = "driftline_web"
KEY_NAME = "secret_key"
FORMER_KEYS_NAME = "secret_key_fallbacks"
FORMER_KEYS_MOST = 3
# What is shorter was cut off: `ensure_secret_key` writes 67 characters.
KEY_LEAST = 32
# Raised by every change of STATE's contents that an older or newer checkout cannot live with
LAYOUT = 1


class BadState(Exception):
    """STATE holds something this version cannot use; the message states what to do."""


@dataclass(frozen=True)
class Instance:
    """One instance. `sockets` is the directory of its servers' Unix sockets; `mail_url` is its own
    mail server, which only a demonstration has."""

    sockets: str
    database_url: str
    redis_url: str
    url: str = ""
    layout: int = LAYOUT
    postgres_major: int | None = None
    mail_url: str = ""

    @classmethod
    def at(cls, sockets: Path) -> Self:
        """An instance with its servers' sockets in `sockets`."""
        # The directory is part of the URL's path: a host name would lose its capital letters.
        return cls(
            sockets=str(sockets),
            database_url=f"postgresql://driftline@/{quote(str(sockets))}/driftline",
            redis_url=f"unix://{quote(str(sockets))}/redis.sock?db=0",
        )

    @property
    def web_url(self) -> str:
        """The database for the web server, which signs in as another role."""
        return self.database_url.replace("://driftline@", f"://{WEB_ROLE}@", 1)

    def with_url(self, url: str) -> Self:
        """The same instance, its pages at `url`."""
        return replace(self, url=url)


def read(state: Path) -> Instance:
    """The instance of `state`, or what it would be called there when none was started yet."""
    path = state / FILE_NAME
    try:
        recorded = json.loads(path.read_text())
        _require_layout(path, recorded["layout"])
        return Instance(**recorded)
    except FileNotFoundError:
        return Instance.at(state / "sockets")
    except PermissionError as error:
        raise BadState(
            f"{path} belongs to another user; use that user, or another STATE."
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise BadState(
            f"{path} is damaged ({error!r}). Remove this one file: the next start writes it anew."
        ) from error


def _require_layout(path: Path, layout: int) -> None:
    if layout != LAYOUT:
        raise BadState(
            f"{path.parent} was written by another version of Driftline (layout {layout}; this "
            f"version has {LAYOUT}). Start it with the version that wrote it, or choose another "
            "STATE=…; docs/running.md shows how to move the data."
        )


def write(state: Path, instance: Instance) -> None:
    """Record `instance` in `state`, whole or not at all."""
    path = state / FILE_NAME
    draft = path.with_suffix(".new")
    # Without what is empty, an older version can read what it knows.
    recorded = {name: value for name, value in asdict(instance).items() if value}
    draft.write_text(json.dumps(recorded, indent=2) + "\n")
    draft.replace(path)


def read_secret_key(state: Path) -> str:
    """The key that signs sessions, or nothing when `state` has none.

    Raises `BadState` for a file that holds less than a key: every process would make up its own.
    """
    path = state / KEY_NAME
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        return ""
    if len(key) < KEY_LEAST:
        raise BadState(
            f"{path} holds {len(key)} characters, and a key has {KEY_LEAST} or more: a full disk "
            "may have cut it off. Remove this one file: the next start makes a new key, and "
            "everybody signs in again."
        )
    return key


def ensure_secret_key(state: Path) -> None:
    """Make a key for `state` that only its owner can read, unless it has one: a disk that is full
    must leave no empty key behind.
    """
    if not read_secret_key(state):
        write_secret_key(state, secrets.token_urlsafe(50))


def write_secret_key(state: Path, key: str) -> None:
    """Have `key` be that of `state`, whole or not at all."""
    _write_private(state / KEY_NAME, f"{key}\n")


def read_former_keys(state: Path) -> list[str]:
    """The keys before the present one, the newest first."""
    try:
        return (state / FORMER_KEYS_NAME).read_text().split()
    except FileNotFoundError:
        return []


def rotate_secret_key(state: Path) -> tuple[str, list[str]]:
    """Give `state` a new key; that key, and the former ones, which are stored first."""
    former = [read_secret_key(state), *read_former_keys(state)][:FORMER_KEYS_MOST]
    _write_private(state / FORMER_KEYS_NAME, "".join(f"{key}\n" for key in former))
    key = secrets.token_urlsafe(50)
    write_secret_key(state, key)
    return key, former


def _write_private(path: Path, text: str) -> None:
    """Replace a file that only its owner can read, whole or not at all."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.replace(path)


def broker_url(redis_url: str) -> str:
    """Celery's spelling of a Redis URL: it names the database of a Unix socket `virtual_host`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?{urlencode({'virtual_host': database})}"
