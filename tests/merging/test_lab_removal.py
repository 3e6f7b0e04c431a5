"""Removing a lab takes what is its own, and nothing that another lab measured."""

import io
import signal
import subprocess
import sys

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import ForeignKey
from django.test import Client

from tests import make, whole_site
from tests.alerts.steps import runs_of
from tests.conftest import environment_of_the_database
from tests.places import PROJECT
from tests.results.steps import analyse, upload
from tests.servers import LOCKS
from tests.system.running import wait_for
from webapp.accounts.models import AuditEntry
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.config.audited import command_acting
from webapp.labs.models import Lab
from webapp.launcher.management.commands.digest import digest
from webapp.merging.services import FORGETS, GOES
from webapp.results.models import Hardware, Revision, Run

pytestmark = pytest.mark.django_db
OURS = {("Atom/T540", "pf"): {15: 0.9}, ("Atom/T540", "forwarding"): {}}
THEIRS = {("Xeon/T580", "pf"): {15: 0.9}, ("Xeon/T580", "forwarding"): {22: 0.9}}
OTHERS = """
SELECT 1 FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"""
DRY = "Nothing was changed: this was a dry run."


def remove(*arguments: str) -> list[str]:
    output = io.StringIO()
    call_command("remove_lab", *arguments, stdout=output)
    return output.getvalue().splitlines()


def stated() -> list[str]:
    return [str(line) for line in digest()]


def rows_of_all() -> dict[str, int]:
    return {
        model._meta.label: model._base_manager.count()
        for model in apps.get_models(include_auto_created=True)
        if model.__module__.startswith("webapp.") and model is not AuditEntry
    }


def measured_by_both() -> list[str]:
    """Alerts of ours and of both labs; what the digest was before the others came."""
    upload(*runs_of(OURS), lab="ours")
    analyse()
    before = stated()
    upload(*runs_of(THEIRS, seed=6), lab="theirs")
    analyse()
    return before


def test_without_a_lab_the_instance_is_as_if_it_had_never_measured() -> None:
    before = measured_by_both()
    assert Alert.objects.count() == 2
    lines = remove("theirs")
    assert stated() == before
    assert "Goes: 1 of 2 labs" in lines
    assert "Goes: 60 of 120 runs" in lines
    assert "Goes: 1 of 2 alerts" in lines
    assert "Stays, with fewer findings: 1 alerts" in lines
    assert lines[-1].startswith("Stays, with what other labs measured: 1 trees, 30 revisions")
    assert not connection.check_constraints()


def test_the_dry_run_changes_nothing_and_the_removal_is_what_it_printed() -> None:
    whole_site.fill()
    for name in Lab.objects.values_list("name", flat=True):
        before, rows = stated(), rows_of_all()
        *announced, last = remove(name, "--dry-run")
        assert (last, stated(), rows_of_all()) == (DRY, before, rows)
        assert remove(name) == announced
        gone = {
            label: rows[label] - number
            for label, number in rows_of_all().items()
            if rows[label] - number
        }
        printed = [line for line in announced if line.startswith("Goes:")]
        assert len(printed) == len(gone)
        assert {line.split()[1] for line in printed} == {f"{count:,}" for count in gone.values()}
    assert not Run.objects.exists()
    assert not Finding.objects.exists()
    assert Revision.objects.exists()


def test_pages_are_whole_without_the_lab() -> None:
    measured_by_both()
    reader = Client()
    assert b"T580" in reader.get("/hardware/").content
    remove("theirs")
    for address in ("/", "/hardware/", "/alerts/", "/commits/"):
        page = reader.get(address, follow=True)
        assert page.status_code == 200
        assert b"T580" not in page.content


def test_every_foreign_key_to_what_goes_is_thought_of() -> None:
    """A new one fails here until GOES or FORGETS has it."""
    going = {label for label, _ in GOES}
    forgotten = {(label, column) for label, column, _ in FORGETS}
    missing = []
    for model in apps.get_models(include_auto_created=True):
        label = model._meta.label
        for field in model._meta.concrete_fields:
            if not isinstance(field, ForeignKey) or label in going:
                continue
            if field.related_model._meta.label in going and (label, field.name) not in forgotten:
                missing.append(f"{label}.{field.name}")
    assert missing == []


def test_the_log_states_who_removed_it() -> None:
    upload(*runs_of(OURS, count=2), lab="ours")
    with command_acting(["manage.py", "remove_lab", "ours"]):
        remove("ours", "--dry-run")
        assert not AuditEntry.objects.filter(actor="remove_lab").exists()
        remove("ours")
    entries = AuditEntry.objects.filter(actor="remove_lab", operation="delete")
    assert {"labs_lab", "labs_agent", "results_run", "results_hardware"} <= set(
        entries.values_list("subject", flat=True)
    )
    assert entries.get(subject="labs_lab").before["name"] == "ours"


@pytest.mark.parametrize("name", ["nolab", "", "Netlab", "netlab "])
def test_a_name_that_is_no_labs_is_refused_with_those_there_are(name: str) -> None:
    make.lab("netlab")
    with pytest.raises(CommandError, match=r"There is no lab .* there are: netlab"):
        remove(name)
    assert Lab.objects.exists()


def test_a_lab_whose_agents_measured_for_another_one_is_refused_with_the_remedy() -> None:
    upload(*runs_of(OURS, count=2), lab="ours")
    Hardware.objects.update(lab=make.lab("theirs"))
    with pytest.raises(
        CommandError, match=r"4 runs .* Atom/T540 of theirs\. Give that hardware back"
    ):
        remove("ours")
    assert Run.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_killed_in_the_middle_it_removed_nothing() -> None:
    upload(*runs_of(OURS, count=3), lab="ours")
    analyse()
    before = stated()
    with connection.cursor() as cursor:
        # Runs and machines are gone by then, and the lab is not.
        cursor.execute("BEGIN; LOCK TABLE labs_lab_contacts IN SHARE MODE")
        process = subprocess.Popen(
            [sys.executable, "manage.py", "remove_lab", "ours"],
            cwd=PROJECT,
            env=environment_of_the_database() | {"SECRET_KEY": "k" * 50},
        )

        def finds(query: str) -> bool:
            cursor.execute(query)
            return cursor.fetchone() is not None

        waiting = f"{LOCKS} WHERE NOT granted"
        wait_for(lambda: finds(waiting) or process.poll() is not None, seconds=120)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        cursor.execute("ROLLBACK")
        wait_for(lambda: not finds(OTHERS), seconds=60)
    assert stated() == before
    remove("ours")
    assert not Run.objects.exists()
