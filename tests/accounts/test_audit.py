"""The audit log: who changed what, written with the change and never changed."""

import getpass
import io
import json
import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import make
from tests.results.steps import measured, upload
from webapp.accounts.models import AuditEntry, User
from webapp.accounts.services import audit
from webapp.config import audited
from webapp.config.audited import command_acting
from webapp.labs import services
from webapp.labs.models import Lab
from webapp.notifications.models import Subscription
from webapp.results.models import Hardware

pytestmark = pytest.mark.django_db


def by(name: str) -> Any:
    actor = audit.other_acting("command", name, action=name, origin="root")
    return audit.acting(lambda: actor)


def entries() -> list[tuple[str, str, str, Any, Any]]:
    found = AuditEntry.objects.order_by("pk")
    return [(one.actor, one.operation, one.subject, one.before, one.after) for one in found]


def test_a_change_is_an_entry_with_what_was_before_and_after() -> None:
    Lab.objects.create(name="before anybody acts")
    with by("one"):
        lab = Lab.objects.create(name="netlab")
        Lab.objects.filter(pk=lab.pk).update(description="in the cellar")
        Lab.objects.filter(pk=lab.pk).update(description="in the cellar")
        lab.delete()
    Lab.objects.update(description="nobody acts any more")
    assert [(*row[:3], row[3] and row[3].get("description")) for row in entries()] == [
        ("one", "insert", "labs_lab", None),
        ("one", "update", "labs_lab", ""),
        ("one", "delete", "labs_lab", "in the cellar"),
    ]
    assert entries()[1][3:] == ({"description": ""}, {"description": "in the cellar"})


def test_a_change_that_is_rolled_back_leaves_no_entry_and_the_next_has_its_actor() -> None:
    with by("one"):
        with transaction.atomic():
            Lab.objects.create(name="never")
            transaction.set_rollback(True)
        with transaction.atomic():
            Lab.objects.create(name="netlab")
    assert [row[:3] for row in entries()] == [("one", "insert", "labs_lab")]


@pytest.mark.django_db(transaction=True)
def test_a_change_in_a_transaction_of_its_own_has_its_actor() -> None:
    with by("one"):
        Lab.objects.create(name="netlab")
    Lab.objects.create(name="nobody's")
    assert [row[:3] for row in entries()] == [("one", "insert", "labs_lab")]


def test_a_statement_about_many_rows_is_one_entry() -> None:
    with by("one"):
        Lab.objects.bulk_create(
            Lab(name=f"lab {number}") for number in range(audited.MOST_ROWS + 1)
        )
    (entry,) = AuditEntry.objects.all()
    assert (entry.number, entry.row_key, entry.after) == (audited.MOST_ROWS + 1, "", None)


def test_the_log_holds_no_secret_and_no_name_of_a_person() -> None:
    user = make.user("ada.lovelace", email="ada@example.org", role=User.Role.TRIAGER)
    with by("one"):
        user.set_password("difference-engine")
        user.email, user.role = "countess@example.org", User.Role.OPERATOR
        user.save()
    (entry,) = AuditEntry.objects.all()
    assert entry.after["role"] == "operator"
    assert entry.after["email"] == entry.before["email"] == "(not kept)"
    text = json.dumps([entry.before, entry.after])
    for secret in ("ada", "countess", user.password):
        assert secret not in text


NO_SECRETS = {
    "accounts.User.single_keys": "whether pages listen to keys",
    "jobs.Job.build_key": "which kernel is built, made of names that all may read",
    "results.PoolingDecision.key": "which point it is about",
    "results.Run.session": "the name of a benchmark's session, which is in its address",
    "experiments.Side.session": "the same",
}
"""Columns of the log named like secrets that are none, with the reason."""


def test_every_column_named_like_a_secret_is_hidden_or_known_to_be_none() -> None:
    named = re.compile(r"token|secret|password|digest|hash|(?:^|_)(?:key|code|session)s?(?:_|$)")
    shown = {
        f"{model._meta.label}.{field.column}"
        for model in audited.audited()
        for field in model._meta.local_fields
        if named.search(field.column) and field.column not in audited.HIDDEN
    }
    assert shown == NO_SECRETS.keys()


def test_the_address_of_a_feed_is_not_in_the_log() -> None:
    user = make.user("ada", role=User.Role.TRIAGER)
    with by("one"):
        feed = Subscription.objects.create(user=user, changed_at=timezone.now())
        feed.delete()
    assert [(row[1], (row[3] or row[4])["feed_token"]) for row in entries()] == [
        ("insert", "(not kept)"),
        ("delete", "(not kept)"),
    ]


def test_no_entry_is_changed_or_removed() -> None:
    with by("one"):
        Lab.objects.create(name="netlab")
    for change in (
        lambda: AuditEntry.objects.update(actor="somebody else"),
        lambda: AuditEntry.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError, match="only added to"), transaction.atomic():
            change()
    assert len(entries()) == 1


def test_entries_go_by_age_alone_and_never_within_30_days() -> None:
    insert = (
        "INSERT INTO accounts_auditentry (at, kind, actor, origin, action, operation, subject,"
        " row_key) SELECT now() - make_interval(days => age), 'command', age::text, '', '',"
        " 'event', '', '' FROM unnest(ARRAY[10, 40, 2000]) AS age"
    )
    with connection.cursor() as cursor:
        cursor.execute(insert)
    assert audit.prune_entries(days=1095, most=100) == 1
    assert audit.prune_entries(days=1, most=100) == 1
    assert [row[0] for row in entries()] == ["10"]
    call_command("prune")


def test_every_table_of_ours_is_in_the_log_or_named_with_the_reason() -> None:
    names = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    assert audited.LEFT_OUT.keys() <= names
    assert all(audited.LEFT_OUT.values())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, count(*) FROM pg_trigger"
            " WHERE tgname LIKE 'driftline\\_audit\\_%' AND tgname <> 'driftline_audit_guard'"
            " GROUP BY 1"
        )
        triggers = dict(cursor.fetchall())
    assert triggers == {model._meta.db_table: 3 for model in audited.audited()}


def test_a_form_is_logged_with_the_person_the_page_and_the_address(client: Client) -> None:
    user = make.user("op", role=User.Role.OPERATOR)
    lab = Lab.objects.create(name="netlab")
    client.force_login(user)
    assert AuditEntry.objects.get().action == "signed in"
    client.post(f"/labs/{lab.pk}/quota/", {"runs": "7"}, REMOTE_ADDR="192.0.2.7")
    entry = AuditEntry.objects.filter(subject="labs_labquota").get()
    assert (entry.kind, entry.person, entry.origin) == ("person", user, "192.0.2.7")
    assert (entry.action, entry.after["most_runs"]) == ("lab_quota", 7)


def test_a_token_is_named_where_an_agent_changes_what_people_change() -> None:
    agent = make.agent("control")
    text = services.issue_token(agent=agent).text
    client = Client(headers={"Authorization": f"Bearer {text}"})
    body = json.dumps({"name": "Atom/T540"})
    answer = client.post("/api/v1/hardware", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    entry = AuditEntry.objects.get(subject=Hardware._meta.db_table)
    assert (entry.kind, entry.action) == ("token", "POST /api/v1/hardware")
    assert entry.actor.startswith(f"{agent} dl_")
    assert text not in entry.actor


def test_measuring_is_not_logged() -> None:
    upload(measured("r300001"))
    assert entries() == []


def test_the_actor_is_one_statement_a_transaction() -> None:
    with by("one"), CaptureQueriesContext(connection) as caught, transaction.atomic():
        for number in range(3):
            Lab.objects.create(name=f"lab {number}")
    stating = [one for one in caught.captured_queries if "set_config" in one["sql"]]
    assert len(stating) == 1


def test_a_command_is_named_with_the_user_of_the_machine() -> None:
    with command_acting(["manage.py", "create_agent", "control", "--lab", "netlab"]):
        call_command("create_agent", "control", "--lab", "netlab", stdout=io.StringIO())
    found = AuditEntry.objects.all()
    assert {(one.who, one.origin) for one in found} == {("create_agent", getpass.getuser())}
    assert {one.subject for one in found} == {"labs_lab", "labs_agent", "labs_token"}


def test_the_admin_has_no_log_of_its_own(client: Client) -> None:
    client.force_login(make.user("op", role=User.Role.OPERATOR))
    lab = Lab.objects.create(name="netlab")
    client.post(f"/admin/labs/lab/{lab.pk}/change/", {"name": "wirelab", "description": ""})
    assert not LogEntry.objects.exists()
    history = client.get(f"/admin/labs/lab/{lab.pk}/history/", follow=True).content.decode()
    assert "netlab" in history
    assert "wirelab" in history
