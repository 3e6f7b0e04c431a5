"""Errors that no field of the request is to blame for."""

import json
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.regressions import services

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_lost_database_is_answered_as_something_to_wait_for(
    send: Send, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def lose(**_: Any) -> None:
        raise error("server closed the connection unexpectedly")

    monkeypatch.setattr(services, "take_in", lose)
    response = send(run_document())
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert json.loads(response.content)["error"]["code"] == "unavailable"
