"""The health check of containers."""

import pytest
from pytest_django.live_server_helper import LiveServer

from webapp.config import alive, settings


def test_a_web_server_that_answers_is_alive(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "BIND", f"0.0.0.0:{live_server.thread.port}")
    assert alive.main() == 0


def test_silence_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "BIND", "127.0.0.1:9")
    assert alive.main() == 1
    assert "alive: " in capsys.readouterr().err
