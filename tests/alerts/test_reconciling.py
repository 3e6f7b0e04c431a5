"""From findings to alerts."""

import random

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.alerts.steps import arrive, log, open_alerts, revision_of, runs_of, series_of
from tests.results.steps import analyse
from webapp.alerts.models import Alert, AlertEvent, MinEffect
from webapp.alerts.queries.findings import of_interest
from webapp.alerts.queries.min_effects import MinEffects
from webapp.alerts.services.analysing import reconcile_alerts, reconcile_trees
from webapp.analysis.models import Finding, SeriesSettings
from webapp.analysis.queries import today_beside
from webapp.analysis.services import mark_for_analysis
from webapp.bisects.services import BisectError, draft_bisect
from webapp.results.models import Hardware, Mode, Run, Series, Tree
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM = "Atom/T540"
XEON = "Xeon/T580"


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def test_one_commit_that_moves_many_series_opens_one_mixed_alert() -> None:
    arrive(
        runs_of(
            {
                (ATOM, "forwarding"): {15: 1.8},
                (ATOM, "ipfw"): {15: 1.2},
                (ATOM, "pf"): {15: 0.88},
                (XEON, "pf"): {},
            }
        )
    )
    alert = Alert.objects.get()
    assert (alert.likeliest.name, alert.verdict, alert.state) == ("r115", "mixed", "new")
    assert series_of(alert) == [
        f"{ATOM} forwarding better",
        f"{ATOM} ipfw better",
        f"{ATOM} pf worse",
    ]
    assert log(alert) == ["opened", "joined"]


def test_two_commits_open_two_alerts() -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.9}, (XEON, "pf"): {20: 0.9}}))
    assert [(row[1], row[3]) for row in open_alerts()] == [
        ("regression", [f"{ATOM} pf worse"]),
        ("regression", [f"{XEON} pf worse"]),
    ]


def test_a_candidate_opens_nothing() -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=16))
    assert Finding.objects.get().state == "candidate"
    assert not Alert.objects.exists()


def test_analysing_again_writes_nothing() -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.9}, (XEON, "pf"): {12: 0.9}}))
    before = list(Alert.objects.values()), list(AlertEvent.objects.values())
    mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    assert (list(Alert.objects.values()), list(AlertEvent.objects.values())) == before


def test_alerts_in_line_are_read_in_eight_statements_and_not_written() -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.9}, (XEON, "pf"): {20: 0.9}}))
    tree = Tree.objects.get()
    with CaptureQueriesContext(connection) as captured:
        reconcile_alerts(tree.pk)
    assert [query["sql"].split()[0] for query in captured.captured_queries] == ["SELECT"] * 8


def test_an_alert_whose_findings_are_gone_is_retracted_and_stands_again_with_them() -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    alert = Alert.objects.get()
    late = runs_of({(ATOM, "pf"): {15: 0.9}}, count=30)
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    alert.refresh_from_db()
    assert (alert.state, alert.resolution, alert.is_active) == ("resolved", "retracted", False)
    assert log(alert)[-2:] == ["left", "retracted"]
    arrive([document for document in late if revision_of(document) >= 115])
    alert.refresh_from_db()
    assert (alert.state, alert.resolution, alert.is_active) == ("new", "", True)


def test_a_retracted_alert_names_the_revisions_that_took_it_back(client: Client) -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="a debug kernel")
    arrive([one for one in runs_of({(ATOM, "pf"): {}}) if revision_of(one) >= 115])

    alert = Alert.objects.get()

    assert (alert.resolution, alert.is_active) == ("retracted", False)
    page = client.get(alert.get_absolute_url()).content.decode()
    assert "this revision belongs to the level of 30 revisions from r100 to r129" in page


def test_an_alert_is_recovered_when_all_its_findings_are() -> None:
    places = {(ATOM, "pf"): {10: 0.9, 20: 1.11}, (ATOM, "ipfw"): {10: 0.9}}
    documents = runs_of(places)
    arrive(documents)
    first = Alert.objects.order_by("revision__position")[0]
    assert first.state == "new"
    ipfw = runs_of({(ATOM, "ipfw"): {10: 0.9, 20: 1.11}})
    withdrawn = Run.objects.filter(mode__name="ipfw")
    for run in withdrawn:
        withdraw_run(run=run, by=None, reason="measured again")
    arrive(ipfw)
    first.refresh_from_db()
    assert first.state == Alert.State.RECOVERED
    assert first.recovered_since is not None


def test_history_is_born_snoozed_and_a_present_run_of_the_commit_wakes_it() -> None:
    documents = runs_of({(ATOM, "pf"): {15: 0.9}})
    arrive(documents, history=True)
    alert = Alert.objects.get()
    assert (alert.state, alert.history) == ("snoozed", True)
    again = runs_of({(ATOM, "pf"): {15: 0.9}}, seed=2)
    arrive([document for document in again if revision_of(document) == 115])
    alert.refresh_from_db()
    assert (alert.state, alert.history) == ("new", False)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_order_of_arrival_ends_in_the_same_open_alerts(seed: int) -> None:
    places = {
        (ATOM, "pf"): {10: 0.9, 22: 1.12},
        (ATOM, "ipfw"): {10: 1.1},
        (XEON, "pf"): {22: 0.93},
        (XEON, "ipfw"): {},
    }
    documents = runs_of(places, count=34)
    arrive(documents)
    whole = open_alerts()
    assert [row[2] for row in whole] == ["new", "new"]
    Run.objects.all().delete()
    Alert.objects.all().delete()
    Series.objects.all().delete()
    forget_names()
    shuffled = random.Random(seed).sample(documents, len(documents))
    for start in range(0, len(shuffled), 17):
        arrive(shuffled[start : start + 17])
    assert open_alerts() == whole


def test_an_alert_keeps_its_number_when_its_commit_moves() -> None:
    documents = runs_of({(ATOM, "pf"): {15: 0.9}})
    gap = [document for document in documents if revision_of(document) not in (113, 114, 115, 116)]
    arrive(gap)
    alert = Alert.objects.get()
    assert (alert.after.name, alert.revision.name) == ("r112", "r117")
    arrive([document for document in documents if document not in gap])
    alert.refresh_from_db()
    assert (alert.likeliest.name, alert.is_active) == ("r115", True)
    assert "moved" in log(alert)
    assert Alert.objects.count() == 1


def test_an_alert_that_loses_its_findings_to_another_becomes_its_duplicate() -> None:
    apart = runs_of({(ATOM, "pf"): {15: 0.9}, (XEON, "pf"): {15: 0.9}})
    skipped = {(ATOM, 114), (ATOM, 115), (ATOM, 116)}
    arrive([one for one in apart if (one["hardware"], revision_of(one)) not in skipped])
    assert [row[3] for row in open_alerts()] == [[f"{ATOM} pf worse", f"{XEON} pf worse"]]
    MinEffect.objects.create(hardware=Hardware.objects.get(name=XEON), percent=50)
    reconcile_trees(Tree.objects.values_list("pk", flat=True))
    first = Alert.objects.get(is_active=True)
    assert first.revision.name == "r117"
    MinEffect.objects.all().delete()
    reconcile_trees(Tree.objects.values_list("pk", flat=True))
    assert [row[0] for row in open_alerts()] == ["r115"]
    for alert in Alert.objects.filter(is_active=False):
        assert alert.resolution == "duplicate"
        assert alert.duplicate_of == Alert.objects.get(is_active=True)


def test_the_threshold_in_force_is_the_most_specific_one_and_is_named() -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    series = Series.objects.get()
    seen = []

    def look() -> None:
        threshold = MinEffects.of([series.pk], tree=series.tree_id).for_series(series)
        reconcile_trees([series.tree_id])
        assert of_interest(Finding.objects.all()).count() == Alert.objects.open().count()
        seen.append((*threshold, Alert.objects.open().count()))

    look()
    MinEffect.objects.create(tree=series.tree, percent=20)
    look()
    MinEffect.objects.create(hardware=series.hardware, percent=3)
    look()
    MinEffect.objects.create(mode=Mode.objects.get(), percent=30)
    look()
    SeriesSettings.objects.create(series=series, min_effect_pct=5)
    look()
    assert seen == [
        (2.0, "default", 1),
        (20.0, "tree", 0),
        (3.0, "hardware", 1),
        (30.0, "mode", 0),
        (5.0, "series", 1),
    ]
    assert Alert.objects.count() == 1


def test_a_change_without_a_figure_is_larger_than_any_threshold() -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    MinEffect.objects.create(tree=Series.objects.get().tree, percent=1000)
    assert not of_interest(Finding.objects.all()).exists()
    Finding.objects.update(change_pct=None)
    assert of_interest(Finding.objects.all()).exists()


def test_the_database_refuses_a_second_alert_for_one_commit() -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    alert = Alert.objects.get()
    alert.pk = None
    with pytest.raises(IntegrityError, match="alert_once_for_a_commit"), transaction.atomic():
        alert.save()


def test_a_rate_that_is_lost_opens_one_alert_which_recovers_with_the_first_measurement(
    client: Client,
) -> None:
    lost = {(ATOM, "pf"): {27: 0.0}, (XEON, "ipfw"): {27: 0.0}, (XEON, "forwarding"): {}}
    arrive([one for one in runs_of(lost) if revision_of(one) < 128])
    assert open_alerts() == [], "one revision alone"

    arrive([one for one in runs_of(lost) if revision_of(one) >= 128])
    series = [f"{ATOM} pf worse", f"{XEON} ipfw worse"]
    assert open_alerts() == [("r127", "regression", "new", series)]
    alert = Alert.objects.get()
    finding = alert.findings.first()
    assert finding is not None
    assert (finding.change_pct, finding.level, finding.after.name) == (-100, 0, "r126")
    stands = finding.series.analysis.summary["net_loss"]
    assert (stands["change_pct"], stands["since"]["label"]) == (-100, "r127")
    page = client.get(alert.get_absolute_url()).content.decode()
    assert "lost 100 %" in page

    arrive(runs_of(lost | {(ATOM, "pf"): {}, (XEON, "ipfw"): {}}, first=130, count=1))
    assert open_alerts() == [("r127", "regression", "recovered", series)]
    finding.refresh_from_db()
    assert finding.recovered_by is not None
    assert (finding.recovered_by.name, finding.state) == ("r130", "recovered")
    finding.series.analysis.refresh_from_db()
    assert finding.series.analysis.summary["net_loss"] is None

    arrive(runs_of({(ATOM, "pf"): {1: 0.0}}, first=131, count=5))
    shown = Finding.objects.filter(series=finding.series).with_today().with_subjects()
    before, again = (today_beside(row) for row in shown.order_by("position"))
    assert before == "today 100 % slower [−100, −100] than before r132, newest value 0"
    assert again == "still so today, newest value 0"


def test_no_bisect_is_offered_for_a_rate_of_0(client: Client) -> None:
    runs = runs_of({(ATOM, "pf"): {25: 0.0}})
    arrive([one | {"revision": f"r{4 * revision_of(one)}"} for one in runs])
    for number in (497, 498, 499):
        make.revision(f"r{number}")
    alert = Alert.objects.get()

    page = client.get(alert.get_absolute_url()).content.decode()

    assert (alert.after.name, alert.revision.name) == ("r496", "r500")
    assert "No bisect: it compares ratios" in page
    assert "Halve the 4 commits in question." in page
    assert "/bisects/new/" not in page
    with pytest.raises(BisectError, match="of a rate of 0 build the commit in the middle"):
        draft_bisect(
            series=alert.findings.get().series,
            good=alert.after,
            bad=alert.revision,
            effect_pct=-100.0,
            alert=alert,
        )
