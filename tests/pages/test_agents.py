"""`/agents/`, `/jobs/<n>/`, and the forms of triagers."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.jobs.steps import fail, hear, request, take, taken
from tests.pages.conftest import Counted
from webapp.accounts.models import User
from webapp.jobs import services
from webapp.jobs.models import Job, Worker

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def _queued(revision: str = "r1", **fields: object) -> Job:
    return request(revision, at=timezone.now(), **fields)


def _taken(worker: str = "rig-1") -> Job:
    return taken(worker, at=timezone.now())


def test_an_instance_without_agents_states_how_one_is_started(visit: Visit) -> None:
    assert "labagent work" in visit("/agents/")


def test_a_further_machine_finds_the_three_commands_on_an_instance_with_runs(
    visit: Visit,
) -> None:
    take("rig-1", at=timezone.now())
    page = visit("/agents/")
    assert "pip install http://testserver/labagent/driftline_agent-" in page
    assert "labagent login http://testserver" in page
    assert "labagent run -- iperf3" in page


def test_it_states_what_each_worker_does_and_will_do(client: Client, approved: Approvals) -> None:
    _queued("r1"), _queued("r2")
    job = _taken()
    hear(job, at=timezone.now(), stage="boot")
    approved("pages/agents/it-states-what-each-worker-does-and-will-do", client.get("/agents/"))


def test_a_silent_worker_is_marked_and_what_nobody_can_do_is_starved(visit: Visit) -> None:
    take("rig-1", at=timezone.now() - timedelta(hours=1))
    _queued()
    page = visit("/agents/")
    assert "rig-1 silent" in page
    assert "starved" in page


def test_failures_state_why_and_the_job_shows_the_log(visit: Visit) -> None:
    job = _queued(max_attempts=1)
    fail(_taken(), "build", at=timezone.now(), reason="make: error 1", log="ld: no <space>")
    assert "build: make: error 1" in visit("/agents/")
    page = visit(f"/jobs/{job.pk}/")
    assert "ld: no <space>" in page
    assert "given up" in page


def test_the_page_of_a_queued_job_states_when_it_begins(visit: Visit) -> None:
    job = _queued()
    assert "no worker that reported lately can do it" in visit(f"/jobs/{job.pk}/")
    take(serves=[services.Serves(make.hardware().name, modes=[])], at=timezone.now())
    Worker.objects.update(serves=[{**each, "modes": None} for each in Worker.objects.get().serves])
    assert "begins" in visit(f"/jobs/{job.pk}/")


def test_statements_do_not_grow_with_workers_and_jobs(queries: Counted) -> None:
    _queued("r1")
    _taken()
    before = queries("/agents/")
    for number in range(2, 8):
        _queued(f"r{number}"), _queued(f"r{number}")
        _taken(f"rig-{number}")
    assert queries("/agents/") == before


def _triager() -> User:
    return make.user("tria", role=User.Role.TRIAGER)


def test_a_triager_cancels_changes_the_priority_and_queues_again(client: Client) -> None:
    job = _queued()
    client.force_login(_triager())
    address = f"/jobs/{job.pk}/act/"
    client.post(address, {"act": "priority", "priority": "77"})
    assert Job.objects.get().priority == 77
    client.post(address, {"act": "cancel", "reason": "found it"})
    assert Job.objects.get().state == "cancelled"
    client.post(address, {"act": "retry"})
    assert Job.objects.get().state == "queued"
    assert b"Choose what to do." in client.post(address, {"act": "x"}, follow=True).content


FORM = {
    "tree": "freebsd-head",
    "revision": "r1",
    "hardware": "Atom_C2758/T540-CR",
    "mode": "forwarding",
    "boots": "12",
    "purpose": "fill gap",
}


def test_a_triager_asks_for_more_runs_and_comes_back_where_they_were(client: Client) -> None:
    make.revision("r1"), make.hardware(), make.mode()
    client.force_login(_triager())
    answer = client.post("/jobs/request/", {**FORM, "next": "/trends/?mode=forwarding"})
    assert answer.headers["Location"] == "/trends/?mode=forwarding"
    job = Job.objects.get()
    assert (job.boots, job.purpose, job.requested_by) == (12, "fill gap", User.objects.get())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tree": "nowhere"}, "Tree: “nowhere” is not known here"),
        ({"revision": "r\x009"}, "Revision: “r9” is not known here"),
        ({"hardware": ""}, "Hardware: “” is not known here"),
        ({"mode": "x"}, "Mode: “x” is not known here"),
        ({"metric": "x"}, "Metric: “x” is not known here"),
        ({"boots": "many"}, "Boots: give a number"),
        ({"boots": "0"}, "Boots: ask for 1 to 200"),
        ({"purpose": "bisect"}, "Purpose: choose"),
    ],
)
def test_a_request_that_makes_no_sense_names_the_field(
    client: Client, changes: dict[str, str], message: str
) -> None:
    make.revision("r1"), make.hardware(), make.mode()
    client.force_login(_triager())
    sent = {**FORM, **changes, "next": "https://elsewhere.example/"}
    answer = client.post("/jobs/request/", sent, follow=True)
    assert answer.redirect_chain[0][0] == "/agents/"
    assert message in answer.content.decode()
    assert not Job.objects.exists()


def test_a_stranger_is_asked_to_sign_in_and_a_viewer_refused(client: Client) -> None:
    job = _queued()
    for address, form in (
        ("/jobs/request/", FORM),
        (f"/jobs/{job.pk}/act/", {"act": "cancel", "reason": "x"}),
    ):
        assert client.post(address, form).headers["Location"].startswith("/sign-in/")
        viewer = Client()
        viewer.force_login(User.objects.filter(username="vi").first() or make.user("vi"))
        assert viewer.post(address, form).status_code == 403
        assert client.get(address).status_code in (302, 405)
    assert list(Job.objects.values_list("state", flat=True)) == ["queued"]
    assert client.get("/jobs/999999999999999999999/").status_code == 404
