"""What is drawn of a machine is kept no longer than all that it shows is the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.events.steps import event
from tests.results.steps import measured, upload
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Metric, Mode, Revision, Series, Tree

# The stamp of a series is the transaction that wrote it last: here each write has its own.
pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/hardware/Atom_C2758/T540-CR/"
UPLOADED = "/hardware/bench/nic/"


@pytest.fixture
def along() -> list[Revision]:
    """A series with a loss in its middle, an alert about it, and what the analysis says."""
    revisions = make.revisions(6)
    series = make.series(in_mode="pf")
    make.history(series, revisions, [100.0] * 3 + [90.0] * 3)
    found = make.finding(series, revisions[2], revisions[3])
    alert = make.alert(revisions[3], after=revisions[2])
    AlertFinding.objects.create(finding=found, alert=alert)
    make.analysis(series, count=6, noise=make.noise(run_pct=0.8))
    return revisions


def test_what_was_drawn_before_costs_eight_statements_whatever_is_drawn(
    client: Client, along: list[Revision], django_assert_max_num_queries: Any
) -> None:
    for name in ("ipfw", "forwarding", "fastforwarding"):
        make.history(make.series(in_mode=name), along, [100.0] * 6)
    client.get(PAGE)
    with django_assert_max_num_queries(8):
        client.get(PAGE)


CHANGES: dict[str, tuple[Callable[[list[Revision]], Any], str]] = {
    "a finding": (
        lambda along: make.finding(Series.objects.get(), along[3], along[4], change_pct=-33.3),
        "33.3",
    ),
    "its state": (lambda along: Finding.objects.update(state="candidate"), "1 candidate"),
    "its alert": (
        lambda along: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
        "acknowledged",
    ),
    "the analysis": (
        lambda along: SeriesAnalysis.objects.update(
            summary={"count": 6, "noise": make.noise(run_pct=7.7)}
        ),
        "noise: run 7.7 %",
    ),
    "an event": (
        lambda along: event(
            "new NIC", hardware=make.hardware(), tree=along[0].tree, first=along[1], last=along[2]
        ),
        "lab: ",
    ),
    "a metric": (lambda along: Metric.objects.update(unit="frames/s"), "frames/s"),
    "a mode": (lambda along: Mode.objects.update(workload="pf2"), "pf2"),
    "a tree": (lambda along: Tree.objects.update(name="renamed"), "along renamed"),
    "its direction": (lambda along: Series.objects.update(own_better="less"), "less is better"),
    "a series": (
        lambda along: make.history(make.series(in_mode="once"), along[:1], [5.0]),
        "Measured once or twice",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_shown_at_once(client: Client, along: list[Revision], what: str) -> None:
    change, shown = CHANGES[what]
    assert shown not in client.get(PAGE).content.decode()
    change(along)
    assert shown in client.get(PAGE).content.decode()


def test_a_new_point_is_drawn_at_once(client: Client) -> None:
    for number in range(3):
        upload(measured(f"r30000{number}"))
    before = client.get(UPLOADED).content.decode()
    assert client.get(UPLOADED).content.decode() == before
    upload(measured("r300009", 0.5))
    assert "r300009" not in before
    assert "r300009" in client.get(UPLOADED).content.decode()


def test_what_is_filtered_is_drawn_for_those_who_filter(
    client: Client, along: list[Revision]
) -> None:
    make.history(make.series(in_mode="ipfw"), along, [100.0] * 6)
    counts = [
        client.get(PAGE, {"q": asked}).content.decode().count('class="lane-head"')
        for asked in ("", "ipfw", "nothing", "")
    ]
    assert counts == [2, 1, 0, 2]
