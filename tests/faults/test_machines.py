"""Several machines on one database, with a slow wire that loses frames between them.

One of them is cut off in the middle of uploads, a bisect and mails: what is stored and concluded
is that of a quiet run, and of all beats one sends.
"""

import random
import threading
from pathlib import Path

import pytest

from tests.faults.machines.machines import Machines, machines
from tests.faults.machines.network import why_not
from tests.faults.rounds.fault import Broken
from tests.faults.rounds.playing import IDENTICAL, play
from tests.faults.rounds.workload import DIRTY, LIVE, WAITING, Work
from tests.system.running import wait_for

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
