"""An agent with a token, and a caller that speaks as it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from webapp.labs import services
from webapp.labs.models import Agent

Send = Callable[..., HttpResponse]


@pytest.fixture
def agent(db: None) -> Agent:
    return services.create_agent(name="control", lab_name="netlab")


@pytest.fixture
def token(agent: Agent) -> str:
    return services.issue_token(agent=agent).text


@pytest.fixture
def send(token: str) -> Send:
    """``send(body, query="", path=…)`` posts JSON with the token."""

    def post(
        body: Any, query: str = "?register=true", path: str = "/api/v1/runs", **headers: str
    ) -> HttpResponse:
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        return Client(headers={"Authorization": f"Bearer {token}"} | headers).post(
            path + query, data, content_type="application/json"
        )

    return post
