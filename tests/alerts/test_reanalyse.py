"""After an upgrade the analyses of an earlier version are repeated, and nobody is mailed of it."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests import make
from tests.alerts.steps import arrive, revision_of, runs_of
from tests.analysis.test_findings import agent as agent  # noqa: PLC0414 (a fixture)
from tests.analysis.test_findings import present, step_series, store_runs
from webapp.alerts import tasks
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services import analyse_dirty_series, analysing
from webapp.analysis.models import Checkpoint, Finding, SeriesAnalysis
from webapp.labs.models import Agent
from webapp.notifications.queries import events_of_tree
from webapp.notifications.services import notify_events
from webapp.outbox.models import Mail
from webapp.results.models import Series, Tree
from webapp.results.services import forget_names
from webapp.stats import changes

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("reanalyse", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.fixture
def analysed(agent: Agent) -> None:
    store_runs(agent, *step_series())
    analyse_dirty_series()


@pytest.mark.usefixtures("analysed")
def test_everything_is_analysed_anew_and_ends_the_same() -> None:
    before = present()
    Finding.objects.update(score=0.0)
    assert run("--all") == "1 series analysed anew\n"
    assert present() == before
    assert not SeriesAnalysis.objects.stale().exists()


@pytest.mark.usefixtures("analysed")
def test_without_options_only_what_another_version_analysed() -> None:
    assert run() == "0 series analysed anew\n"
    SeriesAnalysis.objects.update(detector=changes.VERSION - 1)
    assert run() == "1 series analysed anew\n"


@pytest.mark.usefixtures("analysed")
def test_what_changed_is_counted_by_kind() -> None:
    Finding.all_kinds.all().delete()
    SeriesAnalysis.objects.update(detector=changes.VERSION - 1)
    Checkpoint.objects.all().delete()
    assert run().splitlines() == ["1 series analysed anew", "change of level: 1 detected"]


@pytest.mark.usefixtures("analysed")
def test_one_tree_is_chosen_by_its_name() -> None:
    assert run("--tree", "freebsd-head") == "1 series analysed anew\n"
    with pytest.raises(CommandError, match="no series of a tree 'none'"):
        run("--tree", "none")


ATOM, XEON = "Atom/T540", "Xeon/T580"
LOST = {(ATOM, "pf"): {15: 0.9}, (XEON, "pf"): {15: 0.9}}


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def upgrade() -> None:
    """As if all of it were concluded by an earlier version of the method, which saw no change."""
    Alert.objects.all().delete()
    Finding.all_kinds.all().delete()
    Mail.objects.all().delete()
    Checkpoint.objects.update(detector=changes.VERSION - 1)
    SeriesAnalysis.objects.update(detector=changes.VERSION - 1)


def mailed() -> list[str]:
    while notify_events():
        pass
    return list(Mail.objects.order_by("pk").values_list("kind", flat=True))


def without(documents: list[dict[str, Any]], revision: int) -> list[dict[str, Any]]:
    return [each for each in documents if revision_of(each) < revision]


def test_the_task_repeats_what_an_earlier_version_analysed_and_nothing_else() -> None:
    arrive(runs_of(LOST))
    tasks.analyse_stale_series()
    assert AlertEvent.objects.filter(is_quiet=True).count() == 0
    upgrade()
    assert SeriesAnalysis.objects.stale().count() == 2
    tasks.analyse_stale_series()
    assert SeriesAnalysis.objects.repeated() is None
    assert Finding.objects.filter(state="confirmed").count() == 2
    assert Alert.objects.get().is_active


def test_nobody_is_notified_of_an_alert_that_only_the_method_opened() -> None:
    make.subscription()
    arrive(runs_of(LOST))
    assert mailed() == ["alert.opened"]
    upgrade()
    tasks.analyse_stale_series()
    assert Alert.objects.get().state == "new"
    assert mailed() == []
    assert events_of_tree(Tree.objects.get()) == []
    # Nor with the next run, which shows nothing new.
    last = runs_of({(ATOM, "pf"): {15: 0.9}}, seed=6)
    arrive([each for each in last if revision_of(each) == max(map(revision_of, last))])
    assert mailed() == []


def finds_nothing(detected: Any) -> list[int]:
    """A later version of the method, to which there is no change."""
    Finding.objects.update(state="retracted")
    SeriesAnalysis.objects.update(detector=changes.VERSION)
    return []


def test_nobody_is_notified_of_a_retraction_that_only_the_method_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.subscription()
    arrive(runs_of(LOST))
    assert mailed() == ["alert.opened"]
    SeriesAnalysis.objects.update(detector=changes.VERSION - 1)
    with monkeypatch.context() as patch:
        patch.setattr(analysing.analysis, "store_findings", finds_nothing)
        tasks.analyse_stale_series()
    assert not Alert.objects.get().is_active
    assert mailed() == ["alert.opened"]


def test_a_loss_that_fresh_runs_show_is_mailed_though_the_analysis_is_stale() -> None:
    make.subscription()
    documents = runs_of(LOST)
    arrive(without(documents, 115))
    upgrade()
    arrive([each for each in documents if revision_of(each) >= 115])
    assert mailed() == ["alert.opened"]
    assert not SeriesAnalysis.objects.stale().exists()


def test_a_loss_that_was_there_before_is_not_mailed_because_of_a_fresh_run() -> None:
    make.subscription()
    documents = runs_of(LOST)
    last = max(map(revision_of, documents))
    arrive(without(documents, last))
    upgrade()
    arrive([each for each in documents if revision_of(each) == last])
    assert Alert.objects.get().state == "new"
    assert mailed() == []


def test_what_a_kill_interrupts_is_as_stale_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    arrive(runs_of(LOST))
    upgrade()

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(analysing, "reconcile_alerts", killed)
        with pytest.raises(KeyboardInterrupt):
            analysing.analyse_stale_series()
    assert SeriesAnalysis.objects.stale().count() == 2
    assert not Finding.objects.exists()
    tasks.analyse_stale_series()
    assert Alert.objects.get().is_active


def test_an_upload_in_the_middle_is_left_to_the_analysis_that_notifies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrive(runs_of(LOST))
    upgrade()
    reconcile = analysing.reconcile_alerts

    def uploaded_meanwhile(tree: int) -> None:
        Series.objects.filter(hardware__name=ATOM).update(version=999)
        reconcile(tree)

    with monkeypatch.context() as patch:
        patch.setattr(analysing, "reconcile_alerts", uploaded_meanwhile)
        assert analysing.analyse_stale_series() == 0
    assert not AlertEvent.objects.exists()
    assert SeriesAnalysis.objects.stale().count() == 2


def test_fresh_runs_come_first(agent: Agent) -> None:
    arrive(runs_of(LOST))
    upgrade()
    store_runs(agent, *step_series(count=1))
    tasks.analyse_stale_series()
    assert SeriesAnalysis.objects.stale().count() == 2


def test_a_series_that_cannot_be_repeated_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrive(runs_of(LOST))
    upgrade()
    broken = Series.objects.filter(hardware__name=ATOM).get().pk
    compare = analysing.analysis.compare_and_detect

    def fails(claimed: Any, *seen: Any) -> Any:
        if broken in {each.pk for each in claimed}:
            raise ValueError("damaged")
        return compare(claimed, *seen)

    monkeypatch.setattr(analysing.analysis, "compare_and_detect", fails)
    tasks.analyse_stale_series()
    assert list(SeriesAnalysis.objects.stale().values_list("pk", flat=True)) == [broken]
