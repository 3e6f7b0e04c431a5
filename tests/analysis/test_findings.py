"""From points to findings: the detector behind the database."""

import json
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import run_document
from webapp.alerts.queries.findings import of_interest
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis import services
from webapp.analysis.models import (
    Checkpoint,
    Finding,
    FindingEvent,
    SeriesAnalysis,
    SeriesSettings,
)
from webapp.analysis.services import checkpoints
from webapp.api.schemas.runs import RunIn
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Run, Series
from webapp.results.services import restore_run, withdraw_run
from webapp.stats import changes
from webapp.stats.changes import window

pytestmark = pytest.mark.django_db
STEP_AT = 15
LEVEL = 1_000_000.0


@pytest.fixture
def agent(db: None) -> Agent:
    return labs.create_agent(name="control", lab_name="netlab")


def step_series(count: int = 30, step: float = 0.9, seed: int = 1) -> list[dict[str, Any]]:
    """Runs of ``count`` revisions with a step at the one numbered ``STEP_AT``."""
    generator = np.random.default_rng(seed)
    documents = []
    for i in range(count):
        level = LEVEL * (step if i >= STEP_AT else 1) * np.exp(generator.normal(0, 0.005))
        samples = (level * np.exp(generator.normal(0, 0.005, 5))).tolist()
        documents.append(run_document(uuid=str(uuid4()), revision=f"r{100 + i}", samples=samples))
    return documents


def dip_series(count: int = 40, back_at: int = 25) -> list[dict[str, Any]]:
    """``step_series`` that comes back at the revision numbered ``back_at``."""
    documents = step_series(count=count)
    for document in documents[back_at:]:
        pps = document["metrics"]["pps"]
        pps["samples"] = [sample / 0.9 for sample in pps["samples"]]
    return documents


def counted_series(unit: str, *counts: int) -> list[dict[str, Any]]:
    """Runs of revisions with a count each, five times, in ``unit``."""
    documents = []
    for i, count in enumerate(counts):
        metric = {"unit": unit, "better": "less", "samples": [float(count)] * 5}
        documents.append(
            run_document(uuid=str(uuid4()), revision=f"r{100 + i}", metrics={"lost": metric})
        )
    return documents


def recorded() -> list[tuple[str, str]]:
    """The events of all findings, in the order they were added."""
    rows = FindingEvent.objects.select_related("revision").order_by("pk")
    return [(row.revision.name, row.kind) for row in rows]


def store_runs(agent: Agent, *documents: dict[str, Any]) -> None:
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=agent, runs=runs, register=True)


def analyse() -> None:
    while analyse_dirty_series().finished:
        pass


def present() -> list[dict[str, Any]]:
    """The live findings without what records their history."""
    history = {"id", "first_detected_at", "updated_at", "series_id"}
    rows = Finding.objects.live().order_by("series_id", "position").values()
    return [{name: row[name] for name in row if name not in history} for row in rows]


def named(rows: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    return [(row["position"], row["verdict"], row["state"]) for row in rows]


def test_a_step_is_found_at_its_revision_and_flagged_there(agent: Agent) -> None:
    store_runs(agent, *step_series())
    analyse()
    finding = Finding.objects.get()
    assert (finding.revision.name, finding.state, finding.verdict) == (
        f"r{100 + STEP_AT}",
        "confirmed",
        "worse",
    )
    assert finding.previous.name == f"r{100 + STEP_AT - 1}"
    assert finding.low_pct is not None
    assert finding.high_pct is not None
    assert finding.low_pct < -10 < finding.high_pct
    assert finding.why.startswith("Confirmed: ")
    flagged = [row for row in make.compared() if row.flag]
    assert [row.revision for row in flagged] == [finding.revision.name]


@pytest.mark.parametrize("unit", ["segments", "allocs/op", "%"])
def test_a_count_that_was_zero_and_is_no_more_is_found(agent: Agent, unit: str) -> None:
    store_runs(agent, *counted_series(unit, *[0] * STEP_AT, *[200, 190, 210] * 5))
    analyse()
    finding = Finding.objects.get()
    assert (finding.revision.name, finding.verdict) == (f"r{100 + STEP_AT}", "worse")
    assert finding.level_before == pytest.approx(0.01 if unit == "%" else 1)


def test_a_time_of_zero_is_a_measurement_that_failed(agent: Agent) -> None:
    store_runs(agent, *counted_series("ms", *[0] * STEP_AT, *[200, 190, 210] * 5))
    analyse()
    assert not Finding.objects.exists()
    summary = SeriesAnalysis.objects.get().summary
    assert summary["left_out"] == [f"r{100 + i}" for i in range(STEP_AT)]


def test_the_findings_are_those_of_the_pure_function(agent: Agent) -> None:
    documents = step_series()
    store_runs(agent, *documents)
    analyse()
    points = [
        changes.Point(
            position=int(document["revision"][1:]),
            label=document["revision"],
            samples=document["metrics"]["pps"]["samples"],
            boots=list(range(5)),
            builds=["x"] * 5,
        )
        for document in documents
    ]
    pure = changes.detect(points).analysis
    stored = Finding.objects.live()
    assert [(row.position, row.score, row.here) for row in stored] == [
        (change.revision.position, change.score, change.here) for change in pure.changes
    ]


def test_the_first_agreeing_revision_is_a_candidate_and_the_second_confirms(agent: Agent) -> None:
    documents = step_series()
    states = []
    for document in documents[: STEP_AT + 3]:
        store_runs(agent, document)
        analyse()
        states.append([row.state for row in Finding.objects.live()])
    assert states[STEP_AT - 1] == []
    assert states[STEP_AT] == ["candidate"]
    assert states[STEP_AT + 2] == ["confirmed"]
    finding = Finding.objects.get()
    assert finding.first_detected_at < finding.updated_at


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_present_findings_do_not_depend_on_the_order_of_arrival(agent: Agent, seed: int) -> None:
    documents = step_series(count=90)
    store_runs(agent, *documents)
    analyse()
    whole = present()
    Run.objects.all().delete()
    Finding.objects.all().delete()
    Series.objects.all().delete()
    shuffled = random.Random(seed).sample(documents, len(documents))
    for start in range(0, len(shuffled), 9):
        store_runs(agent, *shuffled[start : start + 9])
        analyse()
    assert named(present()) == named(whole)
    assert [{**row, "why": ""} for row in present()] == [{**row, "why": ""} for row in whole]


def lengths() -> list[int]:
    """After how many points there are checkpoints."""
    return list(Checkpoint.objects.order_by("length").values_list("length", flat=True))


def test_checkpoints_lie_close_at_the_end_only_and_where_does_not_depend_on_pieces(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_EVERY", 4)
    documents = step_series(count=68)
    for start in range(0, len(documents), 5):
        store_runs(agent, *documents[start : start + 5])
        analyse()
    piecewise, whole_at_last = lengths(), [32, 48, 56, 60, 64, 68]
    assert piecewise == whole_at_last
    Series.objects.update(dirty_from=0, dirty_since="2026-01-01T00:00:00Z")
    analyse()
    assert lengths() == piecewise


def test_the_first_revisions_are_read_together_however_many_failed(agent: Agent) -> None:
    """Pairs of builds are looked for in the first nine that were measured, once."""
    documents = step_series(count=34)
    for document in documents[:8]:
        document["metrics"]["pps"]["samples"] = [0.0] * 5
    store_runs(agent, *documents)
    analyse()
    assert lengths() == [32]


def test_a_late_point_goes_on_from_the_checkpoint_before_it(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_EVERY", 4)
    documents = step_series(count=41)
    late = documents.pop(20)
    store_runs(agent, *documents)
    analyse()
    assert lengths() == [16, 24, 32, 36, 40]
    before = Checkpoint.objects.get(length=16)
    store_runs(agent, late)
    analyse()
    assert lengths() == [16, 24, 32, 36, 40]
    kept = {row.length: row for row in Checkpoint.objects.all()}
    assert kept[16].pk == before.pk
    assert [kept[length].position for length in (24, 40)] == [100 + 23, 100 + 39]
    fresh = present()
    Series.objects.update(dirty_from=0, dirty_since="2026-01-01T00:00:00Z")
    analyse()
    assert present() == fresh


def states() -> list[tuple[Any, ...]]:
    """What is stored of each state, the shortest first."""
    found = Checkpoint.objects.order_by("length")
    return list(found.values_list("length", "position", "state", "rows"))


def test_only_the_newest_states_keep_their_revisions_and_from_others_these_are_read_again(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_EVERY", 4)
    for name, number in {"KEPT": 16, "BLOCK": 8, "GUARD": 4}.items():
        monkeypatch.setattr(window, name, number)
    documents = step_series(count=53)
    documents[30]["metrics"]["pps"]["samples"] = [0.0] * 5
    late = documents.pop(33)
    for start in range(0, len(documents), 5):
        store_runs(agent, *documents[start : start + 5])
        analyse()
    has_rows = {length: rows is not None for length, _, _, rows in states()}
    assert has_rows == {32: False, 40: False, 44: False, 48: True, 52: True}
    store_runs(agent, late)
    analyse()
    resumed = states()
    Checkpoint.objects.all().delete()
    Series.objects.update(dirty_from=0, dirty_since="2026-01-01T00:00:00Z")
    analyse()
    assert states() == resumed


def test_a_withdrawn_run_takes_its_finding_along_and_brings_it_back(agent: Agent) -> None:
    documents = step_series(count=STEP_AT + 2)
    store_runs(agent, *documents)
    analyse()
    assert named(present()) == [(100 + STEP_AT, "worse", "confirmed")]
    runs = list(Run.objects.filter(revision__position__gte=100 + STEP_AT))
    for run in runs:
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    assert present() == []
    assert Finding.objects.get().state == Finding.State.RETRACTED
    for run in runs:
        restore_run(run=run)
    analyse()
    assert named(present()) == [(100 + STEP_AT, "worse", "confirmed")]


def test_analysing_again_writes_nothing_new(agent: Agent) -> None:
    store_runs(agent, *step_series())
    analyse()
    before = list(Finding.objects.values()), recorded()
    services.mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    assert (list(Finding.objects.values()), recorded()) == before


def test_a_step_that_is_taken_back_is_recovered_by_the_revision_that_did_it(agent: Agent) -> None:
    store_runs(agent, *dip_series())
    analyse()
    fall, rise = Finding.objects.order_by("position")
    assert (fall.revision.name, fall.state) == ("r115", "recovered")
    assert fall.recovered_by is not None
    assert fall.recovered_by.name == rise.revision.name == "r125"
    assert rise.state == "confirmed"
    flagged = [row for row in make.compared() if row.flag]
    assert [row.revision for row in flagged] == [
        "r115",
        "r125",
    ]


def test_a_recovery_goes_with_the_runs_that_showed_it(agent: Agent) -> None:
    store_runs(agent, *dip_series())
    analyse()
    for run in Run.objects.filter(revision__position__gte=125):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    finding = Finding.objects.live().get()
    assert (finding.state, finding.recovered_by) == ("confirmed", None)
    assert FindingEvent.objects.filter(finding=finding).last().kind == "returned"  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", [1, 2])
def test_recoveries_do_not_depend_on_the_order_of_arrival(agent: Agent, seed: int) -> None:
    documents = dip_series()
    shuffled = random.Random(seed).sample(documents, len(documents))
    for start in range(0, len(shuffled), 9):
        store_runs(agent, *shuffled[start : start + 9])
        analyse()
    assert named(present()) == [(115, "worse", "recovered"), (125, "better", "confirmed")]


def test_events_show_how_a_finding_came_to_where_it_is(agent: Agent) -> None:
    documents = step_series()
    for document in documents[: STEP_AT + 3]:
        store_runs(agent, document)
        analyse()
    finding = Finding.objects.get()
    kinds = list(finding.events.values_list("kind", flat=True))
    assert kinds[0] == "detected"
    assert "confirmed" in kinds
    newest = finding.events.last()
    assert newest is not None
    assert (newest.state, newest.revision_id) == (finding.state, finding.revision_id)
    assert (newest.after_id, newest.last_id) == (finding.after_id, finding.last_id)
    for run in Run.objects.filter(revision__position__gte=100 + STEP_AT):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    assert finding.events.last().kind == "retracted"  # type: ignore[union-attr]
    assert list(finding.events.values_list("kind", flat=True))[: len(kinds)] == kinds


def test_a_size_is_noted_again_only_outside_the_interval_that_was_stated(agent: Agent) -> None:
    documents = step_series(count=STEP_AT + 12)
    for document in documents[STEP_AT + 5 :]:
        pps = document["metrics"]["pps"]
        pps["samples"] = [sample * 0.98 for sample in pps["samples"]]
    store_runs(agent, *documents[: STEP_AT + 5])
    analyse()
    event = FindingEvent.objects.get()
    for document in documents[STEP_AT + 5 :]:
        store_runs(agent, document)
        analyse()
    finding = Finding.objects.get(position=100 + STEP_AT)
    assert (event.low_pct, event.high_pct) != (finding.low_pct, finding.high_pct)
    for row in finding.events.filter(kind="resized"):
        assert not event.low_pct <= row.change_pct <= event.high_pct  # type: ignore[operator]


def test_one_wild_sample_and_one_wild_revision_confirm_nothing(agent: Agent) -> None:
    documents = step_series(step=1.0)
    documents[8]["metrics"]["pps"]["samples"][2] = 1.0
    documents[20]["metrics"]["pps"]["samples"] = [LEVEL * 0.5] * 5
    store_runs(agent, *documents)
    analyse()
    assert present() == []


def test_where_less_is_better_the_verdict_is_mirrored(agent: Agent) -> None:
    documents = step_series()
    for document in documents:
        document["metrics"] = {
            "latency": document["metrics"]["pps"] | {"unit": "us", "better": "less"}
        }
    store_runs(agent, *documents)
    analyse()
    assert named(present()) == [(100 + STEP_AT, "better", "confirmed")]


def test_the_summary_states_levels_noise_and_what_could_be_proven(agent: Agent) -> None:
    store_runs(agent, *step_series())
    analyse()
    summary = SeriesAnalysis.objects.get().summary
    assert len(summary["segments"]) == 2
    assert summary["noise"]["revision_pct"] == pytest.approx(0.55, rel=0.6)
    assert summary["smallest"]["pct"] > 0
    assert summary["why_not"]
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize("value", [0.0, -5.0, 1e-15, 1e15])
def test_extreme_samples_are_analysed_and_make_no_finding(agent: Agent, value: float) -> None:
    documents = step_series(count=12)
    for document in documents:
        document["metrics"]["pps"]["samples"] = [value] * 5
    store_runs(agent, *documents)
    analyse()
    assert present() == []
    assert Series.objects.get().dirty_from is None


def test_the_statements_grow_neither_with_series_nor_with_history(agent: Agent) -> None:
    def upload(modes: int, revisions: range) -> None:
        store_runs(
            agent,
            *(
                run_document(
                    uuid=str(uuid4()),
                    revision=f"r{revision}",
                    mode={"workload": f"m{i}", "traffic": None, "options": []},
                    samples=[LEVEL * (0.5 if revision > 50 else 1) + revision + i] * 5,
                )
                for i in range(modes)
                for revision in revisions
            ),
        )

    counts = []
    for modes, revisions in ((2, range(1, 70)), (6, range(70, 90)), (6, range(90, 91))):
        upload(modes, revisions)
        with CaptureQueriesContext(connection) as captured:
            analyse_dirty_series()
        counts.append(len(captured))
    # One of them asks which events begin an epoch, one which modes pair with and without an option;
    # the batch in the middle also moves findings and makes others.
    assert max(counts) <= 45, counts


ARCHIVE = Path(__file__).resolve().parents[3] / "shared"


def year_labels() -> list[tuple[dict[str, Any], str]]:
    """(label, workload) of each labelled year series; none where the archive is absent."""
    labels = ARCHIVE / "goldens" / "changes.json"
    if not labels.is_file():
        return []
    found = json.loads(labels.read_text(encoding="utf-8"))["labels"]
    return [(label, workload) for label in found for workload in label["series"]]


def archive_documents(label: dict[str, Any], workload: str) -> list[dict[str, Any]]:
    results = ARCHIVE / "netbenches" / label["results"]
    pattern = label["value_files"].replace("<workload>", workload).replace("<revision>", "*")
    documents = []
    for path in sorted(results.glob(pattern)):
        revision = path.name.partition(".")[0]
        if revision.isdecimal():
            samples = [float(line) for line in path.read_text().split()]
            documents.append(run_document(revision=f"r{revision}", samples=samples))
    return documents


@pytest.mark.archive
@pytest.mark.skipif(not year_labels(), reason="the lab archive is not beside the checkout")
@pytest.mark.parametrize(("label", "workload"), year_labels() or [({}, "")])
def test_every_sure_change_of_the_year_series_is_found_within_one_revision(
    agent: Agent, label: dict[str, Any], workload: str
) -> None:
    documents = archive_documents(label, workload)
    store_runs(agent, *documents)
    analyse()
    order = sorted(int(document["revision"][1:]) for document in documents)
    found = [order.index(row["position"]) for row in present()]
    for sure in label["series"][workload]["sure"]:
        at = order.index(int(sure["revision"][1:]))
        assert any(abs(at - index) <= 1 for index in found), (sure, [order[i] for i in found])


def test_findings_below_the_smallest_effect_of_interest_are_distinguished(agent: Agent) -> None:
    store_runs(agent, *step_series())
    analyse()
    assert of_interest(Finding.objects.all()).count() == 1
    SeriesSettings.objects.create(series=Series.objects.get(), min_effect_pct=20)
    assert of_interest(Finding.objects.all()).count() == 0
