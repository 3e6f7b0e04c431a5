"""What an alert holds, and its cards, are kept no longer than all that they show is the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.test import Client

from tests import make
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.labs.models import Lab
from webapp.pages.alerts.alert import CARDS_DRAWN, MEMBERS
from webapp.results.models import Hardware, Metric, Mode, Revision, Series, Tree

# The stamp of a row is the transaction that wrote it last: here each write has its own.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    _forget()


@pytest.fixture
def address(loss: list[Revision]) -> str:
    """An alert of a loss in the middle of a series."""
    return Alert.objects.get().get_absolute_url()


def test_what_was_drawn_before_costs_three_statements_less(
    client: Client, address: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(14) as first:
        client.get(address)
    with django_assert_max_num_queries(len(first) - 3):
        client.get(address)


def _rename(revision: Revision) -> None:
    """The versions of series change with their revisions as well."""
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


def _another_finding(**fields: Any) -> None:
    """One of a series that the alert held nothing of."""
    along = list(Revision.objects.order_by("position"))
    series = make.series(in_mode="ipfw")
    make.history(series, along, [100.0] * 3 + [80.0] * 3)
    make.finding(series, along[2], along[3], alert=Alert.objects.get(), **fields)


MORE: dict[str, Callable[[], Any]] = {
    "a finding more": lambda: _another_finding(change_pct=-20.0),
    "one for the better": lambda: _another_finding(change_pct=20.0),
    "a finding less": lambda: AlertFinding.objects.all().delete(),
    "a finding that recovered": lambda: Finding.objects.update(
        state="recovered", recovered_by=Revision.objects.get(name="r300015")
    ),
    "one that is live no more": lambda: Finding.objects.update(state="candidate"),
    "how sure it is of its place": lambda: Finding.objects.update(here=0.31),
    "which way is better": lambda: Series.objects.update(own_better="less"),
    "whether a lab is simulated": lambda: Lab.objects.update(simulated=True),
    "the name of a tree": lambda: Tree.objects.update(name="renamed"),
    "its state": lambda: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
    "the author of its commit": lambda: Revision.objects.update(author_name="Another"),
    "the subject of its commit": lambda: Revision.objects.update(subject="Another"),
    "a commit between": lambda: make.revision("r300008"),
}


@pytest.mark.django_db(transaction=False)
def test_what_changed_is_shown_and_drawn_at_once(client: Client, address: str) -> None:
    """Each change in a transaction within that of the test, which is then taken back."""
    for what, change in [*CHANGES.items(), *MORE.items()]:
        _forget()
        before = _page(client, address)
        assert _page(client, address) == before, what
        with transaction.atomic():
            change()
            after = _page(client, address)
            assert after != before, what
            if change in CHANGES.values():
                assert _cards(after) != _cards(before), what
            _forget()
            assert _page(client, address) == after, what
            transaction.set_rollback(True)


@pytest.mark.parametrize("show", ["findings", "others"])
def test_what_is_opened_is_about_the_same_findings(client: Client, address: str, show: str) -> None:
    before = _page(client, address)
    opened = client.get(address, {"show": show}).content
    _forget()
    assert client.get(address, {"show": show}).content == opened
    assert _page(client, address) == before


def test_who_may_act_is_shown_how_and_a_stranger_is_not(
    client: Client, tess: Client, address: str
) -> None:
    assert "csrfmiddlewaretoken" in _page(tess, address)
    assert "csrfmiddlewaretoken" not in _page(Client(), address)


def test_what_no_longer_backs_it_is_gone_at_once(client: Client, address: str) -> None:
    assert 'class="panel evidence"' in client.get(address).content.decode()
    AlertFinding.objects.filter(alert=Alert.objects.get()).delete()
    page = client.get(address).content.decode()
    assert 'class="panel evidence"' not in page
    assert "Nothing backs it now" in page


def _forget() -> None:
    for kept in (CARDS_DRAWN, MEMBERS):
        kept.clear()


def _page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def _cards(page: str) -> str:
    return page[page.index('<article class="panel evidence"') : page.rindex("</article>")]
