"""Typed reading of environment variables, with errors that name the variable and the remedy.

Only `webapp.config.settings` makes an `Environment`; nothing else in the project reads variables.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

PREFIX = "DRIFTLINE_"
FILE_SUFFIX = "_FILE"
SMTP_BACKEND = "webapp.outbox.smtp.EmailBackend"
DIGITS_MAX = 20
LONGEST_NAME = "x" * 64
"""Of what is kept in a directory, about."""

NO_URL = (
    "not a URL. Write / ? # [ ] @ and : in a name or a password as %2F %3F %23 %5B %5D %40 and %3A."
)
SMTP_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[1-9][0-9]{0,4})?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Environment:
    """Reads variables from `variables`; `NAME_FILE` may name a file that holds the value of NAME.

    An empty variable counts as unset, because compose files and service managers write `NAME=`.
    Every method raises `ImproperlyConfigured` for a value that it cannot use.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._values = FileAwareMapping(env=variables)
        self.defaults: dict[str, str] = {}
        """Of each variable that was read; empty: none."""

    def text(self, name: str, default: str = "") -> str:
        """The value without surrounding white space."""
        self.defaults[name] = default
        try:
            value = str(self._values.get(name, "") or "").strip()
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(
                f"{name}{FILE_SUFFIX}={self._variables.get(name + FILE_SUFFIX)}: "
                f"the file cannot be read ({error})."
            ) from error
        return value or default

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false, in any of the usual spellings."""
        value = self.text(name, "true" if default else "false").lower()
        if value not in TRUE + FALSE:
            raise self._refusal(name, value, "true or false", str(default).lower())
        return value in TRUE

    def number(self, name: str, *, default: int, least: int, most: int) -> int:
        """A whole number in [least, most]."""
        value = self.text(name, str(default))
        # No number of ours has more digits, and Python converts no more than 4,300.
        plain = value.isascii() and value.isdecimal() and len(value) < DIGITS_MAX
        if not plain or not least <= int(value) <= most:
            raise self._refusal(name, value, f"a whole number from {least} to {most}", default)
        return int(value)

    def choice(self, name: str, *, default: str, choices: Sequence[str]) -> str:
        """One of `choices`, whatever the case it is written in."""
        value = self.text(name, default)
        matches = [choice for choice in choices if choice.lower() == value.lower()]
        if not matches:
            raise self._refusal(name, value, f"one of {', '.join(choices)}", default)
        return matches[0]

    def listed(self, name: str) -> list[str]:
        """The parts of a list separated by commas."""
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def chosen(self, name: str, *, choices: Sequence[str]) -> tuple[str, ...]:
        """Those of `choices` that a list separated by commas names, in their order; all without."""
        words = [word.lower() for word in self.listed(name)]
        for word in words:
            if word not in choices:
                raise self._refusal(name, word, f"one or more of {','.join(choices)}", "all")
        return tuple(choice for choice in choices if choice in words or not words)

    def networks(self, name: str) -> list[IPv4Network | IPv6Network]:
        """A list of networks such as `10.0.0.0/8, fd00::/8`, separated by commas."""
        try:
            return [ip_network(word) for word in self.listed(name)]
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{name}: {error}; networks are needed, e.g. 10.0.0.0/8,fd00::/8."
            ) from error

    def ports(self, name: str) -> list[range]:
        """A list of ports and ranges of them such as `9443, 10000-10099`, separated by commas."""
        found = []
        for word in self.listed(name):
            ends = word.split("-")
            plain = all(end.isascii() and end.isdecimal() and len(end) <= 5 for end in ends)
            if not plain or len(ends) > 2 or not 1 <= int(ends[0]) <= int(ends[-1]) < 2**16:
                raise self._refusal(
                    name, word, "a port or a range of ports, e.g. 9443,10000-10099,", "(none)"
                )
            found.append(range(int(ends[0]), int(ends[-1]) + 1))
        return found

    def path(self, name: str, *, default: Path) -> Path:
        """An absolute path; a relative one counts from the working directory."""
        value = self.text(name, str(default))
        try:
            path = Path(value).expanduser().resolve()
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                (path / LONGEST_NAME).lstat()  # too long a name fails here
        except (OSError, ValueError, RuntimeError) as error:
            raise ImproperlyConfigured(f"{name}: not a path ({error}).") from error
        return path

    def url(self, name: str, *, default: str, schemes: Sequence[str]) -> str:
        """A URL of one of `schemes`. The message hides the value: it may hold a password."""
        value = self.text(name, default)
        if value.partition("://")[0] not in schemes:
            wanted = " or ".join(f"{scheme}://…" for scheme in schemes)
            raise ImproperlyConfigured(f"{name}: a URL is needed that begins with {wanted}.")
        self._split(name, value)
        return value

    def page_url(self, name: str, *, default: str) -> str:
        """The address of pages: http or https, with a host."""
        value = self.url(name, default=default, schemes=("http", "https"))
        if not self._split(name, value).hostname:
            raise ImproperlyConfigured(f"{name}: the URL names no host (https://HOST/).")
        return value

    def sign_on_url(self, name: str) -> str:
        """The address of an identity provider, or empty: https, or http on this machine alone."""
        if not self.text(name):
            return ""
        value = self.page_url(name, default="")
        parts = self._split(name, value)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise ImproperlyConfigured(
                f"{name}={value}: https:// is needed, because tokens are believed by who sent them."
            )
        return value.rstrip("/")

    def host(self, name: str) -> str:
        """The name of a host, or empty; `name:port` where that is not the usual one."""
        value = self.text(name)
        if value and not HOST.fullmatch(value):
            raise ImproperlyConfigured(
                f"{name}={value}: the name of a host is needed, e.g. perf.lab.example, or with a "
                "port perf.lab.example:8443."
            )
        return value

    def database(self, name: str, *, default: str) -> dict[str, Any]:
        """A Django database from a PostgreSQL URL, e.g. `postgresql://user:password@host/name`."""
        url = self.url(name, default=default, schemes=("postgresql", "postgres"))
        database = self._configured(name, url, environ.Env.db_url_config)
        if not database["NAME"]:
            raise ImproperlyConfigured(f"{name}: the URL names no database (…/NAME).")
        return database

    def email(self, name: str, *, default: str) -> dict[str, Any]:
        """Django's e-mail settings from a URL such as `smtp+tls://user:password@host:587`."""
        schemes = (*SMTP_PORTS, "consolemail", "filemail", "dummymail")
        url = self.url(name, default=default, schemes=schemes)
        email = self._configured(name, url, environ.Env.email_url_config)
        scheme = url.partition("://")[0]
        if scheme in SMTP_PORTS:
            if not email["EMAIL_HOST"]:
                raise ImproperlyConfigured(f"{name}: the URL names no mail server (…://HOST).")
            email["EMAIL_BACKEND"] = SMTP_BACKEND
            email["EMAIL_PORT"] = email["EMAIL_PORT"] or SMTP_PORTS[scheme]
        return email

    @staticmethod
    def _configured(name: str, url: str, read: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """What the library makes of a URL, which it splits in its own way ('#' is no fragment)."""
        try:
            return read(url)
        except ValueError:
            raise ImproperlyConfigured(f"{name}: {NO_URL}") from None

    @staticmethod
    def _split(name: str, value: str) -> SplitResult:
        """The parts of a URL, its port tried. The error of Python would show the password."""
        try:
            parts = urlsplit(value)
            _ = parts.port
        except ValueError:
            raise ImproperlyConfigured(f"{name}: {NO_URL}") from None
        return parts

    def refuse_unknown(self, *, others: Sequence[str]) -> None:
        """Refuse variables with our prefix that nothing has read, except `others`.

        A misspelt variable would otherwise leave its default in place without a word.
        """
        for name in sorted(self._variables):
            plain = name.removesuffix(FILE_SUFFIX)
            if name.startswith(PREFIX) and not {name, plain} & {*self.defaults, *others}:
                nearest = difflib.get_close_matches(plain, self.defaults, n=1)
                hint = f" Did you mean {nearest[0]}?" if nearest else " Unset it."
                raise ImproperlyConfigured(
                    f"{name} is not a variable of Driftline.{hint} "
                    "All of them: docs/figures.md#settings"
                )

    @staticmethod
    def _refusal(name: str, value: str, wanted: str, default: object) -> ImproperlyConfigured:
        return ImproperlyConfigured(
            f"{name}={value}: {wanted} is needed; unset it for the default ({default})."
        )
