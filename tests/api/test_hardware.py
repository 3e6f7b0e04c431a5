"""GET and POST /api/v1/hardware, GET /api/v1/whoami."""

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Hardware, HardwareAlias

pytestmark = pytest.mark.django_db
PATH = "/api/v1/hardware"


def test_hardware_is_registered_for_the_tokens_lab(send: Send) -> None:
    response = send({"name": "bench/nic", "facts": {"cores": 8}}, path=PATH, query="")
    assert response.status_code == 201
    row = Hardware.objects.get()
    assert (row.name, row.lab.name, row.facts) == ("bench/nic", "netlab", {"cores": 8})


def test_registering_it_again_leaves_it_as_it_was(send: Send) -> None:
    send({"name": "bench/nic", "facts": {"cores": 8}}, path=PATH, query="")
    response = send({"name": "bench/nic"}, path=PATH, query="")
    assert response.status_code == 200
    assert Hardware.objects.get().facts == {"cores": 8}


def test_a_former_name_answers_with_the_present_one(send: Send, agent: Agent) -> None:
    row = Hardware.objects.create(name="new/nic", lab=agent.lab)
    HardwareAlias.objects.create(name="old/nic", hardware=row)
    assert send({"name": "old/nic"}, path=PATH, query="").json()["name"] == "new/nic"


def test_hardware_of_another_lab_cannot_be_taken_over(send: Send) -> None:
    other = labs.create_agent(name="x", lab_name="other")
    Hardware.objects.create(name="bench/nic", lab=other.lab)
    assert send({"name": "bench/nic"}, path=PATH, query="").status_code == 403


def test_a_bad_name_is_refused(send: Send) -> None:
    response = send({"name": "a b"}, path=PATH, query="")
    assert response.status_code == 422
    assert response.json()["error"]["details"][0]["path"] == "name"


def test_a_stranger_may_read_and_not_write(db: None) -> None:
    assert Client().get(PATH).json() == {"hardware": []}
    assert Client().post(PATH, {}, content_type="application/json").status_code == 401


def test_the_list_takes_one_statement(agent: Agent) -> None:
    for i in range(5):
        Hardware.objects.create(name=f"bench/nic{i}", lab=agent.lab)
    with CaptureQueriesContext(connection) as captured:
        assert len(Client().get(PATH).json()["hardware"]) == 5
    assert len(captured) == 1


def test_whoami_shows_agent_lab_and_time(token: str) -> None:
    answer = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/whoami").json()
    assert (answer["agent"], answer["lab"]) == ("control", "netlab")
    assert abs((timezone.now() - datetime.fromisoformat(answer["time"])).total_seconds()) < 60


def test_whoami_refuses_a_stranger(db: None) -> None:
    assert Client().get("/api/v1/whoami").status_code == 401


def facts_of(name: str, ending: str = "") -> Any:
    return Client().get(f"{PATH}/{name}/facts{ending}")


def test_display_name_cpu_and_nic_come_from_the_name_where_nobody_typed_them(agent: Agent) -> None:
    Hardware.objects.create(name="Atom_C2758_8Cores/Chelsio_T540-CR", lab=agent.lab)
    Hardware.objects.create(name="bench", lab=agent.lab, cpu="Xeon", display_name="The fast one")
    (atom, bench) = Client().get(PATH).json()["hardware"]
    assert (atom["cpu"], atom["nic"]) == ("Atom C2758 8Cores", "Chelsio T540-CR")
    assert atom["display_name"] == "Atom C2758 8Cores Chelsio T540-CR"
    assert (bench["cpu"], bench["nic"], bench["display_name"]) == ("Xeon", "", "The fast one")


def test_facts_name_cpu_and_nic_where_nobody_typed_them(send: Send) -> None:
    facts = {"cpu": "Atom C2758", "typed": {"cpu": "an Atom", "nic": "Quad T540-CR"}}
    send(run_document(hardware="Atom/T540", facts=facts))
    (row,) = Client().get(PATH).json()["hardware"]
    assert (row["cpu"], row["nic"]) == ("Atom C2758", "Quad T540-CR")


def test_facts_have_a_first_and_a_last_day_and_show_which_hold(send: Send) -> None:
    for day, cpu in ((1, "Atom"), (2, "Atom"), (3, "=Xeon")):
        send(run_document(measured_at=f"2026-01-0{day}T10:00:00Z", facts={"cpu": cpu}))
    found = facts_of("bench/nic").json()
    assert found["hardware"] == "bench/nic"
    assert [
        (
            one["value"],
            one["first_seen"][:10],
            one["last_seen"][:10],
            one["is_newest"],
            one["source"],
        )
        for one in found["facts"]
    ] == [
        ("=Xeon", "2026-01-03", "2026-01-03", True, "measured"),
        ("Atom", "2026-01-01", "2026-01-02", False, "measured"),
    ]
    lines = facts_of("bench/nic", ".csv").content.decode().splitlines()
    assert lines[0] == "name,value,source,first_seen,last_seen,is_newest"
    assert lines[1].startswith("cpu,'=Xeon,measured,2026-01-03")


def test_facts_are_found_by_a_former_name(send: Send) -> None:
    send(run_document(facts={"cpu": "Atom"}))
    HardwareAlias.objects.create(name="old/nic", hardware=Hardware.objects.get())
    assert facts_of("old/nic").json()["hardware"] == "bench/nic"
    answer = facts_of("nope/nic")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_hardware_is_exported_as_csv(agent: Agent) -> None:
    Hardware.objects.create(name="bench/nic", lab=agent.lab, description="=1+1")
    text = Client().get(f"{PATH}.csv").content.decode()
    assert text == (
        "name,lab,display_name,cpu,nic,description\nbench/nic,netlab,bench nic,bench,nic,'=1+1\n"
    )
