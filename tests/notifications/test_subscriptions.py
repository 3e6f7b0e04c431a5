"""Which alerts fit which subscriptions."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from tests import make
from tests.kept import kept
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.merging.services import merge_hardware
from webapp.notifications.models import Subscription
from webapp.notifications.queries import matches
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db


@pytest.fixture
@kept
def alert() -> Alert:
    """pf on the Atom lost 11.4 %, forwarding on the Xeon gained 20 %, by mjg."""
    before, at = make.revisions(2)
    Revision.objects.filter(pk=at.pk).update(author_name="mjg", author_email="mjg@FreeBSD.org")
    made = Alert.objects.create(
        tree=at.tree,
        revision=at,
        after=before,
        likeliest=at,
        verdict="mixed",
        opened_at=make.DAY_ONE,
        updated_at=make.DAY_ONE,
    )
    make.finding(make.series(in_mode="pf"), before, at, alert=made)
    xeon = make.hardware("Xeon/T580")
    make.finding(make.series(on=xeon), before, at, alert=made, change_pct=20.0)
    return made


def fits(alert: Alert, **fields: Any) -> bool:
    made = make.subscription(
        make.user(f"u{Subscription.objects.count()}", email="x@example.org"), **fields
    )
    return bool(matches(Subscription.objects.filter(pk=made.pk), [alert.pk]))


def test_what_is_left_empty_means_any(alert: Alert) -> None:
    assert fits(alert)
    assert fits(alert, tree=alert.tree)
    assert not fits(alert, tree=make.tree("linux"))
    assert fits(alert, metric=make.metric())
    assert not fits(alert, metric=make.metric("latency", unit="s", better="less"))


def test_all_parts_must_fit_one_and_the_same_finding(alert: Alert) -> None:
    xeon, pf = make.hardware("Xeon/T580"), make.mode("pf")
    assert fits(alert, hardware=xeon)
    assert fits(alert, mode=pf)
    assert not fits(alert, hardware=xeon, mode=pf)
    assert fits(alert, hardware=xeon, severity=15)
    assert not fits(alert, mode=pf, severity=15)


def test_regressions_only_leaves_improvements_out(alert: Alert) -> None:
    assert fits(alert, direction="regressions", severity=11)
    assert not fits(alert, direction="regressions", severity=15)


def test_a_change_beyond_any_percentage_is_larger_than_any_severity(alert: Alert) -> None:
    Finding.objects.filter(verdict="worse").update(change_pct=None)
    assert fits(alert, severity=1000)


def test_the_author_is_matched_by_name_or_address_whatever_the_case(alert: Alert) -> None:
    assert fits(alert, author="MJG")
    assert fits(alert, author="mjg@freebsd.org")
    assert not fits(alert, author="mj")
    Revision.objects.update(author_name="", author_email="")
    assert not fits(alert, author="mjg")


def test_commits_of_mine_are_those_of_any_of_my_names(alert: Alert) -> None:
    ada = make.user("ada", email="ada@example.org", aliases=["someone", "mjg@FREEBSD.org"])
    mine = make.subscription(ada, mine=True)
    own = Subscription.objects.filter(pk=mine.pk)
    assert matches(own, [alert.pk])
    assert not fits(alert, mine=True)
    ada.aliases = []
    ada.email = "MJG@freebsd.org"
    ada.save()
    assert matches(own, [alert.pk])
    Revision.objects.update(author_name="", author_email="")
    ada.email = ""
    ada.aliases = [""]
    ada.save()
    assert not matches(own, [alert.pk])


def test_names_are_data_and_never_statements(alert: Alert) -> None:
    assert not fits(alert, author="' OR '1'='1")
    assert not fits(alert, author="%s %(x)s")


def test_a_name_is_given_once_and_a_severity_makes_sense() -> None:
    first = make.subscription()
    for fields in ({"name": "everything"}, {"name": "x", "severity": -1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            make.subscription(first.user, **fields)


def test_a_subscription_goes_along_when_its_hardware_is_merged(alert: Alert) -> None:
    old, new = make.hardware("Xeon/T580"), make.hardware("Xeon/T62100")
    subscription = make.subscription(hardware=old)
    merge_hardware(source=old, into=new)
    subscription.refresh_from_db()
    assert subscription.hardware == new
