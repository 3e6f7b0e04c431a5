"""Any value of any environment variable is used as it is meant, or refused by its name."""

import os
import runpy
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzzing import cases, nasty_bytes, nasty_text
from webapp.config import environment, settings
from webapp.config.environment import Environment

pytestmark = pytest.mark.fuzz
SETTINGS = Path(str(settings.__file__))
VARIABLES = sorted(settings._env.defaults)
SECRET, KEPT = "hunter2secret", "EMAIL_HOST_PASSWORD"
URLS = {
    "DATABASE_URL": "postgresql://u:hunter2secret@h/d",
    "REDIS_URL": "redis://:hunter2secret@h:6379/0",
    "DRIFTLINE_EMAIL_URL": "smtp+tls://u:hunter2secret@h:587",
    "DRIFTLINE_PUBLIC_URL": "https://perf.example.org/",
}
# What an environment can hold at all
values = nasty_text.map(lambda text: text.replace("\0", "").encode("utf-8", "replace").decode())


def read(variables: dict[str, str]) -> dict[str, Any]:
    """The settings that a process with just these variables has."""
    given = {"STATE": "/nonexistent", "SECRET_KEY": "x" * 60, **variables}
    with patch.dict(os.environ, given, clear=True):
        return runpy.run_path(str(SETTINGS))


@given(st.sampled_from(VARIABLES), values, st.booleans())
@example("DRIFTLINE_WEB_WORKERS", "9" * 5000, False)
@example("DRIFTLINE_WEB_WORKERS", "\u0662", False)
@example("DRIFTLINE_PUBLIC_URL", "https://[", False)
@example("DRIFTLINE_PUBLIC_URL", "https://", False)
@example("DRIFTLINE_PUBLIC_URL", "https://h:99999/", False)
@example("STATE", "~nobody-of-that-name/x", False)
@example("STATE", "9" * 400, False)
@cases()
def test_any_value_gives_settings_that_hold_or_is_refused_by_name(
    name: str, value: str, behind: bool
) -> None:
    value = URLS[name] + value if behind and name in URLS else value
    try:
        found = read({name: value})
    except ImproperlyConfigured as error:
        assert name in str(error) or name == "STATE"
        assert SECRET not in str(error)
        return
    public = urlsplit(found["PUBLIC_URL"])
    assert public.scheme in ("http", "https")
    assert public.hostname in found["ALLOWED_HOSTS"]
    assert all(isinstance(one, IPv4Network | IPv6Network) for one in found["WEBHOOKS_ALLOW"])
    assert 1 <= found["WEB_WORKERS"] <= 64
    assert found["DATABASES"]["default"]["NAME"]
    assert found["STATE"].is_absolute()
    if found["EMAIL_BACKEND"] == environment.SMTP_BACKEND:
        assert found["EMAIL_HOST"]
        assert 0 < found["EMAIL_PORT"] < 2**16


@given(values.filter(str.strip))
@example("a#b")
@example("a/b?c[d]@e:f")
@example("@#::?")
@cases()
def test_a_password_is_read_whole_or_refused_unseen(password: str) -> None:
    schemes = ("redis",)
    readings: Mapping[str, Callable[[Environment, str], Any]] = {
        "DATABASE_URL": lambda given, name: given.database(name, default="").get("PASSWORD"),
        "REDIS_URL": lambda given, name: given.url(name, default="", schemes=schemes),
        "DRIFTLINE_EMAIL_URL": lambda given, name: given.email(name, default="").get(KEPT),
    }
    for name, reading in readings.items():
        start, _, end = URLS[name].partition(SECRET)
        try:
            reading(Environment({name: f"{start}{SECRET}{password}{end}"}), name)
        except ImproperlyConfigured as error:
            assert SECRET not in str(error)
            assert name in str(error)
        url = f"{start}{quote(password, safe='')}{end}"
        assert reading(Environment({name: url}), name) in (password, url)


@given(nasty_bytes)
@example(b"a\0b")
@example(b"\xff")
@cases()
def test_a_file_that_holds_a_value_may_hold_anything(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "value"
    file.write_bytes(content)
    variables = Environment({f"{name}_FILE": str(file) for name in ("TEXT", "PATH_", "NUMBER")})
    readings = (
        lambda: variables.text("TEXT"),
        lambda: variables.path("PATH_", default=Path("/x")),
        lambda: variables.number("NUMBER", default=1, least=0, most=10),
    )
    for reading in readings:
        try:
            reading()
        except ImproperlyConfigured as error:
            assert str(error)
