"""What is drawn of a machine, and a trend chart, are kept while all they show is the same."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.events.steps import event, release
from tests.results.steps import measured, mode, upload
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Hardware, Metric, Mode, Revision, Series, Tree

# The stamp of a series is the transaction that wrote it last: here each write has its own.
pytestmark = pytest.mark.django_db(transaction=True)
MACHINE = "/hardware/Atom_C2758/T540-CR/"
TREND = "/trends/?hardware=Atom_C2758/T540-CR&mode=pf"


# In a transaction: two of the statements begin and end it.
@pytest.mark.parametrize(("page", "statements"), [(MACHINE, 8), (TREND, 6)])
def test_what_was_drawn_before_costs_few_statements_whatever_is_drawn(
    client: Client,
    loss: list[Revision],
    page: str,
    statements: int,
    django_assert_max_num_queries: Any,
) -> None:
    for name in ("ipfw", "forwarding", "fastforwarding"):
        make.history(make.series(in_mode=name), loss, [100.0] * 6)
    client.get(page)
    with django_assert_max_num_queries(statements):
        client.get(page)


def _summarised(**parts: Any) -> None:
    SeriesAnalysis.objects.update(summary={"count": 6, **parts})


def _disturbed(text: str, along: list[Revision]) -> None:
    event(text, hardware=make.hardware(), tree=along[0].tree, first=along[1], last=along[2])


CHANGES: dict[tuple[str, str], tuple[Callable[[list[Revision]], Any], str]] = {
    (MACHINE, "a finding"): (
        lambda along: make.finding(Series.objects.get(), along[3], along[4], change_pct=-33.3),
        "33.3",
    ),
    (MACHINE, "its state"): (lambda _: Finding.objects.update(state="candidate"), "1 candidate"),
    (MACHINE, "its alert"): (
        lambda _: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
        "acknowledged",
    ),
    (MACHINE, "the analysis"): (
        lambda _: _summarised(noise=make.noise(run_pct=7.7)),
        "noise: run 7.7 %",
    ),
    (MACHINE, "an event"): (lambda along: _disturbed("new NIC", along), "lab: "),
    (MACHINE, "a metric"): (lambda _: Metric.objects.update(unit="frames/s"), "frames/s"),
    (MACHINE, "a mode"): (lambda _: Mode.objects.update(workload="pf2"), "pf2"),
    (MACHINE, "a tree"): (lambda _: Tree.objects.update(name="renamed"), "along renamed"),
    (MACHINE, "its direction"): (
        lambda _: Series.objects.update(own_better="less"),
        "less is better",
    ),
    (MACHINE, "a series"): (
        lambda along: make.history(make.series(in_mode="once"), along[:1], [5.0]),
        "Measured once or twice",
    ),
    (TREND, "a finding"): (
        lambda along: make.finding(
            Series.objects.get(), along[3], along[4], why="A second change."
        ),
        "A second change.",
    ),
    (TREND, "its state"): (lambda _: Finding.objects.update(state="candidate"), ">candidate<"),
    (TREND, "its alert"): (
        lambda _: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
        "acknowl",
    ),
    (TREND, "the analysis"): (lambda _: _summarised(why_not="Too calm."), "Too calm."),
    (TREND, "an event"): (lambda along: _disturbed("new NIC", along), "new NIC"),
    (TREND, "a release"): (lambda along: release("11.0-RELEASE", along[2]), "11.0-RELEASE"),
    (TREND, "a metric"): (lambda _: Metric.objects.update(unit="frames/s"), "frames/s"),
    (TREND, "a tree"): (lambda _: make.tree("another-tree"), "another-tree"),
    (TREND, "a machine"): (lambda _: make.series(on=make.hardware("Xeon/X710")), "Xeon"),
    (TREND, "its name"): (lambda _: Hardware.objects.update(display_name="The grey"), "The grey"),
}


@pytest.mark.django_db(transaction=False)
def test_what_changed_is_shown_at_once(client: Client, loss: list[Revision]) -> None:
    """Each change in a transaction within that of the test, which is then taken back."""
    for (page, what), (change, shown) in CHANGES.items():
        assert shown not in client.get(page).content.decode(), (page, what)
        with transaction.atomic():
            change(loss)
            assert shown in client.get(page).content.decode(), (page, what)
            transaction.set_rollback(True)


@pytest.mark.parametrize("page", ["/hardware/bench/nic/", "/trends/"])
def test_a_new_point_is_drawn_at_once(client: Client, page: str) -> None:
    for number in range(3):
        upload(measured(f"r30000{number}"))
    before = client.get(page).content.decode()
    assert client.get(page).content.decode() == before
    upload(measured("r300009", 0.5))
    assert "r300009" not in before
    assert "r300009" in client.get(page).content.decode()


def test_what_is_filtered_is_drawn_for_those_who_filter(
    client: Client, loss: list[Revision]
) -> None:
    make.history(make.series(in_mode="ipfw"), loss, [100.0] * 6)
    counts = [
        client.get(MACHINE, {"q": asked}).content.decode().count('class="lane-head"')
        for asked in ("", "ipfw", "nothing", "")
    ]
    assert counts == [2, 1, 0, 2]


def test_the_version_of_a_series_shows_that_its_points_changed(
    client: Client, loss: list[Revision]
) -> None:
    before = client.get(TREND).content
    assert client.get(TREND).content == before
    Revision.objects.filter(pk=loss[0].pk).update(subject="Another subject")
    Series.objects.update(version=F("version") + 1)
    assert "Another subject" in client.get(TREND).content.decode()


def test_who_may_ask_for_jobs_gets_links_that_a_stranger_does_not(
    loss: object, client: Client, tess: Client
) -> None:
    assert "Measure more" in tess.get(TREND).content.decode()
    assert "Measure more" not in Client().get(TREND).content.decode()


def test_an_upload_to_one_series_has_its_own_points_read_and_no_menu(client: Client) -> None:
    upload(*(measured(f"r{n}", mode=mode(name)) for n in (10, 20) for name in ("pf", "ipfw")))
    page = "/trends/?mode=pf&mode=ipfw"
    client.get(page)
    upload(measured("r30", 1.5, mode=mode("pf")))
    with CaptureQueriesContext(connection) as statements:
        text = client.get(page).content.decode()
    assert ">150</span>" in text
    (points,) = (one["sql"] for one in statements if "uploads::text" in one["sql"])
    (asked,) = re.findall(r"unnest\('\{([\d,]*)\}'", points)
    assert asked == str(Series.objects.get(mode__name="pf").pk), points
    assert not [one for one in statements if 'FROM "results_metric"' in one["sql"]]
