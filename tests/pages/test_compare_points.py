"""The compare page reads points: it compares as samples do, in few statements."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.events.steps import event
from tests.pages.conftest import Counted, words
from tests.results.steps import measured, upload
from webapp.analysis.models import SeriesAnalysis, SeriesSettings
from webapp.analysis.queries import (
    Side,
    as_points,
    compare_points,
    compare_sides,
    side_points,
)
from webapp.labs.models import Lab
from webapp.pages.compare import drawn
from webapp.pages.compare.compare import MATCHED
from webapp.pages.compare.drawn import DRAWN
from webapp.results.models import Hardware, Mode, Point, Revision, Run, Series, Tree
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
SIDES = [Side("freebsd-head", "r300000"), Side("freebsd-head", "r300001")]
TWO = "/compare/?a=freebsd-head:r300000&b=freebsd-head:r300001"


@pytest.fixture
def both() -> None:
    """Two revisions of one machine in three modes, uploaded as labs do."""
    forget_names()
    for number, revision in enumerate(("r300000", "r300001")):
        for mode, factor in (("forwarding", 1000 - 90 * number), ("pf", 500), ("ipfw", 70)):
            upload(measured(revision, factor, mode={"workload": mode}, build_id=f"b{number}"))


@pytest.mark.usefixtures("both")
def test_points_compare_as_samples_do() -> None:
    by_points, by_samples = compare_points(SIDES), as_points(compare_sides(SIDES))
    assert by_points is not None
    assert [row.mode for row in by_points.rows] == [row.mode for row in by_samples.rows]
    for ours, theirs in zip(by_points.rows, by_samples.rows, strict=True):
        (one,), (other,) = ours.judged, theirs.judged
        assert (one.verdict, one.label, one.units) == (other.verdict, other.label, other.units)
        assert one.percent == pytest.approx(other.percent)
        assert one.low == pytest.approx(other.low)
        assert one.df == pytest.approx(other.df)
        assert [point.n for point in ours.points] == [point.n for point in theirs.points]
        assert ours.base.mean == pytest.approx(theirs.base.mean)
    assert by_points.headline == by_samples.headline


@pytest.mark.usefixtures("both")
def test_all_rows_at_once_are_what_they_are_one_by_one() -> None:
    table = compare_sides(SIDES)
    at_once = as_points(table)
    for row, ours in zip(table.rows, at_once.rows, strict=True):
        (theirs,), (one,) = row.judged, ours.judged
        change = theirs.change
        assert (one.verdict, one.negligible) == (theirs.verdict, theirs.negligible)
        assert (one.one_build, one.builds_differ) == (theirs.one_build, theirs.builds_differ)
        assert (one.runs_disagree, one.unit) == (theirs.runs_disagree, change.unit)
        assert (one.units, one.build_noise) == (change.units, change.history)
        figures = one.percent, one.low, one.high, one.p
        known = change.percent, change.low, change.high, change.p
        assert figures == pytest.approx(known, rel=1e-12)
        assert one.df == (change.df and pytest.approx(change.df, rel=1e-12))


@pytest.mark.usefixtures("both")
def test_two_statements_read_all_rows() -> None:
    with CaptureQueriesContext(connection) as captured:
        compare_points(SIDES)
    assert len(captured) == 2


@pytest.mark.usefixtures("both")
def test_the_page_takes_few_statements_however_long_histories_are(queries: Counted) -> None:
    few = queries(TWO)
    for number in range(2, 30):
        upload(measured(f"r{300_000 + number}", 990, mode={"workload": "pf"}))
    assert queries(TWO) == few <= 6


def _conclude(**parts: Any) -> None:
    for row in SeriesAnalysis.objects.all():
        row.summary |= parts
        row.save()


LOST = {
    "since": {"position": 300_001},
    "is_slow": False,
    "change_pct": -19.0,
    "low_pct": -19.9,
    "high_pct": -18.1,
}
CHANGES: dict[str, Callable[[], Any]] = {
    "a point less": lambda: Point.objects.filter(series__mode__name="pf").first().delete(),
    "a run more": lambda: upload(measured("r300001", 470, mode={"workload": "pf"}, build_id="b2")),
    "the noise of a series": lambda: _conclude(
        noise=make.noise(build_pct=9.0) | {"measured_build_pct": 9.0, "measured_freedom": 5.0}
    ),
    "what is lost today": lambda: _conclude(net_loss=LOST),
    "a margin": lambda: SeriesSettings.objects.create(
        series=Series.objects.get(mode__name="forwarding"), margin_pct=40.0
    ),
    "which way is better": lambda: Series.objects.update(own_better="less"),
    "the name of a machine": lambda: Hardware.objects.update(display_name="The small one"),
    "whether a lab is simulated": lambda: Lab.objects.update(simulated=True),
    "the name of a mode": lambda: Mode.objects.filter(name="pf").update(name="pf2"),
    "a commit's subject": lambda: Revision.objects.update(subject="Another"),
    "an event that begins an epoch": lambda: event(
        hardware=Hardware.objects.get(),
        tree=Tree.objects.get(),
        first=(at := Revision.objects.get(name="r300001")),
        last=at,
        begins_epoch=True,
    ),
}


def _forget() -> None:
    for kept in (MATCHED, DRAWN):
        kept.clear()


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_shown_at_once(client: Client, what: str) -> None:
    for one in Series.objects.all():
        make.analysis(one, count=2)
    _forget()
    before = client.get(TWO).content
    assert client.get(TWO).content == before
    CHANGES[what]()
    after = client.get(TWO).content
    assert after != before
    _forget()
    assert client.get(TWO).content == after


@pytest.mark.usefixtures("both")
def test_what_is_the_same_is_neither_judged_nor_drawn_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = client.get(TWO).content
    in_other_order = client.get(f"{TWO}&order=mode").content
    monkeypatch.setattr(side_points, "judge_pairs", None)
    monkeypatch.setattr(drawn, "rows_html", None)
    assert client.get(TWO).content == before
    assert client.get(f"{TWO}&order=mode").content == in_other_order != before


@pytest.mark.usefixtures("both")
def test_a_session_is_shown_by_samples_alone() -> None:
    assert compare_points([SIDES[0], Side("freebsd-head", "r300001", session="x")]) is None


@pytest.mark.usefixtures("both")
def test_as_of_a_moment_the_page_shows_what_had_arrived_by_then(client: Client) -> None:
    Run.objects.update(received_at=make.DAY_ONE)
    upload(measured("r300001", 2000, mode={"workload": "pf"}, build_id="later"))
    now = client.get(TWO)
    then = client.get(f"{TWO}&asof=2026-01-02T00:00:00Z")
    assert now.context["asof"] is None
    assert "runs that had been received by then" in words(then.content.decode())
    ns = [
        {row.mode: row.points[1].n for row in one.context["table"].rows}["pf"]
        for one in (now, then)
    ]
    assert ns[0] == 2 * ns[1]
    text = client.get(f"/compare.txt?{TWO.partition('?')[2]}&asof=2026-01-02T00:00:00Z")
    assert text.content.count(b"+ r300001 pf\n") == 1
    assert client.get(f"/compare.txt?{TWO.partition('?')[2]}").content != text.content


@pytest.mark.usefixtures("both")
def test_as_of_before_everything_nothing_was_measured(client: Client) -> None:
    page = client.get(f"{TWO}&asof=1999-01-01T00:00:00Z")
    assert "nothing was measured on every side" in words(page.content.decode())


@pytest.mark.parametrize(("builds", "is_shared"), [("{machine}-{build}", False), ("{build}", True)])
def test_points_know_as_samples_do_which_builds_are_on_several_machines(
    builds: str, is_shared: bool
) -> None:
    """Two builds a side on two machines: one that is on both makes the mean less sure."""
    forget_names()
    for machine in ("a/nic", "b/nic"):
        for number, revision in enumerate(("r300000", "r300001")):
            for build in range(2):
                name = builds.format(machine=machine, build=f"{revision}-{build}")
                factor = 1000 - 90 * number + 3 * build
                upload(measured(revision, factor, hardware=machine, build_id=name))
    by_points, by_samples = compare_points(SIDES), as_points(compare_sides(SIDES))
    assert by_points is not None
    (ours,), (theirs,) = by_points.modes, by_samples.modes
    assert (ours.across.mean, theirs.across.mean) != (None, None)
    assert ours.across.mean == theirs.across.mean
    first, second = (row.judged[0].builds for row in by_points.rows)
    assert first is not None
    assert second is not None
    assert len(first) == len(second) == 4
    assert (first == second, bool(first & second)) == (is_shared, is_shared)
