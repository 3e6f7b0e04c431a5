"""`/api/v1/trees`."""

import pytest
from django.test import Client

from tests import make
from webapp.accounts.models import User
from webapp.results.models import Tree

pytestmark = pytest.mark.django_db
TEMPLATE = "https://cgit.example.org/src/commit/?id={hash}"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make.user("olga", role=User.Role.OPERATOR))
    return client


def send(client: Client, template: str, tree: str = "freebsd-head") -> tuple[int, str]:
    document = {"tree": tree, "source_template": template}
    response = client.post("/api/v1/trees/source", document, content_type="application/json")
    return response.status_code, response.content.decode()


def test_an_operator_sets_where_commits_are_and_takes_it_back(operator: Client) -> None:
    make.tree()
    assert send(operator, TEMPLATE)[0] == 200
    (tree,) = operator.get("/api/v1/trees").json()["trees"]
    assert tree == {"name": "freebsd-head", "description": "", "source_template": TEMPLATE}
    assert send(operator, "")[0] == 200
    assert Tree.objects.get().source_template == ""


def test_what_is_no_template_is_refused_with_the_remedy(operator: Client) -> None:
    make.tree()
    status, answer = send(operator, "javascript:alert({revision})")
    assert (status, "begins with https://" in answer) == (422, True)
    status, answer = send(operator, "https://example.org/")
    assert (status, "{revision}, {number} or {hash}" in answer) == (422, True)
    assert send(operator, TEMPLATE, tree="nowhere")[0] == 422
    assert Tree.objects.get().source_template == ""


def test_nobody_else_sets_it(client: Client) -> None:
    make.tree()
    assert send(client, TEMPLATE)[0] == 401
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    assert send(client, TEMPLATE)[0] == 401
