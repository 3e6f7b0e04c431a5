"""A commit, and with it its author, is named only when it holds at least 80 % alone."""

import json
import re
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.kept import kept
from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.queries.suspicion import suspicion_of, suspicions_of, suspicions_of_findings
from webapp.alerts.services import note_bisect
from webapp.analysis.models import Finding
from webapp.notifications.models import Subscription
from webapp.notifications.queries import matches
from webapp.notifications.services import notify_events, payload_of, post_digests
from webapp.outbox.messages import compose
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.results.models import Revision, RevisionAlias
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
LAST, CULPRIT = "r115", "r135"
BETWEEN = 63


@pytest.fixture
@kept
def alert() -> Alert:
    """A loss seen at the last of 64 commits, each by somebody else, no other of them measured."""
    make.subscription(name="all")
    arrive(runs_of({("Atom/T540", "pf"): {15: 0.9}}))
    alert = Alert.objects.get()
    tree = alert.tree
    Revision.objects.filter(position__gte=115).update(position=F("position") + 1000)
    made = Revision.objects.bulk_create(
        Revision(
            tree=tree,
            name=f"r{115 + number}",
            position=115 + number,
            subject=f"Subject of {number}",
            author_name=f"author-{number}",
            parent_known=True,
        )
        for number in range(100, 100 + BETWEEN)
    )
    RevisionAlias.objects.bulk_create(
        RevisionAlias(tree=tree, revision=one, name=one.name) for one in made
    )
    Revision.objects.filter(name=LAST).update(
        subject="Subject of last", author_name="last-author", parent_known=True
    )
    return Alert.objects.with_revisions().get()


def commit_among(number: int) -> Revision:
    return Revision.objects.get(name=f"r{115 + number}")


def everything_shown(alert: Alert, client: Client) -> dict[str, str]:
    """Whatever is shown or sent of the alert, by where."""
    message = compose(Mail.objects.get(kind="alert.opened"))
    digest = make.subscription(Subscription.objects.get().user, "daily", cadence="daily")
    Subscription.objects.filter(pk=digest.pk).update(changed_at=make.DAY_ONE)
    post_digests(now=timezone.now() + timedelta(days=2))
    daily = compose(Mail.objects.get(kind="digest.daily"))
    event = alert.events.order_by("pk")[0]
    held = list(findings_of([alert]).with_subjects().with_revisions())
    payload = payload_of("alert.opened", event, alert, held, suspicion_of(alert))
    pages = {
        address: client.get(address).content.decode()
        for address in (
            "/",
            "/alerts/",
            f"/alerts/{alert.pk}/",
            "/feeds/freebsd-head.atom",
            f"/api/v1/alerts/{alert.pk}",
            "/api/v1/alerts",
            "/hardware/Atom/T540/",
            f"/commits/freebsd-head/r{115 + 120}/",
        )
    }
    return pages | {
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "digest": daily.text + daily.html + daily.subject,
        "webhook": json.dumps(payload),
    }


def test_no_author_is_named_while_64_commits_share_the_suspicion(
    alert: Alert, client: Client
) -> None:
    texts = everything_shown(alert, client)
    wrong = {where for where, text in texts.items() if "last-author" in text}
    assert wrong == set()
    by_author = {where for where, text in texts.items() if "author-1" in text}
    assert by_author <= {f"/commits/freebsd-head/r{115 + 120}/"}  # the page of that very commit


def test_the_number_of_suspects_stands_where_the_commit_would(alert: Alert, client: Client) -> None:
    texts = everything_shown(alert, client)
    among = "one of 64 commits after r114 up to r115"
    for where in ("subject", "text", "html", "digest", "/feeds/freebsd-head.atom"):
        assert among in texts[where], where
    assert "began after r114, at the latest here (64 known commits)" in texts["/"]
    for where in ("/alerts/", f"/alerts/{alert.pk}/", "/hardware/Atom/T540/"):
        assert "one of 64 commits" in " ".join(texts[where].split()), where
    assert (
        "Subject of last" not in texts["subject"] + texts["/"] + texts["/alerts/"] + texts["digest"]
    )
    answer = json.loads(texts[f"/api/v1/alerts/{alert.pk}"])
    assert (answer["commit"], answer["commits"]) == (None, 64)
    hook = json.loads(texts["webhook"])
    assert (hook["commit"], hook["commits"]) == (None, 64)


def test_the_page_of_an_untested_neighbour_calls_the_last_no_likelier(
    alert: Alert, client: Client
) -> None:
    page = " ".join(client.get(f"/commits/freebsd-head/r{115 + 120}/").content.decode().split())
    assert re.search(r"\d\d % sure that one of these 64 commits began the change", page)
    assert "ost likely" not in page
    assert "is likelier" not in page
    of_last = " ".join(client.get(f"/commits/freebsd-head/{LAST}/").content.decode().split())
    assert "ost likely" not in of_last


def test_a_commit_alone_between_two_measured_neighbours_is_named(alert: Alert) -> None:
    Revision.objects.filter(position__gt=200, position__lt=1000).delete()
    Revision.objects.filter(position__gt=1000).update(position=F("position") - 1000)
    one = suspicion_of(Alert.objects.with_revisions().get())
    assert one.commit is not None
    assert (one.commit.name, one.commits) == (LAST, 1)
    assert "by last-author" in compose(Mail.objects.get(kind="alert.opened")).text


def test_with_less_than_80_percent_nothing_is_named(alert: Alert) -> None:
    Revision.objects.filter(position__gt=200, position__lt=1000).delete()
    Revision.objects.filter(position__gt=1000).update(position=F("position") - 1000)
    Finding.objects.update(here=0.79, after=Revision.objects.get(name="r113"))
    Alert.objects.update(after=Revision.objects.get(name="r113"))
    assert suspicion_of(Alert.objects.with_revisions().get()).commit is None
    row = Finding.objects.with_revisions().get()
    assert suspicions_of_findings([row])[row.pk].commit is None
    Finding.objects.update(here=0.8)
    assert suspicion_of(Alert.objects.with_revisions().get()).commit is not None


def test_where_the_history_between_is_not_known_nothing_is_named(alert: Alert) -> None:
    Revision.objects.filter(position__gt=200, position__lt=1000).delete()
    Revision.objects.update(author_name="", subject="", parent_known=False)
    one = suspicion_of(Alert.objects.with_revisions().get())
    assert (one.commit, one.commits) == (None, None)
    text = compose(Mail.objects.get(kind="alert.opened")).text
    assert "since a commit after r114 up to r115" in text
    assert "None" not in text


def test_commits_are_not_counted_where_others_may_lie_between(alert: Alert, client: Client) -> None:
    Revision.objects.update(parent_known=False)
    texts = {
        where: " ".join(text.split()) for where, text in everything_shown(alert, client).items()
    }
    assert {where for where, text in texts.items() if "64 commits" in text} == set()
    answer, hook = json.loads(texts[f"/api/v1/alerts/{alert.pk}"]), json.loads(texts["webhook"])
    for found in (answer, hook):
        assert (found["commit"], found["commits"], found["known_revisions"]) == (None, None, 64)
    for where in texts.keys() - {"webhook", f"/api/v1/alerts/{alert.pk}", "/api/v1/alerts"}:
        assert "64 revisions known" in texts[where], where
    assert "% sure, 64 revisions known)" in texts[f"/alerts/{alert.pk}/"]


@pytest.mark.parametrize(("probability", "is_named"), [(0.79, False), (0.8, True)])
def test_what_a_bisect_named_counts_from_80_percent_on(
    alert: Alert, client: Client, probability: float, is_named: bool
) -> None:
    culprit = commit_among(121)
    note_bisect(alert=alert.pk, text="found", named=culprit, probability=probability)
    one = suspicion_of(Alert.objects.with_revisions().get())
    assert (one.commit == culprit) is is_named
    assert ("author-121" in client.get(f"/alerts/{alert.pk}/").content.decode()) is is_named
    assert ("by author-121" in compose(Mail.objects.get(kind="alert.opened")).text) is is_named


def test_an_author_is_notified_once_the_commit_is_named_and_not_before(alert: Alert) -> None:
    people = {
        name: make.subscription(
            make.user(name, email=f"{name}@example.org", aliases=[author]), mine=True
        )
        for name, author in (("innocent", "last-author"), ("guilty", "author-121"))
    }
    asking = Subscription.objects.filter(pk__in=[one.pk for one in people.values()])
    assert matches(asking, [alert.pk]) == []
    note_bisect(alert=alert.pk, text="found", named=commit_among(121), probability=0.97)
    notify_events()
    assert [match.subscription for match in matches(asking, [alert.pk])] == [people["guilty"].pk]
    notified = Mail.objects.filter(kind="alert.opened").values_list(
        "recipient__username", flat=True
    )
    assert sorted(notified) == ["ada", "guilty"]


def test_a_webhook_hears_of_no_commit_before_one_is_named() -> None:
    forget_names()
    Endpoint.objects.create(name="hook", url="http://127.0.0.1:9/", secret="s")
    runs = runs_of({("Atom/T540", "pf"): {15: 0.9}})
    for run in runs:
        run["revision"] = f"r{100 + 64 * (int(run['revision'][1:]) - 100)}"
    arrive(runs)
    [body] = [row.payload for row in HookDelivery.objects.all()][:1]
    assert (body["commit"], body["commits"], body["revision"]) == (None, None, "r1060")


def test_many_alerts_take_as_many_queries_as_one(
    alert: Alert, django_assert_num_queries: Any
) -> None:
    for before, at in pairwise(make.revisions(3, first=500_000)):
        other = Alert.objects.create(
            tree=at.tree,
            revision=at,
            after=before,
            likeliest=at,
            verdict="regression",
            opened_at=make.DAY_ONE,
            updated_at=make.DAY_ONE,
        )
        make.finding(make.series(in_mode="pf"), before, at, alert=other)
    alerts = list(Alert.objects.with_revisions())
    assert len(alerts) == 3
    with django_assert_num_queries(2):
        assert suspicions_of(alerts)[alert.pk].commits == 64
    findings = list(Finding.objects.with_revisions())
    with django_assert_num_queries(1):
        suspicions_of_findings(findings)
