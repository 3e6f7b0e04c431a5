"""The API keeps what its description promises, for requests nobody would think of."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.live_server_helper import LiveServer
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import agent, token
from tests.fuzzing import NASTY, portions
from webapp.api.urls import api

__all__ = ["agent", "token"]  # fixtures

pytestmark = pytest.mark.django_db(transaction=True)
HOSTILE = (
    *NASTY,
    *(1e300, -1e300, 5e-324, float("inf"), float("nan"), 2**63, -(2**63) - 1, 10**400, True, None),
    *([], {}, [[[[[[[[[[]]]]]]]]]], {"\x00": "\ud800"}),
)
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.fuzz
@pytest.mark.parametrize("requests", portions(test=2, release=6, fuzz=200))
def test_every_answer_is_one_that_the_description_knows(
    live_server: LiveServer, token: str, requests: int
) -> None:
    """So many ``requests`` for each operation."""
    described = schemathesis.openapi.from_url(f"{live_server.url}/api/v1/openapi.json")
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) >= 7
    for operation in operations:

        @given(operation.as_strategy())
        @settings(
            max_examples=requests,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {token}"})

        answers()


def _spoiled(value: Any, hostile: Any) -> Iterator[Any]:
    """``value`` with ``hostile`` in the place of each of its leaves, and of itself."""
    yield hostile
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: each} for each in _spoiled(inner, hostile))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            rest = value[index + 1 :]
            yield from ([*value[:index], each, *rest] for each in _spoiled(inner, hostile))


@pytest.mark.fuzz
@pytest.mark.parametrize("requests", portions(test=3, release=8, fuzz=1000))
def test_no_operation_fails_on_hostile_strings_and_numbers(token: str, requests: int) -> None:
    """So many ``requests`` for each operation, with a hostile value in one of their leaves."""
    described = schemathesis.openapi.from_dict(json.loads(json.dumps(api.get_openapi_schema())))
    for operation in (found.ok() for found in described.get_all_operations()):

        @given(operation.as_strategy(), st.sampled_from(HOSTILE), st.data())
        @settings(
            max_examples=requests,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def answers(case: schemathesis.Case, hostile: Any, data: st.DataObject) -> None:
            for part in ("query", "path_parameters", "body"):
                held = getattr(case, part)
                if isinstance(held, dict) and held:
                    choices = [
                        one for one in _spoiled(dict(held), hostile) if isinstance(one, dict)
                    ]
                    if choices:
                        setattr(case, part, data.draw(st.sampled_from(choices)))
            assert _status(case, token) < 500

        answers()


def _status(case: schemathesis.Case, token: str) -> int:
    """What the server answers. Not sent by schemathesis: half of a surrogate stops its client."""
    path = case.operation.full_path
    for name, value in (case.path_parameters or {}).items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe="", errors="surrogatepass"))
    query = urlencode(case.query or {}, doseq=True, errors="surrogatepass")
    body = case.body if isinstance(case.body, dict | list) else {}
    if isinstance(body, dict) and isinstance(body.get("wait"), int | float):
        body = {**body, "wait": 0}
    client = Client(raise_request_exception=False)
    answer = client.generic(
        case.method,
        f"{path}?{query}",
        json.dumps(body) if case.method == "POST" else "",
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    return answer.status_code
