"""Several machines on one database, with a slow wire that loses frames between them.

One of them is cut off in the middle of uploads, a bisect and mails: what is stored and concluded
is that of a quiet run, and of all beats one sends.
"""

import random
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.machines.machines import Machines, database_host, machines, shared
from tests.faults.machines.network import why_not
from tests.faults.rounds.fault import Broken
from tests.faults.rounds.playing import IDENTICAL, play
from tests.faults.rounds.workload import DIRTY, LIVE, WAITING, Work
from tests.launcher.running import connected, variables
from tests.places import PROJECT
from tests.system.running import wait_for
from webapp.launcher.programs import CELERY, QUIET

pytestmark = [pytest.mark.stack, pytest.mark.skipif(bool(why_not()), reason=why_not())]
ALL = "web,worker,deliveries,beat"
LIVE_RUNS = """
SELECT count(*) FROM results_run JOIN results_hardware AS one ON hardware_id = one.id
 WHERE name = 'live/nic'"""
UNDER_WAY = f"""
SELECT ({LIVE_RUNS}) > 5
   AND (SELECT count(*) > 0 FROM bisects_bisectboot WHERE source = 'run')
"""
"""Whether uploads and jobs are in their middle."""

READER = """
from datetime import UTC, datetime
from webapp.accounts.models import User
from webapp.notifications.models import Subscription
user, _ = User.objects.get_or_create(username="ada", defaults={"email": "ada@example.org"})
Subscription.objects.get_or_create(
    user=user, name="everything", defaults={"severity": 0, "changed_at": datetime.now(UTC)})
"""
TAKE_OVER_SECONDS = 120
"""The server gives a silent beat 45 s (`webapp.readiness.scheduling`)."""

UPLOAD_SECONDS = 240


class Uploads(Work):
    """Runs of a live tree alone, with an alert and its mail."""

    ANSWER_SECONDS = 8

    def prepare(self) -> None:
        self.rig.empty()
        self.rig.mails.forget()
        self.rig.launch.manage("shell", "--no-imports", "-c", READER)

    def begin(self) -> None:
        self.live = threading.Thread(target=self._send_live, daemon=True)
        self.live.start()

    def finish(self) -> None:
        assert self.live
        self.live.join(UPLOAD_SECONDS)
        assert not self.live.is_alive()
        assert self.refused == []
        self.rig.wait_until(DIRTY, "the analysis")
        # An alert is written before its mail.
        wait_for(lambda: self.rig.count("SELECT count(*) FROM outbox_mail") > 0, UPLOAD_SECONDS)
        self._let_time_pass()
        self.rig.wait_until(WAITING, "the mails")

    def stored(self) -> int:
        """How many of the runs are there."""
        return self.rig.count(LIVE_RUNS)


@pytest.mark.long
def test_uploads_go_on_by_the_other_machine_while_one_is_cut_off(tmp_path: Path) -> None:
    digests, copies = [], []
    with machines({"a": ALL, "b": "web,worker,beat"}) as rig:
        for lost in ([], ["b"]):
            work = Uploads(rig, tmp_path)
            work.prepare()
            work.begin()
            wait_for(lambda work=work: work.stored() > LIVE // 3, UPLOAD_SECONDS)
            rig.network.cut_off(*lost)
            wait_for(lambda work=work: work.stored() == LIVE, UPLOAD_SECONDS)
            rig.network.join()
            work.finish()
            digests.append(rig.digest())
            copies.append(rig.mails.copies)
        assert rig.make_sound() == ""
    quiet, cut = digests
    assert cut == quiet
    assert not quiet["alerts"].endswith(" 0")
    for sent in copies:
        assert set(sent.values()) == {1}  # of two beats one sends


SESSION = """
import django, os, sys, time
os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
django.setup()
from django.db import connection
from webapp.config import settings
settings.limit_statements(seconds=3600, idle_seconds=3600)
with connection.cursor() as cursor:
    cursor.execute("BEGIN")
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(sys.argv[1])])
    print("locked", flush=True)
    if sys.argv[1] == "1":
        time.sleep(3600)
    cursor.execute("SELECT pg_sleep(3600)")
"""
"""A transaction that keeps a lock: the first idles, the second has PostgreSQL at work."""

LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid IN (1, 2)"
WORKER = (*CELERY[1:], "worker", "--loglevel=info", "--concurrency=1", *QUIET)


@pytest.mark.long
def test_both_ends_notice_that_a_machine_is_cut_off_without_a_word(tmp_path: Path) -> None:
    """No lock is kept, no answer and no message waited for: an hour is what limits allow here."""
    with database_host(["a"]) as (network, launch), ExitStack() as stack:
        environ = variables(tmp_path) | shared(network, launch) | {"DRIFTLINE_SILENCE_SECONDS": "5"}

        def run(name: str, *arguments: str) -> Path:
            """Have it run on the machine; the file of what it prints."""
            log = tmp_path / name
            command = [*network.enter("a"), sys.executable, *arguments]
            with log.open("w") as output:
                process = subprocess.Popen(
                    command, cwd=PROJECT, env=environ, stdout=output, stderr=output
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return log

        def wait_for_text(log: Path, text: str) -> None:
            wait_for(lambda: text in log.read_text(), TAKE_OVER_SECONDS)

        idle, at_work = (run(name, "-c", SESSION, name) for name in ("1", "2"))
        worker = run("worker", *WORKER)
        wait_for_text(idle, "locked")
        wait_for_text(at_work, "locked")
        wait_for_text(worker, " ready.")
        with connected(launch) as own:
            assert own.execute(LOCKS).fetchone() == (2,)
            network.cut_off("a")
            wait_for(lambda: own.execute(LOCKS).fetchone() == (0,), TAKE_OVER_SECONDS)
        wait_for_text(at_work, "OperationalError")
        wait_for_text(worker, "Connection to broker lost")


def cut_off(rig: Machines, _work: Work, _draw: random.Random) -> Broken:
    """The machine whose beat sends is cut off until another one's does."""
    wait_for(lambda: bool(rig.system.rows(UNDER_WAY)[0][0]), 120)
    lost = rig.machine_of_beat()
    rig.network.cut_off(lost)
    wait_for(lambda: rig.machine_of_beat() not in ("", lost), TAKE_OVER_SECONDS)
    rig.network.join()
    return Broken()


@pytest.mark.release
def test_a_machine_that_is_cut_off_changes_nothing_of_what_is_concluded() -> None:
    with machines({"a": ALL, "b": ALL, "c": ALL}) as rig:
        quiet, cut = play(rig, [("cut off", cut_off)])
    assert [(one.fault, one.outcome, one.lost) for one in (quiet, cut)] == [
        ("nothing", IDENTICAL, 0),
        ("cut off", IDENTICAL, 0),
    ]
    for part in ("runs", "samples", "findings", "alerts", "jobs", "bisects", "bisect-boots"):
        assert not quiet.digest[part].endswith(" 0"), part
    assert quiet.mails
    assert quiet.twice == 0
    # Its process for mails may have had one that was taken, and no way to note that.
    assert cut.twice <= 1
