"""/api/v1/events, /releases and /canaries."""

import csv
import io
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests import make
from tests.api.conftest import Send
from tests.events.steps import CALM, boots, canary, event, release
from webapp.accounts.models import User
from webapp.events.models import Canary, LabEvent, Release
from webapp.labs.models import Agent
from webapp.results.models import Hardware

pytestmark = pytest.mark.django_db
EVENT = {"kind": "firmware", "text": "BIOS 2.1", "hardware": "bench/nic"} | {
    "happened_at": "2026-01-05T10:00:00Z",
    "external_id": "ipmi-7",
}


@pytest.fixture
def bench(agent: Agent) -> Hardware:
    return make.hardware("bench/nic", of=agent.lab)


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(make.user("root", role=User.Role.OPERATOR))
    return client


def post(client: Client, what: str, body: dict[str, Any], **headers: str) -> HttpResponse:
    return client.post(f"/api/v1/{what}", body, content_type="application/json", headers=headers)


def test_an_agent_records_an_event_of_its_lab_once(
    send: Send, bench: Hardware, agent: Agent
) -> None:
    first = send(EVENT, path="/api/v1/events", query="")
    assert first.status_code == 201, first.content
    again = send({**EVENT, "text": "sent again"}, path="/api/v1/events", query="")
    assert (again.status_code, again.json()) == (200, first.json())
    row = LabEvent.objects.get()
    assert (row.source, row.agent, row.text) == ("api", agent, "BIOS 2.1")
    body = first.json()
    assert (body["author"], body["hardware"], body["lab"]) == ("netlab/control", "bench/nic", None)


def test_an_agent_speaks_for_its_own_lab_alone(send: Send, bench: Hardware) -> None:
    make.hardware("Xeon/T580")
    make.tree()
    for change in (
        {"hardware": "Xeon/T580"},
        {"hardware": None, "lab": "orange-lab"},
        {"hardware": None, "tree": "freebsd-head"},
    ):
        answer = send({**EVENT, **change}, path="/api/v1/events", query="")
        assert answer.status_code == 403, change
    own = send({**EVENT, "hardware": None, "lab": "netlab"}, path="/api/v1/events", query="")
    assert own.status_code == 201
    assert LabEvent.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"kind": "fire"}, "kind"),
        ({"text": ""}, "text"),
        ({"hardware": "no/such"}, "hardware"),
        ({"happened_at": "1969-01-01T00:00:00Z"}, "happened_at"),
        ({"happened_at": None}, "happened_at"),
        ({"first": "r1"}, "tree"),
        ({"lab": "netlab"}, "lab"),
        ({"color": "red"}, "color"),
    ],
)
def test_what_is_wrong_is_named(
    send: Send, bench: Hardware, change: dict[str, Any], path: str
) -> None:
    answer = send({**EVENT, **change}, path="/api/v1/events", query="")
    assert answer.status_code == 422
    assert path in {one["path"] for one in answer.json()["error"]["details"]}
    assert not LabEvent.objects.exists()


def test_an_operator_who_is_signed_in_records_any_and_others_do_not(
    operator: Client, bench: Hardware
) -> None:
    make.revision("r100")
    of_tree = {"kind": "other", "text": "x", "tree": "freebsd-head", "first": "r100"}
    answer = post(operator, "events", of_tree)
    assert answer.status_code == 201, answer.content
    assert (answer.json()["author"], answer.json()["last"]) == ("root", "r100")
    triager = Client()
    triager.force_login(make.user("tess", role=User.Role.TRIAGER))
    assert post(triager, "events", of_tree).status_code == 401
    assert post(Client(), "events", of_tree).status_code == 401


def test_a_session_writes_with_the_csrf_token_only(bench: Hardware) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("root", role=User.Role.OPERATOR))
    assert post(client, "events", EVENT).status_code == 403
    assert not LabEvent.objects.exists()
    client.get("/events/new/")
    token = client.cookies[next(name for name in client.cookies if "csrf" in name)].value
    assert post(client, "events", EVENT, **{"X-CSRFToken": token}).status_code == 201


def test_events_are_listed_by_parts_and_pages() -> None:
    one, two = event("one"), event("two", hardware=make.hardware("Xeon/T580"))
    LabEvent.objects.filter(pk=one.pk).update(withdrawn_at=make.DAY_ONE, withdrawn_reason="no")

    def numbers(query: str) -> list[int]:
        found = Client().get(f"/api/v1/events{query}").json()
        return [row["number"] for row in found["events"]]

    assert numbers("") == [two.pk]
    assert numbers("?withdrawn=true") == [two.pk, one.pk]
    assert numbers("?withdrawn=true&limit=1") == [two.pk]
    assert numbers(f"?withdrawn=true&before={two.pk}") == [one.pk]
    assert numbers("?hardware=nothing") == []
    assert Client().get("/api/v1/events?limit=1&withdrawn=true").json()["next"] == two.pk


def rows(address: str) -> list[dict[str, str]]:
    answer = Client().get(address)
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_events_as_csv_have_the_same_columns_and_hide_formulas() -> None:
    event("=1+1")
    (row,) = rows("/api/v1/events.csv")
    assert row["text"] == "'=1+1"
    assert set(row) == set(Client().get("/api/v1/events").json()["events"][0])


RELEASE = {"tree": "freebsd-head", "name": "11.0", "revision": "r306420"}


def test_an_operator_names_a_release_once(operator: Client) -> None:
    make.tree()
    first = post(operator, "releases", {**RELEASE, "released_on": "2016-10-10"})
    assert first.status_code == 201, first.content
    again = post(operator, "releases", {**RELEASE, "released_on": "2016-10-10"})
    assert (again.status_code, again.json()) == (200, first.json())
    other = post(operator, "releases", {**RELEASE, "revision": "r1"})
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "conflict"
    assert Release.objects.get().revision.name == "r306420"
    (row,) = rows("/api/v1/releases.csv?tree=freebsd-head")
    assert (row["name"], row["revision"]) == ("11.0", "r306420")
    assert set(row) == set(Client().get("/api/v1/releases").json()["releases"][0])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"tree": "none"}, "tree"),
        ({"revision": "abcdef012345"}, "revision"),
        ({"kind": "party"}, "kind"),
        ({"released_on": 5}, "released_on"),
        ({"released_on": "2016-13-01"}, "released_on"),
        ({"name": ""}, "name"),
    ],
)
def test_what_is_wrong_with_a_release_is_named(
    operator: Client, change: dict[str, Any], path: str
) -> None:
    make.tree()
    answer = post(operator, "releases", {**RELEASE, **change})
    assert answer.status_code == 422
    assert answer.json()["error"]["details"][0]["path"] == path


def test_no_token_names_releases_or_makes_canaries(send: Send) -> None:
    make.tree()
    assert send(RELEASE, path="/api/v1/releases", query="").status_code == 401
    assert send({}, path="/api/v1/canaries", query="").status_code == 401


def test_releases_are_listed_by_tree() -> None:
    release("11.0", make.revision("r1"))
    release("4.9", make.revision("n1", of=make.tree("linux")))
    found = Client().get("/api/v1/releases?tree=linux").json()
    assert [row["name"] for row in found["releases"]] == ["4.9"]
    assert len(Client().get("/api/v1/releases").json()["releases"]) == 2


CANARY = {"tree": "freebsd-head", "revision": "r300000", "hardware": "bench/nic"} | {
    "mode": "memcpy",
    "metric": "pps",
}


def test_an_operator_makes_a_canary_once(operator: Client, bench: Hardware) -> None:
    make.tree()
    make.mode("memcpy")
    make.metric()
    first = post(operator, "canaries", {**CANARY, "interval_days": 7})
    assert first.status_code == 201, first.content
    again = post(operator, "canaries", CANARY)
    assert (again.status_code, again.json()) == (200, first.json())
    row = Canary.objects.get()
    assert (row.interval_days, row.boots, str(row.created_by)) == (7, 2, "root")


def test_every_name_of_a_canary_that_is_not_known_is_named(operator: Client) -> None:
    answer = post(operator, "canaries", CANARY)
    assert answer.status_code == 422
    paths = [one["path"] for one in answer.json()["error"]["details"]]
    assert paths == ["tree", "hardware", "mode", "metric"]


def test_a_canary_is_listed_with_its_limits_and_exported_boot_by_boot() -> None:
    made = canary()
    boots(made, [*CALM, 80.0, 80.0])
    young = canary(mode=make.mode("pf"))
    found = Client().get("/api/v1/canaries").json()["canaries"]
    assert [(row["number"], row["boots"]) for row in found] == [(young.pk, 0), (made.pk, 12)]
    assert found[0]["limits"] is None
    assert found[1]["left_at"] == "2026-01-12T12:00:00Z"
    detail = Client().get(f"/api/v1/canaries/{made.pk}").json()
    assert detail["value"][-1] == 80.0
    assert detail["side"] == [0] * 10 + [-1, -1]
    table = rows(f"/api/v1/canaries/{made.pk}/values.csv")
    assert [float(row["value"]) for row in table] == detail["value"]
    assert Client().get("/api/v1/canaries/999999").status_code == 404
    assert Client().get("/api/v1/canaries?hardware=none").json()["canaries"] == []
