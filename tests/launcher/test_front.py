"""Caddy before the web server: its configuration, and what happens without it."""

import json
import subprocess
import sysconfig
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.launcher import StackError, launcher, servers
from webapp.launcher.programs import Front, is_public, ports_of

CADDY = servers.find_caddy()
OLD = "v2.6.2 h1:abc"


def configured(state: Path, **given: Any) -> dict[str, Any]:
    """What Caddy itself makes of the configuration."""
    assert CADDY
    settings = {"STATIC_ROOT": state / "static", "ACCESS_LOG": False, "HOST": "", "BODY_SECONDS": 9}
    front = Front(CADDY, state, state / "sockets")
    front.create(SimpleNamespace(**settings | given), address="127.0.0.1", port=8000)
    adapt = [str(CADDY.program), "adapt", "--config", str(front.configuration)]
    done = subprocess.run(adapt, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def listening(document: dict[str, Any]) -> set[str]:
    return {at for one in document["apps"]["http"]["servers"].values() for at in one["listen"]}


def issuers(document: dict[str, Any]) -> list[str]:
    """Who certifies the host: nothing here means those whom everybody trusts."""
    policies = document["apps"].get("tls", {}).get("automation", {}).get("policies", [])
    return [issuer["module"] for each in policies for issuer in each.get("issuers", [])]


def test_without_a_host_it_listens_where_it_was_set_to_and_contacts_nobody(tmp_path: Path) -> None:
    document = configured(tmp_path)
    assert listening(document) == {"127.0.0.1:8000"}
    assert document["admin"]["disabled"]
    assert "tls" not in document["apps"]


@pytest.mark.parametrize(
    ("host", "public", "ports"),
    [
        ("perf.lab.example", True, (443, 80)),
        ("perf.lab.example:443", True, (443,)),
        ("perf.lab.example:8443", False, (8443,)),
        ("perf", False, (443, 80)),
        ("perf.lan", False, (443, 80)),
        ("localhost", False, (443, 80)),
        ("192.0.2.1", False, (443, 80)),
        ("", False, ()),
    ],
)
def test_a_public_name_is_certified_by_others_and_any_other_by_caddy_itself(
    tmp_path: Path, host: str, public: bool, ports: tuple[int, ...]
) -> None:
    assert (is_public(host), ports_of(host)) == (public, ports)
    if host:
        document = configured(tmp_path, HOST=host)
        assert listening(document) == {"127.0.0.1:8000", f":{ports[0]}"}
        assert issuers(document) == ([] if public else ["internal"])


def test_a_state_with_spaces_is_no_problem(tmp_path: Path) -> None:
    state = tmp_path / "a state"
    state.mkdir()
    assert str(state / "logs") in json.dumps(configured(state, ACCESS_LOG=True))


@pytest.mark.parametrize("printed", ["", OLD])
def test_without_a_caddy_that_is_new_enough_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str
) -> None:
    program = tmp_path / "caddy"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path / "nowhere"))
    assert servers.find_caddy() is None


def test_without_caddy_the_pages_are_for_this_machine_and_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = list[launcher.Options]()

    def run(options: launcher.Options, *_: Any) -> None:
        seen.append(options)
        raise StackError("enough")

    monkeypatch.setattr(servers, "find_caddy", lambda: None)
    monkeypatch.setattr(launcher, "_run", run)
    with pytest.raises(StackError, match="enough"):
        launcher.up(launcher.Options(tmp_path / "state", 8000, "0.0.0.0", demo=False))
    assert seen[0].address == "127.0.0.1"
    assert "pkg install caddy" in capsys.readouterr().err
