"""`manage.py reanalyse`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.analysis.test_findings import agent as agent  # noqa: PLC0414 (a fixture)
from tests.analysis.test_findings import present, step_series, store_runs
from webapp.alerts.management.commands import reanalyse
from webapp.alerts.services import analyse_dirty_series
from webapp.alerts.services.analysing import Analysed
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.labs.models import Agent
from webapp.results.models import Series

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
    assert not Series.objects.dirty().exists()


@pytest.mark.usefixtures("analysed")
def test_without_options_only_what_another_version_analysed() -> None:
    assert run() == "0 series analysed anew\n"
    SeriesAnalysis.objects.update(detector=0)
    assert run() == "1 series analysed anew\n"


@pytest.mark.usefixtures("analysed")
def test_one_tree_is_chosen_by_its_name() -> None:
    assert run("--tree", "freebsd-head") == "1 series analysed anew\n"
    with pytest.raises(CommandError, match="no series of a tree 'none'"):
        run("--tree", "none")


@pytest.mark.usefixtures("analysed")
def test_interrupted_it_leaves_the_rest_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> Analysed:
        raise KeyboardInterrupt

    monkeypatch.setattr(reanalyse, "analyse_dirty_series", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run("--all")
    assert Series.objects.dirty().count() == 1
