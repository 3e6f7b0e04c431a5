"""What the instance does now: `/status/`, its mail to operators, `manage.py doctor`."""

import io
import re
import socket
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import make
from tests.places import PROJECT
from tests.results.steps import measured, upload
from webapp.api.prometheus import State
from webapp.notifications import status
from webapp.notifications.models import Problem
from webapp.notifications.services import checks
from webapp.notifications.status import PATIENCE, Check, note_status
from webapp.outbox.messages import compose
from webapp.outbox.models import Endpoint, Mail
from webapp.readiness import heartbeats
from webapp.readiness.heartbeats import PARTS
from webapp.readiness.models import Backup, Heartbeat
from webapp.results.models import Run, Series

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def at_work() -> None:
    """Every part was just seen at work."""
    heartbeats.note(*PARTS)


def wrong() -> dict[str, str]:
    return {each.name: each.text for each in checks() if each.is_wrong}


def test_a_new_instance_needs_nobody_and_names_what_is_not_known() -> None:
    found = {each.name: each for each in checks()}
    assert wrong() == {}
    assert found["Backups"].state == "not known"
    assert "DRIFTLINE_BACKUPS" in found["Backups"].remedy
    assert {"PostgreSQL", "Redis", "Worker", "Deliveries", "Beat", "Results", "Disk"} <= set(found)


def test_each_check_that_is_wrong_names_what_and_since_when(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    now = timezone.now()
    upload(measured("r300001"))
    Run.objects.update(measured_at=now - 20 * DAY)
    Series.objects.update(dirty_from=1, dirty_since=now - timedelta(hours=2))
    person = make.user("op", role="operator", email="op@lab.example")
    Mail.objects.create(recipient=person, kind="k", about="a", due=now - timedelta(hours=1))
    Endpoint.objects.create(name="chat", url="https://chat.example/", disabled_reason="404")
    monkeypatch.setattr(settings, "BACKUPS", str(tmp_path))
    Backup.objects.create(at=now - DAY, file="driftline-x.backup", failure="No room")
    monkeypatch.setattr(settings, "DATABASE_DISK", tmp_path)
    monkeypatch.setattr(status, "LEAST_FREE_BYTES", 2**62)
    found = wrong()
    assert found.keys() == {
        *("Results", "Analysis", "Mails", "Webhooks switched off", "Backups", "Disk"),
    }
    assert "silent for more than 14 days" in found["Results"]
    assert found["Analysis"] == "1 series wait, the longest for 2 hours"
    assert found["Mails"] == "1 wait; the first is 60 minutes late"
    assert found["Backups"] == "The last one failed 24 hours ago: No room"
    assert all(each.remedy for each in checks() if each.is_wrong)


def test_runs_whose_revision_has_no_place_need_an_operator() -> None:
    upload(measured("9f3ac1e02b11"), measured("9f3ac1e02b11"), measured("r300001"))
    (found,) = (each for each in checks() if each.name == "Decisions")
    assert wrong() == {
        "Decisions": "No run waits for a decision; 2 for the place of their revision (1)"
    }
    assert "import_revisions" in found.remedy
    assert (found.page, found.since) == ("waiting_runs", Run.objects.earliest("pk").received_at)
    Run.objects.filter(revision__name="9f3ac1e02b11").update(
        withdrawn_at=timezone.now(), withdrawn_reason="a broken machine"
    )
    assert wrong() == {}


def test_an_age_is_floored_as_on_the_pages_of_machines() -> None:
    upload(measured("r300001"))
    Run.objects.update(measured_at=timezone.now() - timedelta(days=9, hours=23))
    (text,) = (each.text for each in checks() if each.name == "Results")
    assert text == "1 machine reports, the newest result 9 days old"


def test_the_disk_is_measured_where_postgresql_runs_or_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def disk() -> Check:
        (found,) = (each for each in checks() if each.name == "Disk")
        return found

    monkeypatch.setattr(settings, "DATABASE_DISK", tmp_path)
    assert f"free where {tmp_path} lies" in disk().text
    for unwatched in (None, tmp_path / "absent"):
        monkeypatch.setattr(settings, "DATABASE_DISK", unwatched)
        assert disk().state == "not known"
        assert "DRIFTLINE_DATABASE_DISK" in disk().remedy


def test_a_worker_whose_host_is_gone_is_forgotten_by_the_command_that_the_check_names() -> None:
    heartbeats.use_host("gone-1")
    try:
        heartbeats.note("worker")
    finally:
        heartbeats.use_host(socket.gethostname())
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE readiness_heartbeat SET at = at - interval '3 minutes' WHERE host = 'gone-1'"
        )
    (silent,) = (each for each in checks() if each.is_wrong)
    command = re.search(r"`manage\.py (doctor --forget \S+)`", silent.remedy)
    assert command
    out = io.StringIO()
    call_command(*command[1].split(), stdout=out)
    assert out.getvalue().startswith("gone-1 is not expected any more: worker\n")
    assert wrong() == {}
    # Who works is not forgotten.
    with pytest.raises(CommandError, match="Nothing is silent on"):
        call_command("doctor", "--forget", heartbeats.host(), stdout=out)
    assert set(PARTS) <= {one.part for one in Heartbeat.objects.filter(host=heartbeats.host())}


def test_a_machine_that_was_taken_away_is_not_waited_for_for_ever() -> None:
    upload(measured("r300001"))
    Series.objects.update(dirty_from=None, dirty_since=None)
    Run.objects.update(measured_at=timezone.now() - 59 * DAY)
    assert wrong().keys() == {"Results"}
    Run.objects.update(measured_at=timezone.now() - 61 * DAY)
    assert wrong() == {}


def test_a_silent_part_is_wrong_and_what_depends_on_a_server_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE readiness_heartbeat SET at = at - interval '3 minutes'")
    assert wrong().keys() == {"Worker", "Deliveries", "Beat"}
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    found = {each.name: each.state for each in checks()}
    assert found["Redis"] == "wrong"
    assert found["Worker"] == "not known"


def test_operators_are_mailed_once_when_it_lasts_and_once_when_it_is_over() -> None:
    make.user("op", role="operator", email="op@lab.example")
    make.user("eve", email="eve@lab.example")
    Endpoint.objects.create(name="chat", url="https://chat.example/", disabled_reason="404")
    assert note_status() == 0  # may be over at the next look
    Problem.objects.update(since=timezone.now() - PATIENCE)
    assert note_status() == 1
    assert note_status() == 0
    first = Mail.objects.get()
    assert first.recipient.username == "op"
    message = compose(first)
    assert message.subject == "[driftline] Webhooks switched off: not as it should be"
    assert "Mend the receiver" in message.text
    Endpoint.objects.update(disabled_reason="")
    assert note_status() == 1
    assert note_status() == 0
    over = compose(Mail.objects.exclude(pk=first.pk).get())
    assert over.subject == "[driftline] Webhooks switched off: right again"
    assert not Problem.objects.exists()


def test_what_ends_before_anybody_was_mailed_stays_unsaid() -> None:
    make.user("op", role="operator", email="op@lab.example")
    Endpoint.objects.create(name="chat", url="https://chat.example/", disabled_reason="404")
    note_status()
    Endpoint.objects.update(disabled_reason="")
    assert note_status() == 0
    assert not Problem.objects.exists()


def test_the_page_is_for_operators_and_links_where_one_acts(client: Client) -> None:
    assert client.get("/status/").status_code == 302
    client.force_login(make.user("op", role="operator"))
    assert "Nothing needs an operator" in client.get("/status/").content.decode()
    Endpoint.objects.create(name="<b>", url="https://chat.example/", disabled_reason="404")
    with CaptureQueriesContext(connection) as captured:
        page = client.get("/status/").content.decode()
    assert len(captured) <= 17
    assert "1 of 14 checks needs an operator" in page
    assert '<a href="/webhooks/">Webhooks switched off</a>' in page
    assert "&lt;b&gt;" in page


def test_the_doctor_prints_each_check_and_its_exit_status_is_the_answer() -> None:
    out = io.StringIO()
    call_command("doctor", stdout=out)
    assert "ok         PostgreSQL: Answers" in out.getvalue()
    Endpoint.objects.create(name="chat", url="https://chat.example/", disabled_reason="404")
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=out)
    assert ended.value.code == 1
    assert "wrong      Webhooks switched off: chat" in out.getvalue()


def test_what_lasts_is_a_metric() -> None:
    name = "driftline_check_wrong_seconds"
    Problem.objects.create(name="Disk", since=timezone.now() - DAY, mailed_at=timezone.now())
    found = {family.name: family for family in State().collect()}
    (sample,) = found[name].samples
    assert sample.labels == {"check": "Disk"}
    assert sample.value == pytest.approx(86_400, abs=60)


def test_the_rules_for_prometheus_name_metrics_that_there_are() -> None:
    rules = yaml.safe_load((PROJECT / "static/monitoring/prometheus-rules.yml").read_text())
    asked = {
        name
        for rule in rules["groups"][0]["rules"]
        for name in re.findall(r"driftline_\w+(?= [<>=])", rule["expr"])
    }
    assert len(asked) == 5
    assert asked <= {family.name for family in State().collect()}
