"""The compare page reads points: it compares as samples do, in few statements."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.pages.conftest import Counted, words
from tests.results.steps import measured, upload
from webapp.analysis.queries import Side, as_points, compare_points, compare_sides
from webapp.results.models import Run
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
def test_three_statements_read_all_rows() -> None:
    with CaptureQueriesContext(connection) as captured:
        compare_points(SIDES)
    assert len(captured) == 3


@pytest.mark.usefixtures("both")
def test_the_page_takes_few_statements_however_long_histories_are(queries: Counted) -> None:
    few = queries(TWO)
    for number in range(2, 30):
        upload(measured(f"r{300_000 + number}", 990, mode={"workload": "pf"}))
    assert queries(TWO) == few <= 7


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
