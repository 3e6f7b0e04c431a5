"""The API keeps what its description promises, for requests nobody would think of."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from pytest_django.live_server_helper import LiveServer
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import agent, token

__all__ = ["agent", "token"]  # fixtures

pytestmark = pytest.mark.django_db(transaction=True)
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_every_answer_is_one_that_the_description_knows(
    live_server: LiveServer, token: str
) -> None:
    described = schemathesis.openapi.from_url(f"{live_server.url}/api/v1/openapi.json")
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) >= 7
    for operation in operations:

        @given(operation.as_strategy())
        @settings(
            max_examples=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {token}"})

        answers()
