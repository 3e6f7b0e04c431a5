"""Which job a worker gets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import make
from tests.jobs.steps import MINUTE, NOW, asking, kinds, request, take, taken
from webapp.jobs import services
from webapp.jobs.capability import Capability, takes
from webapp.jobs.models import Job, Worker
from webapp.results.documents import Forbidden, Unprocessable

pytestmark = pytest.mark.django_db


def test_the_most_urgent_comes_first_then_the_oldest() -> None:
    late = request("r3", at=NOW)
    early = request("r2", at=NOW - MINUTE)
    urgent = request("r1", priority=99)
    assert [taken(f"rig-{i}", at=NOW).pk for i in range(3)] == [urgent.pk, early.pk, late.pk]


def test_a_bisect_comes_before_what_people_ask_for() -> None:
    request("r1")
    bisect = request("r2", purpose=Job.Purpose.BISECT)
    assert taken().pk == bisect.pk


def test_of_jobs_asked_for_together_the_revision_built_last_comes_first() -> None:
    first = request("r5")
    taken()
    services.cancel_job(job=first.pk, reason="enough")
    services.fail(
        number=first.pk, agent=make.agent(), lease=Job.objects.get().lease, stage="lab", reason="x"
    )
    _, same = request("r4"), request("r5")
    assert taken(at=NOW + MINUTE).pk == same.pk


def test_a_worker_gets_only_what_it_serves() -> None:
    job = request("r1", mode=make.mode("ipfw@inet4+VIMAGE"), rebuild=True)
    name, other = job.hardware.name, make.hardware("Xeon/T580").name
    not_these = [
        services.Serves(other, rebuilds=True),
        services.Serves(name, modes=["ipfw"], rebuilds=True),
        services.Serves(name, trees=["linux-net-next"], rebuilds=True),
        services.Serves(name, modes=["ipfw@inet4+VIMAGE"], trees=["freebsd-head"]),
    ]
    assert take(serves=not_these) is None
    this = services.Serves(name, modes=["ipfw@inet4+VIMAGE"], trees=["freebsd-head"], rebuilds=True)
    assert taken(serves=[*not_these, this]).pk == job.pk


def test_hardware_of_another_lab_or_of_none_is_refused_by_its_name() -> None:
    make.hardware("Xeon/T580", of=make.lab("another"))
    with pytest.raises(Forbidden, match=r"serves\[0\]\.hardware: 'Xeon/T580' belongs"):
        take(serves=[services.Serves("Xeon/T580")])
    with pytest.raises(Unprocessable, match=r"serves\[1\]\.hardware: 'nowhere' is not registered"):
        take(serves=[services.Serves(make.hardware().name), services.Serves("nowhere")])


def test_a_job_is_leased_once_with_everything_noted() -> None:
    request("r1")
    job = taken(version="0.1.0")
    assert take("rig-2") is None
    assert (job.state, job.attempts, job.started_at) == (Job.State.LEASED, 1, NOW)
    assert job.lease_until == NOW + services.LEASE
    assert kinds(job) == ["queued", "leased"]
    worker = Worker.objects.get(name="rig-1")
    assert (worker.version, worker.last_revision_id) == ("0.1.0", job.revision_id)


def test_a_worker_that_was_restarted_gets_its_job_back() -> None:
    request("r1"), request("r2")
    job = taken()
    again = taken(at=NOW + MINUTE)
    assert (again.pk, again.lease, again.attempts) == (job.pk, job.lease, 1)
    assert again.lease_until == NOW + MINUTE + services.LEASE


def test_a_draining_worker_keeps_its_job_and_takes_no_other() -> None:
    request("r1"), request("r2")
    assert take("rig-9", draining=True) is None
    job = taken()
    assert taken(draining=True).pk == job.pk


def test_neither_what_waits_for_its_time_nor_what_is_too_late_is_handed_out() -> None:
    request("r1", not_before=NOW + MINUTE)
    request("r2", deadline=NOW)
    assert take() is None
    assert taken(at=NOW + MINUTE).revision.name == "r1"


def test_polls_of_one_worker_name_in_two_agents_are_two_workers() -> None:
    request("r1"), request("r2")
    assert taken(agent=make.agent("a")).pk != taken(agent=make.agent("b")).pk


capabilities = st.lists(
    st.tuples(
        st.sampled_from([0, 1]),
        st.none() | st.frozensets(st.sampled_from([0, 1])),
        st.none() | st.frozensets(st.sampled_from([0, 1])),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


@given(capabilities, st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_the_database_and_python_agree_on_what_a_worker_can_do(
    parts: list[tuple[int, frozenset[int] | None, frozenset[int] | None, bool]],
    hardware: int,
    mode: int,
    rebuild: bool,
) -> None:
    machines = [make.hardware("Atom/T540").pk, make.hardware("Xeon/T580").pk]
    modes = [make.mode("forwarding").pk, make.mode("ipfw").pk]
    trees = [make.tree().pk, 0]
    job = request(
        "r1",
        hardware=[make.hardware("Atom/T540"), make.hardware("Xeon/T580")][hardware],
        mode=[make.mode("forwarding"), make.mode("ipfw")][mode],
        rebuild=rebuild,
    )
    able = [
        Capability(
            machines[at],
            None if some is None else frozenset(modes[i] for i in some),
            None if those is None else frozenset(trees[i] for i in those),
            rebuilds,
        )
        for at, some, those, rebuilds in parts
    ]
    got = services.claim(request=asking(f"rig-{job.pk}"), capabilities=able, now=NOW)
    assert (got is not None) == takes(able, job)
    Job.objects.all().delete()
