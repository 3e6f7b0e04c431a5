"""Which events and canaries lie between two measurements, and where events stand along a tree."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.events.steps import CALM, boots, canary, event, release
from webapp.events.models import LabEvent
from webapp.events.queries import Window, disturbances, events_along, recorded_along
from webapp.events.services import withdraw_event
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def day(number: float) -> Any:
    return make.DAY_ONE + number * DAY


def measured(name: str, *days: float, **place: Any) -> Revision:
    """A revision with a run on each of these days."""
    at = make.revision(name)
    for number in days:
        make.run(at, measured_at=day(number), received_at=day(number), **place)
    return at


def window(before: Revision, after: Revision) -> Window:
    return Window(make.hardware(), before, after, before.position, after.position)


def found(*windows: Window) -> list[LabEvent]:
    return [one.event for one in disturbances(windows) if one.event is not None]


def test_an_event_between_the_two_measurements_is_found_and_no_other() -> None:
    between = window(measured("r100", 1, 2), measured("r110", 5, 6))
    for number in (0, 1.5, 5.5, 7):
        event("outside", happened_at=day(number))
    inside = event("inside", happened_at=day(3))
    edge = event("edge", happened_at=day(5))
    assert found(between) == [inside, edge]


def test_the_order_of_measuring_need_not_be_that_of_the_tree() -> None:
    back = window(measured("r100", 9), measured("r110", 5))
    inside = event(happened_at=day(7))
    assert found(back) == [inside]


def test_what_was_measured_in_turn_is_explained_by_no_event() -> None:
    event(happened_at=day(3))
    assert found(window(measured("r100", 1, 5), measured("r110", 2, 6))) == []


def test_a_range_counts_where_it_overlaps_the_suspects() -> None:
    along = [make.revision(f"r{number}") for number in (100, 110, 120)]
    before = event("before", tree=make.tree(), first=along[0], last=along[0])
    inside = event("inside", tree=make.tree(), first=along[1], last=along[2])
    assert found(window(along[0], along[1])) == [inside]
    assert found(window(make.revision("r90"), along[0])) == [before]


def test_what_concerns_other_machines_labs_and_trees_does_not_count() -> None:
    between = window(measured("r100", 1), measured("r110", 5))
    xeon = make.hardware("Xeon/T580", of=make.lab("other"))
    event(hardware=xeon, happened_at=day(3))
    event(lab=xeon.lab, happened_at=day(3))
    event(tree=make.tree("stable-11"), happened_at=day(3))
    event(hardware=make.hardware(), tree=make.tree("stable-11"), happened_at=day(3))
    assert found(between) == []
    lab = event(lab=make.lab(), happened_at=day(3))
    tree = event(tree=make.tree(), happened_at=day(3))
    assert found(between) == [lab, tree]


def test_a_withdrawn_event_does_not_count() -> None:
    event(happened_at=day(3))
    LabEvent.objects.update(withdrawn_at=day(4), withdrawn_reason="no")
    assert found(window(measured("r100", 1), measured("r110", 5))) == []


def canaries(*windows: Window) -> list[tuple[Any, bool]]:
    return [(one.at, one.returned) for one in disturbances(windows) if one.canary is not None]


def test_a_canary_that_left_its_limits_between_is_found_with_its_day() -> None:
    boots(canary(make.revision("r1")), [*CALM, 80.0, 80.0])  # inside on day 9, out on 10 and 11
    assert canaries(window(measured("r100", 8), measured("r110", 12))) == [(day(11), False)]
    assert canaries(window(measured("r120", 9.5), measured("r130", 9.7))) == [(day(11), False)]


def test_a_canary_that_was_out_at_both_measurements_explains_nothing() -> None:
    boots(canary(make.revision("r1")), [*CALM, 80.0, 80.0, 80.0, 80.0])
    assert canaries(window(measured("r100", 10.5), measured("r110", 12))) == []
    assert canaries(window(measured("r120", 2), measured("r130", 4))) == []


def test_a_canary_that_came_back_between_is_found() -> None:
    boots(canary(make.revision("r1")), [*CALM, 80.0, 80.0, 80.0, 100.0, 100.0])
    assert canaries(window(measured("r100", 11), measured("r110", 20))) == [(day(14), True)]


def test_it_takes_four_queries_however_many_there_are() -> None:
    windows = [
        window(measured(f"r{number}", number), measured(f"r{number + 5}", number + 1))
        for number in range(10, 70, 10)
    ]
    for number in range(10, 70, 10):
        event(happened_at=day(number + 0.5))
        boots(canary(make.revision("r1"), mode=make.mode(f"m{number}")), CALM)
    with CaptureQueriesContext(connection) as captured:
        assert len(disturbances(windows)) == 6
    assert len(captured) == 4
    with CaptureQueriesContext(connection) as captured:
        assert disturbances([]) == []
    assert len(captured) == 0


def along(*revisions: Revision) -> list[tuple[str, int, int | None]]:
    rows = events_along(
        make.tree(), hardware={make.hardware().pk}, revisions={one.pk for one in revisions}
    )
    return [(one.event.text, one.after, one.until) for one in rows]


def test_along_a_tree_an_event_stands_after_what_was_measured_before_it() -> None:
    shown = [measured("r100", 1), measured("r110", 5), measured("r120", 9)]
    event("before all", happened_at=day(0))
    event("after all", happened_at=day(20))
    event("first gap", happened_at=day(3))
    event("last gap", happened_at=day(7))
    event("a range", tree=make.tree(), first=shown[1], last=shown[2])
    assert along(*shown) == [
        ("first gap", 100, None),
        ("a range", 109, 120),
        ("last gap", 110, None),
    ]


def test_along_a_tree_other_machines_do_not_count() -> None:
    shown = [measured("r100", 1), measured("r110", 5)]
    xeon = make.hardware("Xeon/T580", of=make.lab("other"))
    event("theirs", hardware=xeon, happened_at=day(3))
    event("their lab's", lab=xeon.lab, happened_at=day(3))
    event("ours", lab=make.lab(), happened_at=day(3))
    event("another tree's", tree=make.tree("stable-11"), happened_at=day(3))
    assert [text for text, _, _ in along(*shown)] == ["ours"]
    (placed,) = events_along(
        make.tree(), hardware={make.hardware().pk}, revisions={one.pk for one in shown}
    )
    assert (placed.subject, placed.when) == ("all hardware of orange-lab", "2026-01-04")


def test_along_a_tree_it_takes_one_query() -> None:
    shown = [measured(f"r{number}", number) for number in range(10, 20)]
    for number in range(10, 19):
        event(happened_at=day(number + 0.5))
    with CaptureQueriesContext(connection) as captured:
        assert len(along(*shown)) == 9
    assert len([one for one in captured if "events_labevent" in one["sql"]]) == 1


def test_recorded_along_a_tree_are_its_releases_there_and_whether_there_are_events() -> None:
    first, last = make.revision("r100"), make.revision("r200")
    release("11.1", make.revision("r201"))
    assert recorded_along(first.tree, first.position, last.position) == ([], False)
    release("11.0", last)
    release("11.0-branch", first, kind="branch point")
    lifted = event("lifted")
    with CaptureQueriesContext(connection) as captured:
        releases, has_events = recorded_along(first.tree, first.position, last.position)
    assert [one.name for one in releases] == ["11.0", "11.0-branch"]
    assert [one.revision.name for one in releases] == ["r200", "r100"]
    assert releases[1].get_kind_display() == "branch point"
    assert has_events
    assert len(captured) == 1
    withdraw_event(event=lifted.pk, actor=make.user(), reason="It stayed.")
    assert not recorded_along(first.tree, first.position, last.position)[1]
