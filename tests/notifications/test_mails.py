"""What the mails about alerts state."""

from datetime import timedelta

import pytest
from django.core.mail import EmailMultiAlternatives
from django.db.models import F
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.approved import Approvals, read_mail
from tests.kept import kept
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services import resolve
from webapp.analysis.models import Finding
from webapp.notifications.models import Subscription
from webapp.outbox.messages import Message, NothingToSay, NotYet, compose
from webapp.outbox.models import Mail
from webapp.results.models import Revision
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
LINES_MAX = 60


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


@pytest.fixture
@kept
def backoff() -> Alert:
    """r303643 as it was: forwarding and ipfw gained, pf lost; openvpn shows nothing."""
    make.subscription(name="all of it")
    places = {
        (ATOM, "forwarding"): {15: 1.8},
        (ATOM, "ipfw-statefull"): {15: 1.2},
        (ATOM, "pf-statefull"): {15: 0.88},
        (XEON, "pf-statefull"): {},
    }
    arrive(runs_of(places, first=303_628))
    alert = Alert.objects.get()
    Revision.objects.filter(pk=alert.likeliest_id).update(
        author_name="mjg", subject="Implement trivial backoff for locking primitives in the kernel"
    )
    return alert


def mail_of(alert: Alert, kind: str = "alert.opened") -> Mail:
    return Mail.objects.get(kind=kind, about=f"alert:{alert.pk}")


def message_of(alert: Alert, kind: str = "alert.opened") -> Message:
    return compose(mail_of(alert, kind))


def test_a_commit_of_which_nothing_is_known_is_named_by_its_id(backoff: Alert) -> None:
    Revision.objects.update(author_name="", subject="")
    message = message_of(backoff)
    assert " by r303643 (" in message.subject
    assert '"' not in message.subject
    assert " by  " not in message.text


def test_a_mail_of_gains_and_a_loss_reads_as_approved_and_is_drawn_from_zero(
    backoff: Alert, approved: Approvals
) -> None:
    message = message_of(backoff)
    approved("mails/alert.opened-mixed", read_mail(message.subject, message.text, message.html))
    assert "% pf-statefull on Atom T540 by r303643 " in message.subject
    assert len(message.text.splitlines()) < LINES_MAX
    assert "\n\n\n" not in message.text
    lines = [line for line in message.text.splitlines() if "█" in line]
    assert [line.split()[0] for line in lines] == ["pf-statefull", "forwarding", "ipfw-statefull"]
    lost, gained, _ = (line.split()[1] for line in lines)
    assert lost[:13] == "█" * 13
    assert set(lost[13:]) == {"▇"}  # 12 % less: seven eighths
    assert set(gained[13:]) == {"█"}
    assert lost[:13] in message.html


def test_a_mail_in_html_escapes_names_and_loads_nothing(backoff: Alert) -> None:
    Revision.objects.filter(pk=backoff.likeliest_id).update(
        subject="<script>alert(1)</script> & co"
    )
    message = message_of(backoff)
    assert "<script" not in message.html
    assert "&lt;script&gt;" in message.html
    assert "<script>alert(1)</script> & co" in message.text
    assert "<img" not in message.html
    assert "url(" not in message.html
    assert "<link" not in message.html


def test_awkward_names_stay_in_one_header_line(backoff: Alert) -> None:
    evil = "a\r\nBcc: all@example.org\u2028\x00 Ünï\tcode " + "x" * 200
    Revision.objects.filter(pk=backoff.likeliest_id).update(subject=evil.replace("\x00", ""))
    make.hardware(ATOM)
    subject = message_of(backoff).subject
    assert len(subject) <= 250
    assert len(subject.splitlines()) == 1
    assert EmailMultiAlternatives(subject, "body", "a@b.org", ["c@d.org"]).message()["Subject"]


def test_a_change_beyond_any_percentage_is_stated_in_words(backoff: Alert) -> None:
    Finding.objects.filter(verdict="worse").update(change_pct=None, low_pct=None, high_pct=None)
    message = message_of(backoff)
    assert "worse pf-statefull on Atom T540" in message.subject
    assert "changed beyond any percentage" in message.text
    assert "None" not in message.text + message.html
    assert "nan" not in message.text


def test_commits_that_share_a_step_share_its_chance(backoff: Alert) -> None:
    """A commit that nobody measured lies before the likeliest: which of the two is not known."""
    Revision.objects.filter(position__gte=303_643).update(position=F("position") + 1000)
    make.revision("r303999", of=backoff.tree, subject="Another")
    Revision.objects.update(parent_known=True)
    message = message_of(backoff)
    assert "by one of 2 commits after r303642 up to r303643 (" in message.subject
    assert message.text.partition("Suspects, ")[2].splitlines()[:3] == [
        "after r303642:",
        "  r303999 Another",
        "  r303643 Implement trivial backoff for locking primitives in the kernel",
    ]


def test_a_large_alert_stays_under_sixty_lines() -> None:
    make.subscription()
    places = {
        (hardware, f"mode-{number}"): {15: 0.9}
        for number in range(5)
        for hardware in (ATOM, XEON, "Celeron/I350", "Opteron/T520")
    }
    arrive(runs_of(places))
    alert = Alert.objects.get()
    Revision.objects.bulk_create(
        Revision(tree=alert.tree, name=f"h{number}", position=10**9 + number)
        for number in range(30)
    )
    Revision.objects.filter(pk=alert.revision_id).update(position=10**9 + 50)
    text = message_of(Alert.objects.get()).text
    assert "more: see the alert" in text
    assert "others before the last of these" in text
    assert len(text.splitlines()) < LINES_MAX


def test_of_very_many_suspects_all_are_counted_and_the_likeliest_is_named(backoff: Alert) -> None:
    tree, place = backoff.tree, backoff.after.position
    Revision.objects.filter(tree=tree, position__gt=place).update(position=F("position") + 10**6)
    Revision.objects.bulk_create(
        Revision(tree=tree, name=f"h{number}", position=place + number) for number in range(1, 301)
    )
    Revision.objects.update(parent_known=True)
    Alert.objects.update(likeliest=Revision.objects.get(name="h7"))
    message = message_of(Alert.objects.get())
    suspects = Revision.objects.between(backoff.after, backoff.revision).count() + 1
    assert f"one of {suspects} commits after r303642 up to r303643 (95%)" in message.subject
    Finding.objects.update(probability=0.9)
    assert "up to r303643 (86%)" in message_of(Alert.objects.get()).subject, "real and there"
    listed = message.text.partition("Suspects, ")[2].splitlines()
    assert listed[1] == f"  … {suspects - 6} others before the last of these"
    assert listed[2].strip() == "h7"
    assert len(listed[2:8]) == 6


def test_what_is_settled_already_is_not_mailed(backoff: Alert) -> None:
    mail = mail_of(backoff)
    user = mail.recipient
    resolve(alert=backoff.pk, actor=user, version=backoff.version, resolution="expected")
    with pytest.raises(NothingToSay, match="resolved"):
        compose(mail)


def test_who_switched_the_subscription_off_is_not_mailed(backoff: Alert) -> None:
    Subscription.objects.update(enabled=False)
    with pytest.raises(NothingToSay, match="switched off"):
        message_of(backoff)


def test_another_subscription_that_fits_stands_in_for_one_that_is_gone(backoff: Alert) -> None:
    gone = Subscription.objects.get()
    make.subscription(gone.user, "pf of Xeon", hardware=make.hardware(XEON))
    make.subscription(gone.user, "losses", direction="regressions")
    gone.delete()
    assert "subscription “losses” (regressions only)" in message_of(backoff).text


def follow_up(alert: Alert, kind: str, *, opened: str = "sent") -> Message:
    first = mail_of(alert)
    first.state = opened
    first.composed_at = timezone.now() - timedelta(hours=1)
    first.save()
    data = {**first.data, "at": timezone.now().isoformat()}
    return compose(
        Mail.objects.create(
            recipient=first.recipient, kind=kind, about=first.about, data=data, due=timezone.now()
        )
    )


def test_nothing_follows_a_mail_that_was_never_sent(backoff: Alert) -> None:
    Alert.objects.update(is_active=False, state="resolved", resolution="retracted")
    with pytest.raises(NothingToSay, match="no longer show"):
        message_of(backoff)
    with pytest.raises(NothingToSay, match="was not sent"):
        follow_up(backoff, "alert.retracted", opened="dropped")


def test_what_follows_waits_for_a_first_mail_that_was_composed_and_refused_for_now(
    backoff: Alert,
) -> None:
    """It will be sent as it was composed, so the retraction must not be left out."""
    due = timezone.now() + timedelta(minutes=30)
    Mail.objects.update(due=due)
    Alert.objects.update(is_active=False, state="resolved", resolution="retracted")
    with pytest.raises(NotYet, match="which waits") as waits:
        follow_up(backoff, "alert.retracted", opened="waiting")
    assert waits.value.until == due


def test_a_second_move_is_reported_though_the_first_was_in_the_first_mail(backoff: Alert) -> None:
    first, now = mail_of(backoff), timezone.now()
    Mail.objects.update(state="sent", composed_at=now - timedelta(minutes=5))
    data = {**first.data, "at": (now - timedelta(minutes=9)).isoformat()}
    moved = Mail(
        recipient=first.recipient, kind="alert.moved", about=first.about, data=data, due=now
    )
    move = {"alert": backoff, "kind": "moved", "version": 2}
    AlertEvent.objects.create(at=now - timedelta(minutes=9), **move)
    with pytest.raises(NothingToSay, match="in the first mail"):
        compose(moved)
    AlertEvent.objects.create(at=now, reason="from r303640 to r303643", **move)
    assert "from r303640 to r303643" in compose(moved).text


def test_a_recovery_that_did_not_last_is_not_reported(backoff: Alert) -> None:
    with pytest.raises(NothingToSay, match="no longer recovered"):
        follow_up(backoff, "alert.recovered")
