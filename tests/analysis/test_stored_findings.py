"""Findings that are no change of level: stored, kept, and without a commit to blame."""

from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from tests import make
from tests.documents import run_document
from webapp.alerts.models import Alert
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis import services
from webapp.analysis.models import Finding, FindingEvent
from webapp.analysis.services.stored_findings import REAL
from webapp.api.schemas.runs import RunIn
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
Kind = Finding.Kind


@pytest.fixture
def agent(db: None) -> Agent:
    return labs.create_agent(name="control", lab_name="netlab")


def upload(agent: Agent, shift: Any, *, seed: int = 1, noise: Any = 0.004, first: int = 0) -> None:
    """A run of each revision; its level moves by ``shift`` (logs), builds and runs by ``noise``."""
    rng = np.random.default_rng(seed)
    sd = np.broadcast_to(noise, len(shift))
    documents = [
        run_document(
            uuid=str(uuid4()),
            revision=f"r{100 + first + i}",
            samples=(1e6 * np.exp(at + rng.normal(0, sd[i]) + rng.normal(0, sd[i], 5))).tolist(),
        )
        for i, at in enumerate(shift)
    ]
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=agent, runs=runs, register=True)


def analyse() -> None:
    while analyse_dirty_series().finished:
        pass


def excursion(count: int = 40) -> Any:
    shift = np.zeros(count)
    shift[25] = -0.5
    return shift


def test_an_excursion_is_stored_with_its_recovery_and_blames_nobody(agent: Agent) -> None:
    upload(agent, excursion())
    analyse()

    one = Finding.all_kinds.get()

    assert (one.kind, one.state, one.verdict) == (Kind.EXCURSION, "recovered", "worse")
    assert (one.revision.name, one.recovered_by and one.recovered_by.name) == ("r125", "r126")
    assert one.low_pct is not None
    assert one.high_pct is not None
    assert one.low_pct < 100 * np.expm1(-0.5) < one.high_pct
    assert one.why.startswith("Excursion: r125 alone is -39")
    assert one.probability == REAL[Kind.EXCURSION]
    assert not Finding.objects.exists()
    assert not any(row.flag for row in make.compared())
    assert not Alert.objects.exists()


def test_a_finding_keeps_its_number_when_its_series_is_analysed_anew(agent: Agent) -> None:
    upload(agent, excursion())
    analyse()
    number = Finding.all_kinds.get().pk

    services.mark_for_analysis([Series.objects.get().pk])
    analyse()

    assert Finding.all_kinds.get().pk == number
    assert FindingEvent.objects.count() == 1


def test_an_excursion_whose_run_is_withdrawn_is_retracted(agent: Agent) -> None:
    upload(agent, excursion())
    analyse()

    withdraw_run(run=Run.objects.get(revision__name="r125"), by=None, reason="hot")
    analyse()

    one = Finding.all_kinds.get()
    assert one.state == "retracted"
    assert list(one.events.values_list("kind", flat=True)) == ["detected", "retracted"]


def test_a_slow_loss_goes_on_as_one_finding_without_an_event_for_each_revision(
    agent: Agent,
) -> None:
    slope = -0.10 * np.arange(140) / 140
    upload(agent, slope[:120])
    analyse()
    one = Finding.all_kinds.get(kind=Kind.SLOW)

    upload(agent, slope[120:], first=120, seed=2)
    analyse()

    same = Finding.all_kinds.get(kind=Kind.SLOW)
    assert same.pk == one.pk
    assert (one.revision.name, same.revision.name) == ("r219", "r239")
    assert same.change_pct is not None
    assert same.change_pct < -8
    assert set(same.events.values_list("kind", flat=True)) <= {"detected", "resized"}
    assert not Finding.objects.live().exists()


def test_noise_that_grows_is_stored_with_its_ratio(agent: Agent) -> None:
    upload(agent, np.zeros(110), noise=np.repeat([0.003, 0.012], [70, 40]))
    analyse()

    one = Finding.all_kinds.get(kind=Kind.NOISE)

    assert abs(one.position - 170) <= 3
    assert 2.5 < one.details["ratio"] < 6
    assert one.change_pct is None
