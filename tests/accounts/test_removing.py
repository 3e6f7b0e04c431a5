"""Removing a person erases who that was, everywhere, and keeps what was done."""

import io
from datetime import timedelta

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests import make
from webapp.accounts.models import AuditEntry, User
from webapp.accounts.services import save_view
from webapp.labs.models import Lab
from webapp.notifications.models import Subscription
from webapp.outbox.models import Mail
from webapp.results.commit_documents import CommitDocument
from webapp.results.models import Revision
from webapp.results.services.history import import_revisions

pytestmark = pytest.mark.django_db
NAMES = ("lovelace", "countess", "analytical")


@pytest.fixture
def ada() -> User:
    """Somebody who acted, committed, subscribed and was mailed; an operator remains."""
    make.user("op", role=User.Role.OPERATOR)
    user = make.user(
        "lovelace",
        role=User.Role.OPERATOR,
        email="lovelace@example.org",
        first_name="Augusta",
        last_name="Lovelace-King",
        aliases=["Countess@Example.net", "Analytical Ada"],
    )
    lab = Lab.objects.create(name="netlab")
    lab.contacts.add(user)
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(user)
    client.post(f"/labs/{lab.pk}/quota/", {"runs": "7"})
    make.subscription(user, "lovelace's own")
    save_view(owner=user, name="lovelace's view", address="/trends/?tree=x")
    Mail.objects.create(
        recipient=user,
        kind="alert.opened",
        about="alert:1",
        due=timezone.now() + timedelta(days=1),
        address="lovelace@example.org",
    )
    import_revisions(tree_name="freebsd-head", commits=[commit("r1"), *others()])
    return user


def commit(name: str) -> CommitDocument:
    return CommitDocument(
        where="line 1",
        revision=name,
        position=int(name[1:]),
        author_name="A. Lovelace-King",
        author_email="countess@example.net",
        subject="Weave algebraical patterns",
        message="Weave\n\nReviewed by: Analytical Ada\nSigned-off-by: A. L <Lovelace@example.org>",
    )


def others() -> list[CommitDocument]:
    return [
        CommitDocument(
            where="line 2",
            revision="r2",
            position=2,
            author_name="Charles",
            author_email="charles@example.org",
            subject="Cog",
            message="Cog\n\nSigned-off-by: Charles <charles@example.org>",
        )
    ]


def tables_that_name() -> set[str]:
    """Every table that holds one of the names in any column."""
    found = set()
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            table = model._meta.db_table
            cursor.execute(
                f'SELECT count(*) FROM "{table}" AS one WHERE one::text ~* %s', ["|".join(NAMES)]
            )
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def remove(*arguments: str) -> list[str]:
    output = io.StringIO()
    call_command("remove_person", *arguments, stdout=output)
    return output.getvalue().splitlines()


def test_no_table_holds_a_name_and_what_was_done_stays(ada: User) -> None:
    named = {"accounts_user", "results_revision", "outbox_mail", "notifications_subscription"}
    assert tables_that_name() >= named
    done = AuditEntry.objects.filter(person=ada).count()
    assert done
    lines = remove("lovelace")
    assert tables_that_name() == set()
    assert "Stays, under a number: 1 user" in lines
    assert not Subscription.objects.exists()
    assert not Mail.objects.exists()
    entries = AuditEntry.objects.filter(person=ada.pk)
    assert entries.count() == done
    assert {(one.who, one.origin) for one in entries} == {(f"removed-{ada.pk}", "")}
    first, second = Revision.objects.order_by("position")
    assert (first.author_name, first.author_email) == (f"removed-{ada.pk}", "")
    assert "Reviewed by: removed-" in first.message
    assert (second.author_name, second.message.count("charles@example.org")) == ("Charles", 1)


def test_a_later_import_brings_no_name_back(ada: User) -> None:
    remove("lovelace")
    import_revisions(tree_name="freebsd-head", commits=[commit("r1"), commit("r3")])
    for revision in Revision.objects.filter(name__in=["r1", "r3"]):
        assert (revision.author_name, revision.author_email) == (f"removed-{ada.pk}", "")
        assert f"Signed-off-by: removed-{ada.pk}" in revision.message


def test_a_dry_run_changes_nothing_and_states_what_would_go(ada: User) -> None:
    before = tables_that_name()
    lines = remove("lovelace", "--dry-run")
    assert tables_that_name() == before
    assert lines[-1] == "Nothing was changed: this was a dry run."
    assert lines[:-1] == [
        "Goes: 1 saved view",
        "Stays, under a number: 1 user",
        "Goes: 1 lab-user relationship",
        "Goes: 1 subscription",
        "Goes: 1 mail",
        "Stays, under a number: 2 revisions",
    ]


def test_an_author_without_an_account_is_removed_too() -> None:
    import_revisions(tree_name="freebsd-head", commits=others())
    remove("--author", "Charles@example.org")
    revision = Revision.objects.get()
    assert revision.author_name.startswith("removed-")
    assert "charles" not in revision.message.lower()


def test_who_was_removed_does_not_sign_in(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    remove("lovelace")
    assert client.get("/account/").status_code == 302
    with pytest.raises(CommandError, match="Nobody signs in as 'lovelace'"):
        remove("lovelace")
    with pytest.raises(CommandError, match="Give the name of an account, or --author"):
        remove()
