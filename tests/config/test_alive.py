"""The health checks of containers."""

import pytest
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from webapp.config import alive, settings
from webapp.readiness import heartbeats
from webapp.readiness.models import Heartbeat


def test_a_web_server_that_answers_is_alive(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "BIND", f"0.0.0.0:{live_server.thread.port}")
    assert alive.main([]) == alive.main(["web"]) == 0


def test_silence_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "BIND", "127.0.0.1:9")
    assert alive.main([]) == 1
    assert "alive: " in capsys.readouterr().err


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("part", ["worker", "deliveries", "beat"])
def test_a_part_is_alive_that_was_seen_at_work_lately(
    part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "DATABASES", {"default": connection.settings_dict})
    assert alive.main([part]) == 1
    assert f"{part} was stopped, or never seen at work" in capsys.readouterr().err
    heartbeats.note(part)
    assert alive.main([part]) == 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE readiness_heartbeat SET at = now() - interval '10 minutes'")
    assert alive.main([part]) == 1
    assert f"{part} on {heartbeats.host()} was last seen at work 600 s ago" in (
        capsys.readouterr().err
    )
    with connection.cursor() as cursor:
        cursor.execute("UPDATE readiness_heartbeat SET at = now() + interval '3 days'")
    assert alive.main([part]) == 1
    assert "before the clock was set back" in capsys.readouterr().err
    assert Heartbeat.objects.get().part == part


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("part", "noted"), [("worker", "worker"), ("beat", "standby")])
def test_a_part_of_another_container_proves_nothing(
    part: str, noted: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "DATABASES", {"default": connection.settings_dict})
    monkeypatch.setattr(heartbeats, "_host", "another")
    heartbeats.note(part)
    monkeypatch.setattr(heartbeats, "_host", "this")
    assert alive.main([part]) == 1
    assert "never seen at work" in capsys.readouterr().err
    heartbeats.note(noted)
    assert alive.main([part]) == 0


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert alive.main(["wrker"]) == 2
    assert "one of web, worker" in capsys.readouterr().err
