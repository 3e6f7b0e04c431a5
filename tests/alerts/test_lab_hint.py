"""When an alert smells of the lab, and when not."""

import pytest

from tests.alerts.steps import Place, Steps, arrive, revision_of, runs_of
from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.queries.lab_hints import LabHint, lab_hint
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Series
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
    assert str(found.hardware) == ATOM
    assert [str(row.hardware) for row in found.witnesses] == [XEON]


def test_nothing_is_said_without_other_hardware() -> None:
    arrive(runs_of(MOVED))
    assert hint() is None


def test_nothing_is_said_when_other_hardware_moved_too() -> None:
    arrive(runs_of({**MOVED, (XEON, "pf"): DROP}))
    assert hint() is None


def test_nothing_is_said_of_few_series() -> None:
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
    assert [str(row) for row in found.stayed] == [f"freebsd-head {ATOM} memcpy pps"]
    assert [str(row.hardware) for row in found.witnesses] == [XEON]


def test_a_canary_that_was_not_measured_on_both_sides_says_nothing() -> None:
    documents = runs_of({(ATOM, "pf"): DROP, (ATOM, "memcpy"): {}})
    early = [one for one in documents if revision_of(one) < 115]
    arrive([one for one in documents if one["mode"]["workload"] == "pf" or one in early])
    mark_canary(ATOM, "memcpy")
    assert hint() is None
