"""No answer holds a secret of the instance: not the key, no password of a service, no token."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from tests.api.conftest import agent, token

__all__ = ["agent", "token"]  # fixtures

pytestmark = pytest.mark.django_db
PASSWORD = "not-for-anybody"
WRONG = ("/api/v1/runs", "/api/v1/jobs/poll")


@pytest.fixture
def secrets(settings: Any, token: str) -> list[str]:
    """What must not be read anywhere; passwords are set as an operator sets them."""
    settings.EMAIL_HOST_PASSWORD = PASSWORD
    return [settings.SECRET_KEY, PASSWORD, token]


def revealed(content: bytes, secrets: list[str]) -> list[str]:
    return [secret for secret in secrets if secret.encode() in content]


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/docs"])
def test_the_description_of_the_api_holds_no_secret(path: str, secrets: list[str]) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    assert revealed(response.content, secrets) == []


@pytest.mark.parametrize(("path", "status"), [("/nowhere/", 404), ("/hardware/", 500)])
def test_a_page_that_is_missing_or_fails_holds_no_secret(
    path: str, status: int, secrets: list[str], token: str
) -> None:
    """`/hardware/` fails inside, with the token among what it was asked with."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE results_hardware RENAME TO results_hardware_away")
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {token}"})
    response = client.get(path)
    assert response.status_code == status
    assert revealed(response.content, secrets) == []
    assert b"Traceback" not in response.content


@pytest.mark.parametrize("path", WRONG)
def test_a_refusal_does_not_repeat_the_token(path: str, secrets: list[str], token: str) -> None:
    response = Client(headers={"Authorization": f"Bearer {token}x"}).post(
        path, "{}", content_type="application/json"
    )
    assert response.status_code == 401
    assert revealed(response.content, secrets) == []
