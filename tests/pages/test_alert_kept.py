"""The cards of an alert are kept no longer than all that they show is the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from tests import make
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Hardware, Metric, Mode, Revision, Series

# The stamp of a row is the transaction that wrote it last: here each write has its own.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def address() -> str:
    """An alert of a loss in the middle of a series."""
    along = make.revisions(6)
    series = make.series(in_mode="pf")
    make.history(series, along, [100.0] * 3 + [90.0] * 3)
    found = make.finding(series, along[2], along[3])
    alert = make.alert(along[3], after=along[2])
    AlertFinding.objects.create(finding=found, alert=alert)
    make.analysis(series, count=6, segments=[make.segment(along[0], along[2], 100.0)])
    return alert.get_absolute_url()


def test_cards_drawn_before_cost_two_statements_less(
    client: Client, address: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(14) as first:
        client.get(address)
    with django_assert_max_num_queries(len(first) - 2):
        client.get(address)


def _rename(revision: Revision) -> None:
    """The versions of series tell of their revisions as well."""
    Revision.objects.filter(pk=revision.pk).update(name="r999999")
    Series.objects.update(version=F("version") + 1)


def _another_point() -> None:
    later = make.revision("r300900")
    make.history(Series.objects.get(), [later], [77.0])
    Series.objects.update(version=F("version") + 1)


CHANGES: dict[str, Callable[[], Any]] = {
    "its size": lambda: Finding.objects.update(change_pct=-33.3),
    "its level": lambda: Finding.objects.update(level=55.5),
    "its state": lambda: Finding.objects.update(state="one build"),
    "its probability": lambda: Finding.objects.update(probability=0.51),
    "the analysis": lambda: SeriesAnalysis.objects.update(summary={}),
    "a mode": lambda: Mode.objects.update(workload="pf2"),
    "a metric": lambda: Metric.objects.update(unit="frames/s"),
    "a machine": lambda: Hardware.objects.update(display_name="The small one"),
    "a point": _another_point,
    "a name": lambda: _rename(Revision.objects.get(name="r300006")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_drawn_at_once(client: Client, address: str, what: str) -> None:
    before = _cards(client, address)
    assert _cards(client, address) == before
    CHANGES[what]()
    assert _cards(client, address) != before


def test_what_no_longer_backs_it_is_gone_at_once(client: Client, address: str) -> None:
    assert 'class="panel evidence"' in client.get(address).content.decode()
    AlertFinding.objects.filter(alert=Alert.objects.get()).delete()
    page = client.get(address).content.decode()
    assert 'class="panel evidence"' not in page
    assert "Nothing backs it now" in page


def _cards(client: Client, address: str) -> str:
    page = client.get(address).content.decode()
    return page[page.index('<article class="panel evidence"') : page.rindex("</article>")]
