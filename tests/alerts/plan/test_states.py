"""The state of an alert as the system sees it, beside what people decided; without a database."""

from typing import Any, get_args

import pytest

from tests.alerts.plan.known import alert, finding
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.plan import Draft, conclude, retire, settle
from webapp.alerts.plan.changes import (
    KnownAlert,
    MarkHistory,
    News,
    PlannedChange,
    Retire,
    Settle,
    Stand,
    State,
)
from webapp.alerts.services.writing import ACTS


def settled(there: KnownAlert, **facts: Any) -> list[PlannedChange]:
    """What follows for an alert from one finding that backs it."""
    draft = Draft([there])
    (conclusion,) = conclude([finding(1, 10, 12, **facts)], received={}, anchors={})
    settle(draft, there.number, conclusion)
    return draft.changes


def closed(resolution: str, **fields: Any) -> KnownAlert:
    return alert(1, 10, 12, state="resolved", resolution=resolution, **fields)


def test_its_words_are_those_of_the_rows() -> None:
    assert set(get_args(State)) == set(Alert.State.values)
    assert set(get_args(News)) <= set(AlertEvent.Kind.values)


def test_every_change_that_can_be_planned_can_be_written() -> None:
    assert set(get_args(PlannedChange)) == set(ACTS)


@pytest.mark.parametrize(
    ("was", "facts", "becomes"),
    [
        ("new", {}, None),
        ("new", {"is_recovered": True}, Settle(1, "recovered", "recovered")),
        ("recovered", {}, Settle(1, "returned", "new")),
        ("recovered", {"is_recovered": True}, None),
        ("snoozed", {}, Settle(1, "woke", "new")),
    ],
)
def test_what_nobody_triaged_rests_where_its_findings_do(
    was: State, facts: dict[str, Any], becomes: Settle | None
) -> None:
    assert settled(alert(1, 10, 12, state=was), **facts) == ([] if becomes is None else [becomes])


@pytest.mark.parametrize("was", ["new", "acknowledged", "investigating", "reopened"])
def test_a_recovery_is_news_to_what_people_work_on(was: State) -> None:
    there = alert(1, 10, 12, state=was, triaged=True)
    assert settled(there, is_recovered=True) == [Settle(1, "recovered", "recovered")]
    assert settled(there) == []


@pytest.mark.parametrize("was", ["snoozed", "resolved"])
def test_a_recovery_is_no_news_to_what_people_put_away(was: State) -> None:
    resolution = "expected" if was == "resolved" else ""
    there = alert(1, 10, 12, state=was, triaged=True, resolution=resolution)
    assert settled(there, is_recovered=True) == []


def test_the_end_of_a_recovery_reopens_what_somebody_triaged() -> None:
    there = alert(1, 10, 12, state="recovered", triaged=True)
    assert settled(there) == [Settle(1, "returned", "reopened")]


def test_what_turns_out_to_be_history_falls_asleep_and_wakes() -> None:
    there = alert(1, 10, 12)
    assert settled(there, is_history=True) == [
        MarkHistory(1, True, is_event=False),
        Settle(1, "snoozed", "snoozed"),
    ]
    asleep = alert(1, 10, 12, state="snoozed", history=True)
    assert settled(asleep) == [MarkHistory(1, False, is_event=False), Settle(1, "woke", "new")]


def test_history_moves_nothing_that_somebody_triaged_but_is_noted() -> None:
    there = alert(1, 10, 12, state="acknowledged", triaged=True)
    assert settled(there, is_history=True) == [MarkHistory(1, True, is_event=True)]


def test_what_somebody_was_written_to_about_is_no_history() -> None:
    assert settled(alert(1, 10, 12, mailed=True), is_history=True) == []


@pytest.mark.parametrize("resolution", ["retracted", "duplicate"])
def test_what_the_system_closed_stands_again_with_its_findings(resolution: str) -> None:
    assert settled(closed(resolution, is_active=False)) == [Stand(1, "new")]
    assert settled(closed(resolution, is_active=False, triaged=True)) == [Stand(1, "reopened")]


def test_what_a_person_closed_stays_closed_when_findings_are_back() -> None:
    assert settled(closed("expected", is_active=False, triaged=True)) == [Stand(1, None)]


@pytest.mark.parametrize(
    ("facts", "becomes"), [({"is_recovered": True}, []), ({}, [Settle(1, "returned", "new")])]
)
def test_what_closed_after_quiet_days_stays_so_while_it_is_recovered(
    facts: dict[str, Any], becomes: list[Settle]
) -> None:
    assert settled(closed("fixed"), **facts) == becomes


def test_one_that_stands_again_recovered_has_both_events() -> None:
    assert settled(closed("retracted", is_active=False), is_recovered=True) == [
        Stand(1, "new"),
        Settle(1, "recovered", "recovered"),
    ]


@pytest.mark.parametrize("heir", [None, 2])
def test_retiring_closes_what_is_open_and_leaves_a_resolution(heir: int | None) -> None:
    for there, is_closed in ((alert(1, 10, 12), True), (closed("expected"), False)):
        draft = Draft([there])
        retire(draft, 1, heir)
        assert draft.changes == [Retire(1, heir, is_closed=is_closed)]
        assert not draft.alerts[1].is_active
    word = "retracted" if heir is None else "duplicate"
    after = Retire(1, heir, is_closed=True).on(alert(1, 10, 12))
    assert (after.state, after.resolution, after.duplicate_of) == ("resolved", word, heir)
    assert Retire(1, heir, is_closed=False).on(closed("expected")).resolution == "expected"
