"""GET and POST /api/v1/hardware, GET /api/v1/whoami."""

from datetime import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.api.conftest import Send
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


def test_whoami_tells_agent_lab_and_time(token: str) -> None:
    answer = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/whoami").json()
    assert (answer["agent"], answer["lab"]) == ("control", "netlab")
    assert abs((timezone.now() - datetime.fromisoformat(answer["time"])).total_seconds()) < 60


def test_whoami_refuses_a_stranger(db: None) -> None:
    assert Client().get("/api/v1/whoami").status_code == 401
