"""Runs whose mode a later agent names otherwise: they move to the other series, each once."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import SAMPLES, run_document
from tests.results.steps import analyse, upload
from webapp.results.documents import Conflict
from webapp.results.models import Measurement, Point, Run, Series, WaitingRun
from webapp.results.services import decide_waiting, withdraw_run

pytestmark = pytest.mark.django_db
FORMER = "5+hw.cxgbe.nXxq"
PRESENT = "forwarding+hw.cxgbe.nXxq=5"
N = len(SAMPLES)


def former(**fields: Any) -> dict[str, Any]:
    """As the agents before sent it, that knew no knobs."""
    mode = {"workload": "5", "traffic": None, "options": ["hw.cxgbe.nXxq"]}
    return run_document(**{"mode": mode, **fields})


def present(sent: dict[str, Any], **evidence: str) -> dict[str, Any]:
    """The same run as it is read now."""
    mode = {"workload": "forwarding", "traffic": None, "options": ["hw.cxgbe.nXxq=5"]}
    known = sent.get("evidence") or {}
    return sent | {"mode": mode, "evidence": known | {"former_mode": FORMER} | evidence}


def points() -> dict[str, dict[str, int]]:
    """Mode → revision → samples."""
    found: dict[str, dict[str, int]] = {}
    for row in Point.objects.select_related("revision", "series__mode"):
        found.setdefault(row.series.mode.name, {})[row.revision.name] = row.n
    return found


def test_a_run_stored_under_the_former_name_moves_and_is_not_doubled() -> None:
    first = upload(sent := former())
    assert points() == {FORMER: {"r303643": N}}
    second = upload(present(sent))
    assert second.refiled == set(second.known) == set(first.stored)
    assert not second.stored
    assert points() == {PRESENT: {"r303643": N}}
    assert Run.objects.get().mode.name == PRESENT
    assert Measurement.objects.get().series.mode.name == PRESENT


def test_both_series_are_analysed_anew() -> None:
    for number, sent in enumerate(runs := [former(revision=f"r{n}") for n in (1, 2)]):
        upload(sent, former(build_id=f"another {number}") if number else sent)
    analyse()
    upload(present(runs[0]))
    dirty = {row.mode.name: row.dirty_from for row in Series.objects.select_related("mode")}
    assert dirty == {FORMER: 1, PRESENT: 1}
    assert points() == {FORMER: {"r2": N, "r303643": N}, PRESENT: {"r1": N}}


@pytest.mark.parametrize("later", ["former", "present"])
def test_sent_again_by_either_agent_it_stays_where_it_is(later: str) -> None:
    upload(sent := former())
    upload(present(sent))
    again = upload(sent if later == "former" else present(sent))
    assert again.known
    assert not again.refiled
    assert points() == {PRESENT: {"r303643": N}}


def test_an_agent_before_sends_what_is_stored_under_the_present_name() -> None:
    first = upload(present(sent := former()))
    assert upload(sent).known == first.stored
    assert points() == {PRESENT: {"r303643": N}}


@pytest.mark.parametrize("backwards", [False, True])
def test_both_names_in_one_batch_are_one_run_of_the_present_name(*, backwards: bool) -> None:
    sent = former()
    batch = [present(sent), sent] if backwards else [sent, present(sent)]
    assert len(upload(*batch).stored) == 1
    assert points() == {PRESENT: {"r303643": N}}


def test_a_batch_moves_stores_and_leaves_alone_what_it_holds() -> None:
    old, new, other = former(), former(revision="r303644"), run_document()
    upload(old, other)
    recorded = upload(present(old), present(new), other)
    assert {str(uuid) for uuid in recorded.refiled} == {old["uuid"]}
    assert {str(uuid) for uuid in recorded.stored} == {new["uuid"]}
    assert points() == {PRESENT: {"r303643": N, "r303644": N}, "forwarding": {"r303643": N}}


def test_every_metric_of_the_run_moves() -> None:
    metrics = run_document()["metrics"]
    metrics |= {"equilibrium": metrics["pps"] | {"unit": "Mb/s"}}
    upload(sent := former(metrics=metrics))
    upload(present(sent))
    moved = Measurement.objects.values_list("series__mode__name", "series__metric__name")
    assert set(moved) == {(PRESENT, "pps"), (PRESENT, "equilibrium")}


WAITS = {"label": "fbsd12", "kernel_revision": "r309257", "label_revision": "r303643"}


def test_a_waiting_run_moves_and_still_waits() -> None:
    upload(sent := former(evidence=WAITS))
    recorded = upload(present(sent))
    assert recorded.waiting == recorded.refiled == set(recorded.known)
    assert points() == {}
    row = WaitingRun.objects.get()
    decide_waiting(runs=[row.run.uuid], choice="kernel", by=make.user())
    assert points() == {PRESENT: {"r309257": N}}
    assert Run.objects.get().evidence["former_mode"] == FORMER


def test_first_evidence_and_another_name_come_together() -> None:
    upload(sent := former())
    recorded = upload(present(sent, kernel_revision="r303640", label_revision="r303643"))
    assert recorded.refiled == set(recorded.known)
    assert points() == {PRESENT: {"r303640": N}}
    assert Run.objects.get().evidence["former_mode"] == FORMER


def test_a_withdrawn_run_moves_and_stays_out() -> None:
    upload(sent := former())
    withdraw_run(run=Run.objects.get(), by=make.user(), reason="the fan was broken")
    upload(present(sent))
    assert Run.objects.get().mode.name == PRESENT
    assert points() == {}


def test_a_run_whose_mode_was_merged_into_another_stays_there() -> None:
    upload(sent := former())
    other = make.mode("forwarding+eight-queues")
    Run.objects.update(mode=other)
    recorded = upload(present(sent))
    assert not recorded.refiled
    assert Run.objects.get().mode == other


def test_the_direction_set_for_the_former_series_holds_on() -> None:
    upload(sent := former())
    Series.objects.update(own_better="less")
    upload(present(sent))
    assert set(Series.objects.values_list("own_better", flat=True)) == {"less"}


def test_other_content_is_a_conflict_of_that_content_alone() -> None:
    upload(sent := former())
    with pytest.raises(Conflict) as raised:
        upload(present(sent) | {"build_id": "built again"})
    assert [one.path for one in raised.value.problems] == ["runs[0].build_id"]
    assert points() == {FORMER: {"r303643": N}}


def test_replaced_under_the_present_name_it_leaves_the_former_series() -> None:
    upload(sent := former())
    upload(present(sent) | {"build_id": "built again"}, replace=True)
    assert points() == {PRESENT: {"r303643": N}}


def test_what_is_described_otherwise_and_named_otherwise_moves() -> None:
    """The digest names a position, which changes nothing that is stored."""
    upload(sent := former())
    recorded = upload(present(sent) | {"position": 303643})
    assert recorded.refiled == set(recorded.known)
    assert points() == {PRESENT: {"r303643": N}}


def test_a_batch_costs_no_more_statements_for_its_runs() -> None:
    sent = [former(revision=f"r{number}", evidence={"label": "a"}) for number in range(1, 21)]
    upload(*sent)
    counts = []
    for batch in (sent[:2], sent[2:]):
        with CaptureQueriesContext(connection) as captured:
            assert len(upload(*map(present, batch)).refiled) == len(batch)
        counts.append(len(captured))
    # One of them asks for the facts of the machines whose runs move, two are about the quota, and
    # one about their sessions.
    assert counts[1] <= counts[0] <= 38
