"""Jobs by the API: poll, heartbeat, result, fail, read."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests import make
from tests.api.conftest import Send
from tests.documents import run_document
from tests.jobs.steps import kinds
from webapp.jobs import services
from webapp.jobs.models import Job
from webapp.labs.models import Agent
from webapp.results.models import Run

pytestmark = pytest.mark.django_db
HARDWARE, REVISION = "bench/nic", "r303643"


@pytest.fixture
def job(agent: Agent) -> Job:
    make.hardware(HARDWARE, of=agent.lab)
    return _request()


def _request(revision: str = REVISION, **fields: Any) -> Job:
    request = services.JobRequest(
        purpose=Job.Purpose.CONFIRM,
        revision=make.revision(revision),
        hardware=make.hardware(HARDWARE),
        mode=make.mode("forwarding"),
        metric=make.metric(),
        **fields,
    )
    return services.request_jobs(requests=[request], requested_by=None)[0]


@pytest.fixture
def post(send: Send) -> Send:
    def to(path: str, **body: Any) -> HttpResponse:
        return send(body, "", f"/api/v1/jobs/{path}")

    return to


def _poll(post: Send, worker: str = "rig-1", **fields: Any) -> dict[str, Any]:
    response = post("poll", worker=worker, serves=[{"hardware": HARDWARE}], **fields)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def _error(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def _result(post: Send, got: dict[str, Any], **changes: Any) -> HttpResponse:
    return post(f"{got['id']}/result", lease=got["lease"], run=run_document(**changes))


def test_the_result_of_a_job_may_be_replaced_and_stays_its_result(
    post: Send, send: Send, job: Job
) -> None:
    run = run_document()
    got = _poll(post)["job"]
    assert _result(post, got, uuid=run["uuid"]).status_code == 201
    assert send(run | {"build_id": "r303643 #1"}, "?replace=true").status_code == 201
    assert Client().get(f"/api/v1/jobs/{job.pk}").json()["runs"] == [run["uuid"]]
    assert [one.kernel.build_id for one in job.results()] == ["r303643 #1"]
    assert job.runs.count() == 2


def test_a_result_takes_no_run_of_another_lab_nor_one_that_is_stored_otherwise(
    post: Send, send: Send, job: Job
) -> None:
    theirs = make.run(make.revision("r303642"), on=make.hardware("their/nic", of=make.lab("evil")))
    own = run_document()
    send(own)
    got = _poll(post)["job"]
    for stored, code in ((str(theirs.uuid), "wrong_job"), (own["uuid"], "conflict")):
        response = _result(post, got, uuid=stored, samples=[1.0])
        assert _error(response) == (409, code)
    assert Run.objects.count() == 2
    assert not job.results()


def test_a_poll_gives_everything_that_a_worker_needs(post: Send, job: Job) -> None:
    got = _poll(post)["job"]
    assert len(got.pop("lease")) == 32
    assert got == {
        "id": job.pk,
        "lease_seconds": 300.0,
        "tree": "freebsd-head",
        "revision": REVISION,
        "aliases": [],
        "hardware": HARDWARE,
        "mode": "forwarding",
        "workload": "forwarding",
        "traffic": None,
        "options": [],
        "metric": "pps",
        "boots": 1,
        "iterations": 1,
        "rebuild": False,
        "build_key": "",
        "attempt": 1,
        "purpose": "confirm",
        "profile": False,
        "reason": "",
        "deadline": None,
    }
    nothing = _poll(post, "rig-2")
    assert nothing["job"] is None
    assert nothing["poll_again_after"] > 0


def test_a_result_is_stored_like_a_run_and_ends_the_job_once(post: Send, job: Job) -> None:
    got = _poll(post)["job"]
    body = {"lease": got["lease"], "run": run_document()}
    assert post(f"{job.pk}/result", **body).status_code == 201
    again = post(f"{job.pk}/result", **body)
    assert (again.status_code, again.json()["known"]) == (200, 1)
    job.refresh_from_db()
    assert job.state == "done"
    assert kinds(job) == ["queued", "leased", "result"]
    assert [run.uuid for run in job.results()] == [Run.objects.get().uuid]
    assert Run.objects.get().warnings == []


def test_a_late_result_is_taken_and_the_other_worker_stopped(post: Send, job: Job) -> None:
    first = _poll(post, "rig-1")["job"]
    Job.objects.update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
    second = _poll(post, "rig-2")["job"]
    assert second["attempt"] == 2
    assert _error(post(f"{job.pk}/heartbeat", lease=first["lease"], stage="run")) == (
        409,
        "lease_lost",
    )
    assert _result(post, first).status_code == 201
    job.refresh_from_db()
    assert (job.state, kinds(job)[-1]) == ("done", "late result")
    heard = post(f"{job.pk}/heartbeat", lease=second["lease"], stage="run").json()
    assert (heard["state"], heard["cancel"]) == ("done", True)
    assert _result(post, second).status_code == 201
    assert len(job.results()) == 2


def test_the_result_of_a_cancelled_job_is_kept_and_the_job_stays_cancelled(
    post: Send, job: Job
) -> None:
    got = _poll(post)["job"]
    services.cancel_job(job=job.pk, reason="found it")
    assert _result(post, got).status_code == 201
    assert _result(post, got).status_code == 201
    job.refresh_from_db()
    assert (job.state, len(job.results())) == ("cancelled", 2)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"revision": "r303642"}, "wrong_kernel"),
        ({"kernel_ident": "FreeBSD 12.0-CURRENT #0 r303642M: Tue"}, "wrong_kernel"),
        ({"mode": {"workload": "ipfw", "traffic": None, "options": []}}, "wrong_job"),
        ({"hardware": "other/nic"}, "wrong_job"),
        ({"tree": "freebsd-stable-11"}, "wrong_job"),
        ({"variant": [{"kind": "patch", "name": "D12685"}]}, "wrong_job"),
    ],
)
def test_a_result_of_something_else_is_refused_and_fails_the_attempt(
    post: Send, job: Job, changes: dict[str, Any], code: str
) -> None:
    got = _poll(post)["job"]
    assert _error(_result(post, got, **changes)) == (409, code)
    assert _error(_result(post, got, **changes)) == (409, code)
    job.refresh_from_db()
    assert (job.state, job.failure_stage, Run.objects.count()) == ("queued", "boot", 0)
    assert kinds(job) == ["queued", "leased", "refused", "failed"]


def test_a_run_that_was_there_before_is_no_result(post: Send, send: Send, job: Job) -> None:
    """It would end the job without a new boot, and who needs one would ask for ever."""
    done = run_document()
    first = _poll(post)["job"]
    assert post(f"{first['id']}/result", lease=first["lease"], run=done).status_code == 201
    uploaded = run_document()
    send({"runs": [uploaded]}, "", "/api/v1/runs")
    assert Run.objects.count() == 2
    again = _request()
    for old in (done, uploaded):
        got = _poll(post)["job"]
        refused = post(f"{again.pk}/result", lease=got["lease"], run=old)
        assert _error(refused) == (409, "wrong_job")
        assert old["uuid"] in refused.json()["error"]["message"]
        Job.objects.filter(pk=again.pk).update(not_before=again.created_at)
    spooled = run_document()
    send({"runs": [spooled]}, "", "/api/v1/runs")
    got = _poll(post)["job"]
    assert post(f"{again.pk}/result", lease=got["lease"], run=spooled).status_code == 200


def test_a_result_without_the_metric_that_matters_is_refused(post: Send, job: Job) -> None:
    metric = {"unit": "us", "better": "less", "samples": [1.0], "boots": [0]}
    refused = _result(post, _poll(post)["job"], metrics={"latency": metric})
    assert _error(refused) == (409, "wrong_job")


def test_a_kernel_that_names_no_revision_is_taken_with_a_warning(post: Send, job: Job) -> None:
    assert _result(post, _poll(post)["job"], kernel_ident="GENERIC").status_code == 201
    assert "names no revision" in Run.objects.get().warnings[0]


def test_a_run_that_cannot_be_stored_leaves_the_job_as_it_was(post: Send, job: Job) -> None:
    got = _poll(post)["job"]
    metric = {"unit": "Mpps", "better": "more", "samples": [1.0], "boots": [0]}
    assert _error(_result(post, got, metrics={"pps": metric})) == (422, "invalid")
    job.refresh_from_db()
    assert (job.state, kinds(job)) == ("leased", ["queued", "leased"])


def test_the_clock_of_an_agent_does_not_matter(post: Send, job: Job) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert _result(post, _poll(post)["job"], measured_at=yesterday).status_code == 201
    job.refresh_from_db()
    assert job.ended_at is not None
    assert job.ended_at > datetime.now(UTC) - timedelta(minutes=1)


def test_a_failure_states_what_becomes_of_the_job_and_keeps_a_log_of_anything(
    post: Send, job: Job
) -> None:
    got = _poll(post)["job"]
    failure = {"lease": got["lease"], "stage": "build", "reason": "make: 1", "log": "a\0b"}
    assert post(f"{job.pk}/fail", **failure).json() == {"state": "queued"}
    assert job.events.get(kind="failed").log == "a\N{REPLACEMENT CHARACTER}b"


def test_another_lab_and_a_stranger_are_refused(post: Send, job: Job) -> None:
    got = _poll(post)["job"]
    make.hardware("theirs/nic", of=make.lab("another"))
    refused = post("poll", worker="rig-1", serves=[{"hardware": "theirs/nic"}])
    assert _error(refused) == (403, "forbidden")
    spy = services_token()
    headers = {"Authorization": f"Bearer {spy}"}
    body = {"lease": got["lease"], "stage": "run", "reason": "x"}
    for client, status in ((Client(), 401), (Client(headers=headers), 403)):
        for act in ("heartbeat", "fail"):
            sent = body if act == "fail" else {"lease": got["lease"], "stage": "run"}
            response = client.post(
                f"/api/v1/jobs/{job.pk}/{act}", sent, content_type="application/json"
            )
            assert response.status_code == status
        result = {"lease": got["lease"], "run": run_document()}
        response = client.post(
            f"/api/v1/jobs/{job.pk}/result", result, content_type="application/json"
        )
        assert response.status_code == status
    assert Client().post("/api/v1/jobs/poll").status_code == 401


def services_token() -> str:
    from webapp.labs.services import create_agent, issue_token  # noqa: PLC0415

    return issue_token(agent=create_agent(name="spy", lab_name="another")).text


def test_anybody_reads_jobs_newest_first_and_no_lease(post: Send, job: Job) -> None:
    newer = _request("r303650")
    lease = _poll(post)["job"]["lease"]
    page = Client().get("/api/v1/jobs?limit=1").json()
    assert [each["number"] for each in page["jobs"]] == [newer.pk]
    assert page["next"] == newer.pk
    older = Client().get(f"/api/v1/jobs?before={page['next']}&state=leased&hardware={HARDWARE}")
    assert [each["number"] for each in older.json()["jobs"]] == [job.pk]
    one = Client().get(f"/api/v1/jobs/{job.pk}")
    assert lease not in one.content.decode()
    assert [event["kind"] for event in one.json()["events"]] == ["queued", "leased"]
    assert Client().get("/api/v1/jobs/999999").status_code == 404


def test_a_poll_costs_few_statements(
    post: Send, job: Job, django_assert_max_num_queries: Any
) -> None:
    _poll(post)
    with django_assert_max_num_queries(12):
        _poll(post, "rig-2")
