"""When an alert smells of the lab, and when not."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from tests.alerts.steps import Place, Steps, arrive, revision_of, runs_of
from tests.make import DAY_ONE
from tests.pages.conftest import words
from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.queries.suspicion import LabHint, lab_hint
from webapp.analysis.models import SeriesSettings
from webapp.events.models import Canary
from webapp.events.services import EventFields, record_event
from webapp.results.models import Hardware, Revision, Series, Tree
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
DROP: Steps = {15: 0.9}
MOVED: dict[Place, Steps] = {(ATOM, mode): DROP for mode in ("pf", "ipfw", "forwarding")}


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def hint() -> LabHint | None:
    alert = Alert.objects.get()
    return lab_hint(alert, list(findings_of([alert]).with_subjects()))


def test_many_series_of_one_hardware_moved_and_another_hardware_stayed() -> None:
    arrive(runs_of({**MOVED, (XEON, "pf"): {}}))
    found = hint()
    assert found is not None
    assert found.hardware.name == ATOM
    assert [row.hardware.name for row in found.witnesses] == [XEON]


def test_no_hint_is_given_without_other_hardware() -> None:
    arrive(runs_of(MOVED))
    assert hint() is None


def test_no_hint_is_given_when_other_hardware_moved_too() -> None:
    arrive(runs_of({**MOVED, (XEON, "pf"): DROP}))
    assert hint() is None


def test_no_hint_is_given_of_few_series() -> None:
    arrive(runs_of({(ATOM, "pf"): DROP, (ATOM, "ipfw"): DROP, (XEON, "pf"): {}}))
    assert hint() is None


def test_other_hardware_that_measured_one_side_only_is_no_witness() -> None:
    documents = runs_of({**MOVED, (XEON, "pf"): {}})
    arrive([one for one in documents if one["hardware"] == ATOM or revision_of(one) < 115])
    assert hint() is None


def test_another_mode_is_no_witness() -> None:
    arrive(runs_of({**MOVED, (XEON, "routing"): {}}))
    assert hint() is None


def test_a_series_too_noisy_to_show_such_a_change_is_no_witness() -> None:
    documents = runs_of({**MOVED, (XEON, "pf"): {}})
    for i, one in enumerate(one for one in documents if one["hardware"] == XEON):
        pps = one["metrics"]["pps"]
        pps["samples"] = [sample * (1.3 if i % 2 else 0.8) for sample in pps["samples"]]
    arrive(documents)
    assert hint() is None


def mark_canary(hardware: str, mode: str) -> None:
    series = Series.objects.get(hardware__name=hardware, mode__name=mode)
    SeriesSettings.objects.create(series=series, is_canary=True)


def test_a_canary_that_moved_at_the_same_commits_names_the_lab_even_alone() -> None:
    arrive(runs_of({(ATOM, "memcpy"): DROP, (ATOM, "pf"): DROP, (XEON, "pf"): DROP}))
    mark_canary(ATOM, "memcpy")
    found = hint()
    assert found is not None
    assert found.smells
    assert [str(row.mode) for row in found.moved] == ["memcpy"]
    assert not found.stayed


def test_a_canary_that_stayed_speaks_against_the_lab() -> None:
    arrive(runs_of({**MOVED, (ATOM, "memcpy"): {}, (XEON, "pf"): {}, (XEON, "memcpy"): {}}))
    mark_canary(ATOM, "memcpy")
    mark_canary(XEON, "memcpy")
    found = hint()
    assert found is not None
    assert [str(row) for row in found.stayed] == ["freebsd-head Atom T540 memcpy pps"]
    assert [row.hardware.name for row in found.witnesses] == [XEON]


def measured_on_days(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same, a day for each revision."""
    for one in documents:
        one["measured_at"] = DAY_ONE + timedelta(days=revision_of(one) - 100)
        one["measured_at"] = one["measured_at"].isoformat()
    return documents


def recorded(**fields: Any) -> None:
    """An event of the machine in the fifteenth night, when the step is between two days."""
    when = {} if "first" in fields else {"happened_at": DAY_ONE + timedelta(days=14, hours=12)}
    given = EventFields(
        kind="firmware", text="BIOS 2.1", **{"hardware": machine(), **when, **fields}
    )
    record_event(fields=given, source="person")


def machine() -> Hardware:
    return Hardware.objects.get(name=ATOM)


def test_an_event_between_the_measurements_on_either_side_is_named() -> None:
    arrive(measured_on_days(runs_of({(ATOM, "pf"): DROP})))
    assert hint() is None
    recorded(happened_at=DAY_ONE + timedelta(days=3))
    assert hint() is None
    recorded()
    found = hint()
    assert found is not None
    assert found.smells
    assert [one.event.text for one in found.disturbances if one.event] == ["BIOS 2.1"]


def test_an_event_whose_range_holds_the_suspects_is_named() -> None:
    arrive(runs_of({(ATOM, "pf"): DROP}))
    tree = Tree.objects.get()
    at = {number: Revision.objects.get(name=f"r{number}") for number in (100, 110, 115, 120)}
    recorded(tree=tree, first=at[100], last=at[110])
    assert hint() is None
    recorded(tree=tree, first=at[115], last=at[120])
    assert hint() is not None


def test_a_canary_kernel_that_left_its_limits_between_them_is_named_with_its_day() -> None:
    kernel = {(ATOM, "memcpy"): {}}
    boots = runs_of(kernel, count=30)
    for day, one in enumerate(boots):
        value = 100.0 + day % 3 - (20 if day >= 15 else 0)
        one["revision"] = "r7"
        one["metrics"]["pps"] |= {"samples": [value], "boots": [0]}
        one["measured_at"] = (DAY_ONE + timedelta(days=day, hours=-2)).isoformat()
    arrive(measured_on_days(runs_of({(ATOM, "pf"): DROP})))
    arrive(boots)
    series = Series.objects.get(mode__name="memcpy")
    Canary.objects.create(
        hardware=machine(),
        mode=series.mode,
        metric=series.metric,
        revision=Revision.objects.get(name="r7"),
    )
    found = hint()
    assert found is not None
    (one,) = found.disturbances
    assert one.canary is not None
    assert (one.at, one.returned) == (DAY_ONE + timedelta(days=16, hours=-2), False)


def test_the_page_of_the_alert_states_it_in_plain_words(client: Client) -> None:
    arrive(measured_on_days(runs_of({(ATOM, "pf"): DROP})))
    recorded()
    page = client.get(Alert.objects.get().get_absolute_url()).content.decode()
    text = words(page)
    assert (
        "lab? An event nearby: BIOS 2.1 (BIOS or firmware, Atom T540, 2026-01-16 00:00 UTC)."
        in text
    )


def test_a_canary_that_was_not_measured_on_both_sides_is_no_evidence() -> None:
    documents = runs_of({(ATOM, "pf"): DROP, (ATOM, "memcpy"): {}})
    early = [one for one in documents if revision_of(one) < 115]
    arrive([one for one in documents if one["mode"]["workload"] == "pf" or one in early])
    mark_canary(ATOM, "memcpy")
    assert hint() is None
