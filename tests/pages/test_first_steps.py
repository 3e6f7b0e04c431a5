"""The front page of an empty instance."""

from collections.abc import Callable

import pytest
from django.test import Client, override_settings

from tests import make
from tests.approved import Approvals

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def test_an_empty_instance_states_what_to_do_next_with_the_commands(
    client: Client, approved: Approvals
) -> None:
    approved("pages/first-steps/an-empty-instance-states-what-to-do-next", client.get("/"))


@override_settings(COMMANDS="")
def test_in_a_container_commands_are_on_the_path(visit: Visit) -> None:
    text = visit("/")
    assert "venv" not in text
    assert "python manage.py create_agent" in text


@override_settings(WHICH="STATE=/srv/two ", COMMANDS="")
def test_commands_name_the_instance_where_it_is_not_the_default(visit: Visit) -> None:
    assert "STATE=/srv/two python manage.py create_agent" in visit("/")


@pytest.mark.parametrize(("here", "beside"), [("8000", "8001"), ("8001", "8002")])
def test_a_demonstration_has_data_and_port_of_its_own(
    client: Client, here: str, beside: str
) -> None:
    page = client.get("/", SERVER_PORT=here, headers={"Host": f"testserver:{here}"})
    assert f"make demo PORT={beside} STATE=.run-demo" in page.content.decode()


def test_what_is_done_is_ticked(client: Client, approved: Approvals) -> None:
    make.revisions(4)
    make.agent()
    approved("pages/first-steps/what-is-done-is-ticked", client.get("/"))


def test_the_steps_ask_for_themselves_until_the_first_run_arrives(client: Client) -> None:
    assert 'hx-get="/first-steps/"' in client.get("/").content.decode()
    answer = client.get("/first-steps/")
    assert "HX-Refresh" not in answer
    assert 'hx-get="/first-steps/"' in answer.content.decode()
    make.run(make.revision("r300000"))
    assert client.get("/first-steps/")["HX-Refresh"] == "true"


def test_a_machine_that_was_only_registered_is_no_result(visit: Visit) -> None:
    make.hardware()
    assert "Three steps to the first chart" in visit("/")
