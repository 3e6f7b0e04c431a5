"""What is drawn of a commit is not drawn again while the rows that it follows from are the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.test import Client

from tests import make
from tests.events.steps import event, release
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesAnalysis, SeriesSettings
from webapp.labs.models import Lab
from webapp.pages.commits import commit as commit_body
from webapp.pages.commits.commit import BODIES, MEASURED, TABLES
from webapp.pages.parts.summary_rows import IMAGES
from webapp.results.models import (
    Hardware,
    Metric,
    Mode,
    Point,
    Revision,
    RevisionAlias,
    Series,
    Tree,
    Variant,
)

# The stamp of a row is the transaction that wrote it last: here each write has its own.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    _forget()


@pytest.fixture
def commit(loss: list[Revision]) -> Revision:
    """It lost a tenth in one series, did nothing to another, and was measured with a patch."""
    series = make.series(in_mode="ipfw")
    make.history(series, loss, [100.0] * 6)
    make.analysis(series, count=6, segments=[make.segment(loss[0], loss[2], 100.0)])
    patched = Variant.objects.create(name="patched", parts=[])
    of = {"tree": series.tree, "hardware": series.hardware, "metric": series.metric}
    make.point(Series.objects.create(**of, mode=series.mode, variant=patched), loss[3])
    return loss[3]


def _conclude(**parts: Any) -> None:
    for row in SeriesAnalysis.objects.all():
        row.summary |= parts
        row.save()


def _pooled(_change: object) -> None:
    """As points are written: with the version of their series."""
    Series.objects.update(version=F("version") + 1)


def _measure_later(name: str) -> None:
    """A point of one series at a revision that nobody had measured."""
    _pooled(make.history(Series.objects.get(mode__name="pf"), [make.revision(name)], [77.0]))


def _named(name: str) -> Revision:
    return Revision.objects.get(name=name)


CHANGES: dict[str, Callable[[Revision], Any]] = {
    "the mean of a point": lambda at: _pooled(Point.objects.filter(revision=at).update(mean=81.0)),
    "what a point is compared with": lambda at: SeriesAnalysis.objects.update(epochs=[at.position]),
    "a point of the commit": lambda at: _pooled(
        Point.objects.filter(revision=at, series__mode__name="ipfw").delete()
    ),
    "the size of a finding": lambda _: Finding.objects.update(change_pct=-44.4),
    "the state of a finding": lambda _: Finding.objects.update(state="candidate"),
    "the sentence of a finding": lambda _: Finding.objects.update(why="It is another."),
    "what a finding suspects": lambda _: Finding.objects.update(after=_named("r300000")),
    "what a finding recovered by": lambda _: Finding.objects.update(
        state="recovered", recovered_by=_named("r300015")
    ),
    "a finding more": lambda at: make.finding(
        Series.objects.get(mode__name="ipfw", variant=None), _named("r300006"), at
    ),
    "a finding that suspects it less": lambda at: make.finding(
        Series.objects.get(mode__name="ipfw", variant=None),
        at,
        _named("r300012"),
        after=_named("r300000"),
    ),
    "a finding of another kind": lambda at: make.finding(
        Series.objects.get(mode__name="ipfw", variant=None),
        _named("r300006"),
        at,
        kind="excursion",
    ),
    "a finding less": lambda _: Finding.objects.all().delete(),
    "the noise of a series": lambda _: _conclude(
        noise=make.noise(build_pct=9.0) | {"measured_build_pct": 9.0, "measured_freedom": 5.0}
    ),
    "why nothing is reported": lambda at: _conclude(
        why_not="Too calm.", newest={"revision": {"position": at.position}}
    ),
    "a margin": lambda _: SeriesSettings.objects.create(
        series=Series.objects.get(mode__name="ipfw", variant=None), margin_pct=40.0
    ),
    "which way is better": lambda _: Series.objects.update(own_better="less"),
    "the levels of a chart": lambda at: _conclude(segments=[make.segment(at, at, 70.0)]),
    "the name of a machine": lambda _: Hardware.objects.update(display_name="The small one"),
    "whether a lab is simulated": lambda _: Lab.objects.update(simulated=True),
    "the name of a mode": lambda _: Mode.objects.filter(name="pf").update(workload="pf2"),
    "a unit": lambda _: Metric.objects.update(unit="frames/s"),
    "the name of a variant": lambda _: Variant.objects.update(name="patched twice"),
    "the name of a tree": lambda _: Tree.objects.update(name="renamed"),
    "the commit's subject": lambda at: Revision.objects.filter(pk=at.pk).update(subject="Another"),
    "another name of it": lambda at: RevisionAlias.objects.create(
        tree=at.tree, revision=at, name="also-called"
    ),
    "a tested neighbour": lambda _: _measure_later("r300900"),
    "the name of a neighbour": lambda _: Revision.objects.filter(name="r300003").update(name="r8"),
    "the name of a suspect": lambda _: Revision.objects.filter(name="r300006").update(name="r9"),
    "the subject of a neighbour": lambda _: Revision.objects.filter(name="r300012").update(
        subject="Another"
    ),
    "an untested commit before it": lambda _: make.revision("r300008"),
    "an alert more": lambda _: make.alert(_named("r300012"), after=_named("r300003")),
    "the state of an alert": lambda _: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
    "an alert less": lambda _: Alert.objects.all().delete(),
    "a release": lambda at: release("11.0", at),
    "an event": lambda at: event("new NIC", tree=at.tree, first=at, last=at),
    "a run": lambda at: make.run(at, in_mode="pf"),
}


@pytest.mark.django_db(transaction=False)
def test_what_changed_is_shown_at_once(client: Client, commit: Revision) -> None:
    """Each change in a transaction within that of the test, which is then taken back."""
    for what, change in CHANGES.items():
        _forget()
        before = _page(client, commit)
        assert _page(client, commit) == before, what
        with transaction.atomic():
            change(commit)
            changed = Revision.objects.get(pk=commit.pk)
            after = _page(client, changed)
            assert after != before, what
            _forget()
            assert _page(client, changed) == after, what
            transaction.set_rollback(True)


def test_nothing_is_judged_or_drawn_twice(
    client: Client, commit: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(name: str) -> None:
        judge = getattr(commit_body, name)

        def noted(*given: Any) -> Any:
            asked.append(name)
            return judge(*given)

        monkeypatch.setattr(commit_body, name, noted)

    note("judge_commit")
    note("tables")
    _page(client, commit)
    assert asked == ["judge_commit", "tables"]
    _page(client, commit)
    assert asked == ["judge_commit", "tables"]


def test_who_may_ask_for_jobs_has_links_that_a_stranger_does_not(
    client: Client, tess: Client, commit: Revision
) -> None:
    assert "Measure more" in _page(tess, commit)
    assert "Measure more" not in _page(Client(), commit)


def _forget() -> None:
    for kept in (BODIES, IMAGES, MEASURED, TABLES):
        kept.clear()


def _page(client: Client, commit: Revision) -> str:
    return client.get(commit.get_absolute_url()).content.decode()


def test_what_was_drawn_before_costs_three_statements_in_a_transaction(
    client: Client, commit: Revision, django_assert_num_queries: Any
) -> None:
    """The commit with its tree, what is beside it with the stamp, its neighbours."""
    _page(client, commit)
    with django_assert_num_queries(5):
        _page(client, commit)


def test_an_upload_elsewhere_on_the_tree_draws_no_table_anew(
    client: Client, commit: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _page(client, commit)
    monkeypatch.setattr(commit_body, "judge_commit", None)
    monkeypatch.setattr(commit_body, "tables", None)
    _measure_later("r300900")
    assert "r300900" not in before
    assert "r300900" in _page(client, commit)


@pytest.mark.parametrize("part", ["why", "findings"])
def test_what_is_opened_is_not_open_for_the_next(
    client: Client, commit: Revision, part: str
) -> None:
    before = _page(client, commit)
    client.get(commit.get_absolute_url(), {"part": part})
    assert _page(client, commit) == before
