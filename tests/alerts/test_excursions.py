"""Excursions that several modes of a machine agree on: one alert, which blames no commit."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from uuid import uuid4

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from tests import make
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
from webapp.merging.services import merge_hardware, merge_revisions
from webapp.notifications.services import notify_events
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail
from webapp.results.models import Hardware, Revision, Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
COUNT, AT = 40, 25
FAINT, FAR = -0.03, -0.25
"""Logs: between five and eight standard deviations of a revision, and far beyond eight."""


def upload(
    off: Mapping[str, float],
    *,
    on: str = "bench/nic",
    odd_at: int = AT,
    stays: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Runs of each mode on one machine; r125 is off by so much (logs), and r126 is back, but for
    the modes that ``stays`` names, which stay off by as much from r125 on.
    """
    agent = labs.create_agent(name="control", lab_name="netlab")
    rng = np.random.default_rng(3)
    documents = [
        run_document(
            uuid=str(uuid4()),
            revision=f"r{100 + i}",
            hardware=on,
            mode={"workload": mode, "traffic": None, "options": []},
            samples=(
                1e6
                * np.exp(
                    by * (i == odd_at)
                    + stays.get(mode, 0.0) * (i >= odd_at)
                    + rng.normal(0, 0.004)
                    + rng.normal(0, 0.004, 5)
                )
            ).tolist(),
        )
        for i in range(COUNT)
        for mode, by in off.items()
    ]
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=agent, runs=runs, register=True)
    analyse()


def analyse() -> None:
    while analyse_dirty_series().finished:
        pass


def test_modes_that_agree_open_one_alert_that_names_no_commit(
    client: Client, approved: Approvals
) -> None:
    make.subscription()
    upload({"pf": FAINT, "ipfw": FAINT, "forwarding": 0.0})

    alert = Alert.objects.with_revisions().get()

    assert (alert.kind, alert.verdict, alert.state) == ("excursion", "regression", "new")
    assert (alert.after.name, alert.revision.name) == ("r124", "r125")
    assert alert.findings.count() == 2
    assert suspicion_of(alert).commit is None
    page = client.get(alert.get_absolute_url())
    approved("pages/excursions/modes-that-agree-open-one-alert-that-names", page)
    page = page.content.decode()
    assert "Find the commit" not in page
    assert 'id="suspects"' not in page
    assert "one revision, back afterwards" in client.get("/alerts/").content.decode()
    front = client.get("/").content.decode()
    assert 'at <span class="mono">r125</span>, one revision, back afterwards' in front
    assert "this commit" not in front
    assert "no single commit" in front
    approved(
        "pages/excursions/modes-that-agree-open-one-alert-that-names-2",
        client.get("/hardware/bench/nic/"),
    )
    page = client.get("/commits/freebsd-head/r125/")
    approved("pages/excursions/modes-that-agree-open-one-alert-that-names-3", page)
    assert [str(one.mode) for one, _ in page.context["silent"]] == ["forwarding"]
    commit = page.content.decode()
    assert "suspects this commit" not in commit


def test_its_mail_feed_and_api_state_that_it_is_of_the_machine(client: Client) -> None:
    make.subscription()
    upload({"pf": FAINT, "ipfw": FAR})
    notify_events()

    message = compose(Mail.objects.get(kind="alert.opened"))

    assert message.subject.endswith("at r125, one revision, back afterwards")
    for form in (message.text, message.html):
        assert "Excursion: ipfw on bench nic is" in form
        assert "this machine at this revision, and blames no commit" in form
        assert "Suspects" not in form
        assert "recovered already" not in form
        assert "meant?" not in form
    feed = client.get("/feeds/freebsd-head.atom").content.decode()
    assert "one revision, back afterwards" in feed
    answer = client.get(f"/api/v1/alerts/{Alert.objects.get().pk}").json()
    assert (answer["kind"], answer["commit"]) == ("excursion", None)
    assert [one["kind"] for one in answer["findings"]] == ["excursion", "excursion"]


@pytest.mark.parametrize(
    ("off", "listed"),
    [({"pf": FAINT, "ipfw": 0.0}, 0), ({"pf": FAR, "ipfw": 0.0}, 1), ({"pf": FAR}, 1)],
)
def test_one_mode_alone_is_listed_from_eight_deviations_on_and_opens_nothing(
    client: Client, off: Mapping[str, float], listed: int
) -> None:
    upload(off)

    assert not Alert.objects.exists()
    series = Series.objects.get(mode__name="pf")
    answer = client.get(f"/api/v1/series/{series.pk}/points").json()
    assert len(answer["other_findings"]) == listed


def test_at_a_commit_that_an_alert_blames_there_is_no_other_alert() -> None:
    upload({"pf": FAINT, "ipfw": FAINT, "forwarding": 0.0}, stays={"forwarding": -0.1})

    alert = Alert.objects.get()

    assert (alert.kind, alert.likeliest.name) == ("level", "r125")
    assert Finding.all_kinds.filter(kind="excursion").count() == 2


def test_one_mode_down_and_one_up_do_not_agree() -> None:
    upload({"pf": FAINT, "ipfw": -FAINT})

    assert not Alert.objects.exists()


def test_it_goes_with_the_runs_that_showed_it_and_what_a_person_decided_stays() -> None:
    upload({"pf": FAINT, "ipfw": FAINT})
    alert = Alert.objects.get()
    person = User.objects.create_user("ada", password="a long password")
    alerts.acknowledge(alert=alert.pk, actor=person, version=alert.version)

    services.mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    alert.refresh_from_db()
    assert (alert.state, alert.events.count()) == ("acknowledged", 3)

    withdraw_run(run=Run.objects.get(revision__name="r125", mode__name="pf"), by=None, reason="hot")
    analyse()
    alert.refresh_from_db()
    assert (alert.state, alert.resolution, alert.is_active) == ("resolved", "retracted", False)


def test_the_threshold_decides_whether_it_is_worth_an_alert() -> None:
    upload({"pf": FAINT, "ipfw": FAINT})
    person = User.objects.create_user("ada", password="a long password")

    set_min_effect(
        scope=Scope.around(Series.objects.get(mode__name="pf")), percent=20.0, actor=person
    )

    assert not Alert.objects.filter(is_active=True).exists()
    assert Finding.all_kinds.filter(kind="excursion").count() == 2


def test_it_is_one_for_a_machine_and_a_revision_and_people_cannot_move_its_findings() -> None:
    upload({"pf": FAINT, "ipfw": FAINT})
    one = Alert.objects.get()
    person = User.objects.create_user("ada", password="a long password")

    with pytest.raises(TriageError, match="is an excursion"):
        alerts.split(
            alert=one.pk,
            actor=person,
            version=one.version,
            findings=[one.findings.first().pk],  # type: ignore[union-attr]
            revision=Revision.objects.get(name="r120"),
        )
    with pytest.raises(BisectError, match="the next revision is back"):
        draft_bisect(
            series=Series.objects.get(mode__name="pf"),
            good=one.after,
            bad=one.revision,
            effect_pct=-3.0,
            alert=one,
        )
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(
            kind="excursion",
            tree=one.tree,
            hardware=one.hardware,
            revision=one.revision,
            after=one.after,
            likeliest=one.revision,
            verdict="regression",
            opened_at=one.opened_at,
            updated_at=one.updated_at,
        )


def machine(name: str) -> Hardware:
    return Hardware.objects.get(name=name)


def test_machines_that_turn_out_to_be_one_have_one_alert_with_both_logs(client: Client) -> None:
    """Each had its own at the revision. The older stays; the number of the other leads to it."""
    upload({"pf": FAR, "ipfw": FAR})
    upload({"forwarding": FAR, "nat": FAR}, on="other/nic")
    older, younger = Alert.objects.order_by("pk")

    merge_hardware(source=machine("other/nic"), into=machine("bench/nic"))
    analyse()

    alert = Alert.objects.get()
    assert (alert.pk, alert.is_active, alert.findings.count()) == (older.pk, True, 4)
    assert alert.events.filter(kind="opened").count() == 2
    moved = client.get(f"/alerts/{younger.pk}/", follow=True)
    assert moved.redirect_chain[-1][0] == alert.get_absolute_url()
    assert "one revision alone" in client.get("/hardware/bench/nic/").content.decode()


def test_an_alert_goes_with_its_machine_into_another_one() -> None:
    upload({"pf": FAR, "ipfw": FAR}, on="other/nic")
    upload({"pf": 0.0, "ipfw": 0.0, "nat": 0.0, "forwarding": 0.0}, odd_at=-1)
    before = Alert.objects.get()

    merge_hardware(source=machine("other/nic"), into=machine("bench/nic"))
    alert = Alert.objects.get()
    assert (alert.pk, alert.hardware) == (before.pk, machine("bench/nic"))

    # Half of the runs of r125 are not off: they disagree, and nothing is reported of them.
    analyse()
    alert.refresh_from_db()
    assert (alert.is_active, alert.resolution) == (False, "retracted")


def test_revisions_that_turn_out_to_be_one_have_one_alert() -> None:
    upload({"pf": FAR, "ipfw": FAR})
    before = Alert.objects.get()
    revision = Revision.objects.get(name="r125")
    into = Revision.objects.create(
        tree=revision.tree, name="n125", position=revision.position * 1000
    )
    Revision.objects.filter(pk=into.pk).update(position=revision.position + 10_000)

    merge_revisions(source=revision, into=into)

    alert = Alert.objects.get()
    assert (alert.pk, alert.revision, alert.likeliest) == (before.pk, into, into)
    analyse()
    alert.refresh_from_db()
    assert (alert.is_active, alert.resolution) == (False, "retracted")


def test_a_dry_run_covers_it() -> None:
    upload({"pf": FAINT, "ipfw": FAINT, "forwarding": 0.0})
    scope, since = Scope.named("hardware:bench/nic"), timezone.now() - timedelta(days=1)
    assert (dry_run(scope, 1.0, since=since).kept, dry_run(scope, 50.0, since=since).kept) == (1, 0)
    (gone,) = dry_run(scope, 50.0, since=since).gone
    assert (gone.kind, gone.alert) == ("excursion of a machine", Alert.objects.get())
    set_min_effect(scope=scope, percent=50.0, actor=User.objects.create(username="root"))
    (raised,) = dry_run(scope, None, since=since).raised
    assert raised.kind == "excursion of a machine"
