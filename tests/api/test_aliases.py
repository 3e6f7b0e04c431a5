"""/api/v1/aliases."""

import csv
import io
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests import make
from tests.api.conftest import Send
from tests.documents import run_document
from webapp.accounts.models import User
from webapp.results.models import NameAlias, Run

pytestmark = pytest.mark.django_db
PATH = "/api/v1/aliases"
ALIAS = {"lab": "netlab", "kind": "workload", "name": "fastforwarding", "means": "forwarding"}


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(make.user("root", role=User.Role.OPERATOR))
    return client


@pytest.fixture
def run(send: Send) -> dict[str, Any]:
    sent = run_document(mode={"workload": "fastforwarding", "traffic": None, "options": []})
    assert send(sent).status_code == 201
    return sent


def post(client: Client, path: str = "", **changes: Any) -> HttpResponse:
    return client.post(PATH + path, ALIAS | changes, content_type="application/json")


def modes() -> set[str]:
    return set(Run.objects.values_list("mode__name", flat=True))


@pytest.mark.usefixtures("run")
def test_an_operator_looks_makes_and_takes_back(operator: Client, client: Client) -> None:
    looked = post(operator, "/preview").json()
    assert looked["runs"] == 1
    assert looked["groups"][0]["into_mode"] == "forwarding"
    assert not NameAlias.objects.exists()
    made = post(operator, tree="freebsd-head", last="r303643")
    assert made.status_code == 201, made.content
    body = made.json()
    assert (body["moved"], body["tree"], body["first"], body["last"]) == (
        1,
        "freebsd-head",
        None,
        "r303643",
    )
    assert modes() == {"forwarding"}
    assert client.get(PATH).json() == {"aliases": [body], "next": None}
    undone = operator.post(f"{PATH}/{body['number']}/undo")
    assert undone.json()["undone_by"] == "root"
    assert operator.post(f"{PATH}/{body['number']}/undo").json() == undone.json()
    assert modes() == {"fastforwarding"}
    assert client.get(PATH).json()["aliases"] == []
    assert len(client.get(f"{PATH}?state=undone").json()["aliases"]) == 1
    assert client.get(f"{PATH}?state=else").status_code == 422


@pytest.mark.usefixtures("run")
def test_the_csv_is_the_same_page(operator: Client, client: Client) -> None:
    post(operator, name="=cmd", means="x")
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PATH}.csv").content.decode())))
    assert [(row["name"], row["means"], row["tree"]) for row in rows] == [("'=cmd", "x", "")]


@pytest.mark.usefixtures("run")
def test_nobody_else_does(send: Send, client: Client) -> None:
    refused = send(ALIAS, query="", path=PATH)
    assert refused.status_code == 401  # nor does an agent's token
    assert "no token may" in refused.json()["error"]["message"]
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    assert post(client).status_code == 401
    assert client.post(f"{PATH}/1/undo").status_code == 401
    assert modes() == {"fastforwarding"}


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"kind": "colour"}, "kind"),
        ({"name": "a b"}, "name"),
        ({"means": "fastforwarding"}, "means"),
        ({"lab": "nowhere"}, "lab"),
        ({"first": "r1"}, "tree"),
        ({"tree": "freebsd-head", "last": "r77"}, "last"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_named(operator: Client, changes: dict[str, Any], path: str) -> None:
    for where in ("", "/preview"):
        answer = post(operator, where, **changes)
        assert answer.status_code == 422, answer.content
        assert path in {one["path"] for one in answer.json()["error"]["details"]}
    assert not NameAlias.objects.exists()


def test_an_unknown_number_is_refused(operator: Client) -> None:
    for number in (7, 2**70):
        answer = operator.post(f"{PATH}/{number}/undo")
        assert answer.status_code == 422
