"""Slow losses: one alert for a machine, which blames no commit."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from tests.approved import Approvals
from tests.documents import run_document
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert
from webapp.alerts.queries import dry_run, suspicion_of
from webapp.alerts.queries.min_effects import Scope
from webapp.alerts.services import TriageError, analyse_dirty_series, set_min_effect
from webapp.analysis import services
from webapp.analysis.models import Finding
from webapp.api.schemas.runs import RunIn
from webapp.bisects.services import BisectError, draft_bisect
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Revision, Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
COUNT = 130
SLOPE = -0.10 * np.arange(COUNT) / COUNT


@pytest.fixture
def agent(db: None) -> Agent:
    return labs.create_agent(name="control", lab_name="netlab")


def upload(
    agent: Agent,
    workload: str,
    shift: Any,
    *,
    seed: int = 1,
    first: int = 0,
    rng: np.random.Generator | None = None,
) -> None:
    rng = rng or np.random.default_rng(seed)
    documents = [
        run_document(
            uuid=str(uuid4()),
            revision=f"r{100 + first + i}",
            mode={"workload": workload, "traffic": None, "options": []},
            samples=(1e6 * np.exp(at + rng.normal(0, 0.004) + rng.normal(0, 0.004, 5))).tolist(),
        )
        for i, at in enumerate(shift)
    ]
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=agent, runs=runs, register=True)
    while analyse_dirty_series().finished:
        pass


def test_a_slow_loss_opens_an_alert_that_names_no_commit(
    agent: Agent, client: Client, approved: Approvals
) -> None:
    upload(agent, "pf", SLOPE)

    alert = Alert.objects.with_revisions().get()

    assert (alert.kind, alert.verdict, alert.state) == ("slow", "regression", "new")
    assert (alert.after.name, alert.revision.name) == ("r100", "r229")
    assert suspicion_of(alert).commit is None
    page = client.get(alert.get_absolute_url())
    approved("pages/slow-losses/a-slow-loss-opens-an-alert-that-names", page)
    page = page.content.decode()
    assert page.count('fill-opacity=".14"') >= 1
    assert "Find the commit" not in page
    assert 'id="suspects"' not in page
    inbox = client.get("/alerts/").content.decode()
    assert "to r229, no single commit" in inbox
    front = client.get("/").content.decode()
    assert 'by <span class="mono">r229</span>, no single commit' in front
    assert "from r100 to here, no single commit" in front
    (tile,) = re.findall(r'<a class="tile.*?</a>', front, re.S)
    assert "▾" in tile
    assert "± " not in tile
    page = client.get("/hardware/bench/nic/")
    approved("pages/slow-losses/a-slow-loss-opens-an-alert-that-names-2", page)
    machine = page.content.decode()
    assert "nothing confirmed" not in machine
    assert "Also seen" not in client.get("/commits/freebsd-head/r229/").content.decode()


def test_the_parts_in_which_most_of_it_went_are_named(agent: Agent, client: Client) -> None:
    """Two slopes on a slight one, too long for changes: r172 to r213 and r244 to r285."""
    at = np.arange(240) / 240
    slopes = np.clip((at - 0.3) / 0.17, 0, 1) + np.clip((at - 0.6) / 0.17, 0, 1)
    upload(agent, "pf", -0.03 * slopes - 0.01 * at)
    finding = Alert.objects.get(kind="slow").findings.get()

    first, second = finding.parts
    assert (160 <= int(first[0][1:]) <= 180, 205 <= int(first[1][1:]) <= 225) == (True, True)
    assert (240 <= int(second[0][1:]) <= 255, 275 <= int(second[1][1:]) <= 290) == (True, True)
    assert (first[2], second[2]) == pytest.approx((-3, -3), abs=1)
    page = client.get(f"/alerts/{Alert.objects.get(kind='slow').pk}/").content.decode()
    assert f"no single commit; the largest parts: −3.2 % from {first[0]} to {first[1]}" in page


def test_an_even_loss_names_no_part(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)

    assert Alert.objects.get().findings.get().parts == []


def test_steps_that_a_drift_takes_the_place_of_go_and_the_loss_stands(agent: Agent) -> None:
    rng = np.random.default_rng(1)
    upload(agent, "pf", 1.5 * SLOPE[:110], rng=rng)
    steps = Finding.objects.all()
    step = steps.get(state="confirmed")
    upload(agent, "pf", 1.5 * SLOPE[110:], rng=rng, first=110)

    step.refresh_from_db()
    assert step.state == "retracted"
    assert not steps.filter(state="confirmed").exists()
    assert not Alert.objects.of_levels().filter(is_active=True).exists()
    slow = Alert.objects.get(kind="slow")
    assert (slow.is_active, slow.state) == (True, "new")
    assert slow.findings.get().change_pct == pytest.approx(-14, abs=2)


def test_no_bisect_starts_from_a_slow_loss(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    alert = Alert.objects.get()

    with pytest.raises(BisectError, match="no single commit made it"):
        draft_bisect(
            series=Series.objects.get(),
            good=alert.after,
            bad=alert.revision,
            effect_pct=-9.0,
            alert=alert,
        )


def test_series_of_the_same_machine_join_it_and_it_goes_on_without_news(agent: Agent) -> None:
    upload(agent, "pf", SLOPE[:110])
    upload(agent, "ipfw", SLOPE[:110], seed=2)
    alert = Alert.objects.get()
    assert alert.memberships.count() == 2
    events = alert.events.count()

    upload(agent, "pf", SLOPE[110:], seed=3, first=110)

    alert.refresh_from_db()
    assert (alert.revision.name, alert.events.count()) == ("r229", events)


def test_at_most_one_is_open_for_a_machine(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    one = Alert.objects.get()

    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(
            kind="slow",
            tree=one.tree,
            hardware=one.hardware,
            revision=one.revision,
            after=one.after,
            likeliest=one.revision,
            verdict="regression",
            opened_at=one.opened_at,
            updated_at=one.updated_at,
        )


def test_what_a_person_decided_stays_and_what_is_gone_is_retracted(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    alert = Alert.objects.get()
    person = User.objects.create_user("ada", password="a long password")
    alerts.acknowledge(alert=alert.pk, actor=person, version=alert.version)

    services.mark_for_analysis([Series.objects.get().pk])
    while analyse_dirty_series().finished:
        pass
    alert.refresh_from_db()
    assert alert.state == "acknowledged"

    for run in Run.objects.filter(revision__position__gt=120):
        withdraw_run(run=run, by=None, reason="the wrong cable")
    while analyse_dirty_series().finished:
        pass
    alert.refresh_from_db()
    assert (alert.state, alert.resolution, alert.is_active) == ("resolved", "retracted", False)


def test_the_threshold_decides_which_losses_are_worth_one(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    series = Series.objects.get()
    person = User.objects.create_user("ada", password="a long password")

    set_min_effect(scope=Scope.around(series), percent=20.0, actor=person)

    assert Finding.all_kinds.filter(kind="slow").exists()
    assert not Alert.objects.filter(is_active=True).exists()


def test_its_findings_are_neither_merged_nor_split(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    alert = Alert.objects.get()
    person = User.objects.create_user("ada", password="a long password")

    with pytest.raises(TriageError, match="is a slow loss"):
        alerts.split(
            alert=alert.pk,
            actor=person,
            version=alert.version,
            findings=[alert.findings.get().pk],
            revision=Revision.objects.get(name="r150"),
        )


def test_a_dry_run_covers_it(agent: Agent) -> None:
    upload(agent, "pf", SLOPE)
    scope, since = Scope.named("hardware:bench/nic"), timezone.now() - timedelta(days=1)
    assert (dry_run(scope, 1.0, since=since).kept, dry_run(scope, 50.0, since=since).kept) == (1, 0)
    (gone,) = dry_run(scope, 50.0, since=since).gone
    assert (gone.kind, gone.alert) == ("slow loss", Alert.objects.get())
    set_min_effect(scope=scope, percent=50.0, actor=User.objects.create(username="root"))
    (raised,) = dry_run(scope, None, since=since).raised
    assert raised.kind == "slow loss"
