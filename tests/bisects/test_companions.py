"""What a bisect takes from the boots that it measures beside its own series."""

from typing import Any

import numpy as np
import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.analysis.models import SeriesSettings
from webapp.bisects import services
from webapp.bisects.deciding import replay
from webapp.bisects.models import Bisect
from webapp.bisects.view import view_of
from webapp.results.models import Series
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db

OTHER = "ipfw"
plain = lab.document


@pytest.fixture
def with_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has a loop of memcpy beside it, which feels what the machine does."""
    noise = np.random.default_rng(5)

    def document(truth: Truth, index: int, **fields: Any) -> Any:
        sent = plain(truth, index, **fields)
        moved = 1 + truth.drift_pct / 100 * truth.answered
        boots = sent["metrics"]["pps"]["boots"]
        values = (2_000.0 * moved * np.exp(noise.normal(0, 0.002, len(boots)))).tolist()
        copied = {"unit": "MB/s", "better": "more", "samples": values, "boots": boots}
        return sent | {"metrics": sent["metrics"] | {"memcpy": copied}}

    monkeypatch.setattr(lab, "document", document)


def pps() -> Series:
    return Series.objects.named().get(mode__name=lab.MODE, metric__name="pps")


def started(truth: Truth, *, marked: bool = True) -> Bisect:
    forget_names()
    lab.upload(lab.documents(truth, range(-8, 1)))
    lab.upload(lab.documents(truth, range(truth.count, truth.count + 8)))
    for index in range(1, truth.count):
        make.revision(lab.name(index), of=make.tree())
    if marked:
        SeriesSettings.objects.create(
            series=Series.objects.get(metric__name="memcpy"), is_canary=True
        )
    draft = services.draft_bisect(
        series=pps(),
        good=lab.revision(0),
        bad=lab.revision(truth.count),
        effect_pct=truth.step_pct,
        most_boots=60,
    )
    return services.start_bisect(draft=draft, created_by=make.user("ada"))


@pytest.mark.long
def test_the_canary_of_the_same_runs_shows_a_drift_and_every_decision_can_be_made_again(
    with_canary: None,
) -> None:
    truth = Truth(drift_pct=-0.15)

    bisect = lab.work(truth, started(truth))

    [companion] = bisect.companions
    assert companion["name"] == "pf memcpy"
    assert companion["can_step"] is False
    assert companion["sd"] == pytest.approx(0.2, rel=0.3)
    view = view_of(bisect)
    fresh = [row for row in view.boots if row.purpose != "history"]
    assert fresh
    assert all(len(row.beside) == 1 for row in fresh)
    assert bisect.culprit in (None, lab.revision(truth.first_bad)), view.sentence
    assert view.figures["lab"]["drifts"] + view.figures["lab"]["steps"] > 0.9
    assert "and by pf memcpy in the same boots" in view.lab_sentence
    again = replay(bisect, [revision.name for revision in view.revisions])
    assert [row.text for row in again] == [row.text for row in bisect.decisions.all()]


def test_what_the_machine_lost_is_added_to_a_boot(with_canary: None) -> None:
    view = view_of(started(Truth()))
    row = view.boots[0]
    vars(view)["lab_shifts"] = {row.number: -20.0}
    dot = view.dot_of(row)
    assert dot.steady == pytest.approx(1.25 * dot.value)


def test_a_metric_of_the_same_run_that_is_no_canary_is_no_companion(with_canary: None) -> None:
    assert started(Truth(), marked=False).companions == []


def test_another_mode_of_the_same_session_is_a_companion_that_commits_may_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def document(truth: Truth, index: int, **fields: Any) -> Any:
        session = {"session": f"measured {lab.name(index)}"}
        return plain(truth, index, **fields) | {"evidence": session}

    monkeypatch.setattr(lab, "document", document)
    truth, other = Truth(), Truth(seed=8)
    mode: dict[str, Any] = {"mode": {"workload": OTHER, "traffic": None, "options": []}}
    lab.upload([document(other, index, boots=5) | mode for index in range(-8, 1)])

    bisect = started(truth, marked=False)

    assert [(one["name"], one["can_step"]) for one in bisect.companions] == [("ipfw pps", True)]
    rows = list(bisect.boots.all())
    assert sum(bool(row.beside) for row in rows) == 9 * 5


def test_without_anything_beside_it_a_bisect_has_no_companion() -> None:
    truth = Truth()

    bisect = lab.start(truth)

    assert bisect.companions == []
    assert all(row.beside == [] for row in bisect.boots.all())
