"""What an epoch means: nothing is compared across its beginning, and everything is within it."""

from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.alerts.steps import Steps, arrive, open_alerts, revision_of, runs_of
from tests.results.steps import analyse
from webapp.analysis.models import Checkpoint, Finding, SeriesAnalysis
from webapp.events.models import LabEvent
from webapp.events.queries import epochs_of
from webapp.events.services import EventFields, edit_event, record_event, withdraw_event
from webapp.launcher.management.commands.digest import digest
from webapp.results.models import Hardware, Revision, Run, Series, Tree
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
DAY = timedelta(days=1)
STEP: Steps = {15: 0.9}


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def day(number: float) -> datetime:
    return make.DAY_ONE + number * DAY


def dated(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same, a day for each revision from r100 on."""
    for one in documents:
        one["measured_at"] = day(revision_of(one) - 100).isoformat()
    return documents


def epoch(**fields: Any) -> LabEvent:
    """One that begins on the machine in the night before r115, unless ``fields`` differ."""
    if "hardware" not in fields:
        fields["hardware"] = Hardware.objects.get(name=ATOM)
    if "first" not in fields:
        fields.setdefault("happened_at", day(14.5))
    given = EventFields(kind="hardware", text="another NIC", begins_epoch=True, **fields)
    return record_event(fields=given, source="person")[0]


def at(name: str) -> Revision:
    return Revision.objects.get(name=name)


def found() -> list[str]:
    rows = Finding.objects.live().order_by("series", "position").select_related("revision")
    return [f"{row.revision} {row.state}" for row in rows]


def starts(hardware: str = ATOM) -> list[int]:
    return SeriesAnalysis.objects.get(series__hardware__name=hardware).epochs


def compared() -> set[str]:
    return {row.revision for row in make.compared()}


def test_a_step_at_the_beginning_of_an_epoch_is_no_finding() -> None:
    arrive(dated(runs_of({(ATOM, "pf"): STEP})))
    assert found() == ["r115 confirmed"]
    assert len(open_alerts()) == 1
    epoch()
    analyse()
    assert starts() == [115]
    assert found() == []
    assert open_alerts() == []
    assert "r115" not in compared()
    assert {"r114", "r116"} <= compared()


def test_steps_within_epochs_are_found_on_both_sides() -> None:
    arrive(dated(runs_of({(ATOM, "pf"): {8: 0.9, 20: 0.9, 30: 0.9}}, count=40)))
    epoch(happened_at=day(19.5))
    analyse()
    assert found() == ["r108 confirmed", "r130 confirmed"]
    segments = SeriesAnalysis.objects.get().summary["segments"]
    edges = [(one["first"]["label"], one["last"]["label"]) for one in segments]
    assert edges == [("r100", "r107"), ("r108", "r119"), ("r120", "r129"), ("r130", "r139")]


def test_no_change_of_a_later_epoch_takes_one_of_an_earlier_one_back() -> None:
    steps: Steps = {8: 0.9, 20: 0.9, 30: 1 / 0.81}
    arrive(dated(runs_of({(ATOM, "pf"): steps}, count=40)))
    assert "r108 recovered" in found()
    epoch(happened_at=day(19.5))
    analyse()
    assert found() == ["r108 confirmed", "r130 confirmed"]


def test_other_machines_and_trees_go_on() -> None:
    arrive(dated(runs_of({(ATOM, "pf"): STEP, (XEON, "pf"): STEP})))
    epoch()
    analyse()
    assert found() == ["r115 confirmed"]
    assert starts(XEON) == []
    epoch(hardware=None, tree=Tree.objects.get())
    analyse()
    assert found() == []


def test_an_epoch_may_begin_at_a_revision() -> None:
    arrive(runs_of({(ATOM, "pf"): STEP}))
    epoch(tree=Tree.objects.get(), first=at("r115"), last=at("r115"))
    analyse()
    assert (starts(), found()) == ([115], [])


def test_withdrawing_it_or_moving_it_brings_the_finding_back() -> None:
    arrive(dated(runs_of({(ATOM, "pf"): STEP})))
    made = epoch()
    analyse()
    moved = EventFields(
        kind="hardware",
        text="another NIC",
        hardware=made.hardware,
        happened_at=day(25.5),
        begins_epoch=True,
    )
    edit_event(event=made.pk, fields=moved, actor=make.user("tess"))
    analyse()
    assert (starts(), found()) == ([126], ["r115 confirmed"])
    withdraw_event(event=made.pk, actor=make.user("bob"), reason="another machine")
    analyse()
    assert (starts(), found()) == ([], ["r115 confirmed"])
    assert "r126" in compared()


def test_what_was_measured_later_at_earlier_revisions_belongs_to_neither_side() -> None:
    """After the change, r105 is measured again: its new samples are of another machine."""
    documents = dated(runs_of({(ATOM, "pf"): STEP}))
    arrive(documents)
    epoch()
    again = dated(runs_of({(ATOM, "pf"): {0: 0.9}}, count=1, first=105, seed=9))
    again[0]["measured_at"] = day(20.5).isoformat()
    arrive(again)
    assert (starts(), found()) == ([115], [])
    assert "r105" not in compared()
    (known,) = epochs_of(list(Series.objects.select_related("hardware"))).values()
    assert set(known.late) == {105}


def test_a_late_upload_may_move_the_beginning_and_all_is_analysed_anew() -> None:
    documents = dated(runs_of({(ATOM, "pf"): STEP}))
    late = next(one for one in documents if one["revision"] == "r118")
    arrive([one for one in documents if one is not late])
    epoch()
    analyse()
    assert starts() == [115]
    late["measured_at"] = day(14.2).isoformat()
    arrive([late])
    assert starts() == [119]
    assert not {"r115", "r116", "r117", "r119"} & compared()


def test_runs_whose_time_is_not_known_count_where_their_revision_lies() -> None:
    documents = dated(runs_of({(ATOM, "pf"): STEP}))
    for one in documents:
        if revision_of(one) in (105, 120):
            one["measured_at"] = None
    arrive(documents)
    epoch()
    analyse()
    assert (starts(), found()) == ([115], [])
    assert {"r105", "r120"} <= compared()


@pytest.mark.parametrize("number", [-1.0, 99.0])
def test_an_event_before_or_after_everything_begins_no_epoch(number: float) -> None:
    arrive(dated(runs_of({(ATOM, "pf"): STEP})))
    epoch(happened_at=day(number))
    analyse()
    assert (starts(), found()) == ([], ["r115 confirmed"])


def conclusions() -> list[str]:
    """What is concluded, hashed: the parts of the digest that follow from runs and events."""
    parts = ("points", "comparisons", "analyses", "findings", "alerts")
    return [str(line) for line in digest() if line.name in parts]


def test_point_by_point_and_at_once_come_to_the_same() -> None:
    """Several checkpoints in each epoch, points that come late into an epoch that is over."""
    steps: Steps = {8: 0.9, 20: 0.9, 30: 0.9}
    documents = dated(runs_of({(ATOM, "pf"): steps}, count=40))
    with patch("webapp.analysis.services.checkpoints.CHECKPOINT_EVERY", 4):
        arrive(documents[:1])
        epoch(happened_at=day(19.5))
        held_back = [documents[5], documents[19], documents[20]]
        for one in documents[1:]:
            if one not in held_back:
                arrive([one])
        for one in held_back:
            arrive([one])
        piecewise = conclusions()
        begin = Revision.objects.get(name="r120").position
        ends = Checkpoint.objects.values_list("position", flat=True)
        assert min(sum(at < begin for at in ends), sum(at >= begin for at in ends)) >= 3
    Series.objects.update(dirty_from=0, dirty_since=make.DAY_ONE)
    analyse()
    assert conclusions() == piecewise
    assert found() == ["r108 confirmed", "r130 confirmed"]


def test_an_epoch_that_ends_at_a_state_without_its_revisions_has_them_from_then_on() -> None:
    documents = dated(runs_of({(ATOM, "pf"): {8: 0.9, 36: 0.9}}, count=46))
    with patch("webapp.analysis.services.checkpoints.CHECKPOINT_EVERY", 4):
        arrive(documents[:-1])
        epoch(tree=Tree.objects.get(), first=at("r131"), last=at("r131"))
        analyse()
        assert Checkpoint.objects.filter(length=16, rows__isnull=True).exists()
        for run in Run.objects.filter(measured_at__range=(day(15.5), day(30.5))):
            withdraw_run(run=run, by=None, reason="wrong kernel")
        analyse()
        assert Checkpoint.objects.filter(length=16, rows__isnull=False).exists()
        arrive(documents[-1:])
        resumed = conclusions()
    Checkpoint.objects.all().delete()
    Series.objects.update(dirty_from=0, dirty_since=make.DAY_ONE)
    analyse()
    assert conclusions() == resumed


def test_a_young_epoch_states_again_that_too_little_is_known() -> None:
    arrive(dated(runs_of({(ATOM, "pf"): {}}, count=20)))
    epoch(happened_at=day(16.5))
    analyse()
    summary = SeriesAnalysis.objects.get().summary
    assert (summary["count"], summary["newest"]) == (3, None)
    assert "too few revisions" in summary["why_not"]


def test_the_beginnings_take_two_queries_and_one_where_there_are_none() -> None:
    arrive(dated(runs_of({(ATOM, f"mode-{number}"): STEP for number in range(4)})))
    series = list(Series.objects.select_related("hardware"))
    with CaptureQueriesContext(connection) as captured:
        assert epochs_of(series) == {}
    assert len(captured) == 1
    for number in (14.5, 20.5, 25.5):
        epoch(happened_at=day(number))
    with CaptureQueriesContext(connection) as captured:
        assert len(epochs_of(series)) == 4
    assert len(captured) == 2
