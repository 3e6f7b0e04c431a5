"""The work of one round: an import, live uploads, jobs of a bisect, and mails."""

import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from agents.tests.make import label_dir, values_file
from tests.faults.rounds import lab
from tests.faults.rounds.rig import PATIENCE_SECONDS, Rig, Stuck
from tests.launcher.running import PROJECT, variables
from tests.system.running import Upload

REVISIONS, CONFIGURATIONS = 20, ("forwarding", "ipfw")
LIVE = 24
SEED = """
from datetime import UTC, datetime
from time import monotonic, sleep
from django.apps import apps
from django.core.management import call_command
from webapp.accounts.models import User
from webapp.bisects import services
from webapp.results.models import Revision, Series
call_command("import_revisions", "--tree", {tree!r}, {commits!r})
end = monotonic() + {patience}
while monotonic() < end and Series.objects.filter(dirty_from__isnull=False).exists():
    sleep(0.2)
models = {{model.__name__: model for model in apps.get_models()}}
user, _ = User.objects.get_or_create(username="ada", defaults={{"email": "ada@example.org"}})
models["Subscription"].objects.get_or_create(
    user=user, name="everything", defaults={{"severity": 0, "changed_at": datetime.now(UTC)}})
series = Series.objects.get(hardware__name="hunt/nic")
good, bad = (Revision.objects.get(tree=series.tree, name=name) for name in ("r1000", "r1016"))
draft = services.draft_bisect(series=series, good=good, bad=bad, effect_pct=-3.0, most_boots=60)
services.start_bisect(draft=draft, created_by=user)
"""
DIRTY = "SELECT count(*) FROM results_series WHERE dirty_from IS NOT NULL"
HUNTING = "SELECT count(*) FROM bisects_bisect WHERE state NOT IN ('done', 'cancelled')"
WAITING = "SELECT count(*) FROM outbox_mail WHERE state IN ('waiting', 'claimed')"
# As if the pauses of mails that a killed worker had claimed ran out; they take minutes.
LET_TIME_PASS = "UPDATE outbox_mail SET due = now() WHERE state IN ('waiting', 'claimed')"


def lay_out(place: Path) -> None:
    """The bench directories of the import: levels that step now and then."""
    directory = label_dir(place, "fbsd11-head.2015")
    for i in range(REVISIONS):
        for k, configuration in enumerate(CONFIGURATIONS):
            level = 600_000.0 * (1 + k) * (1 - 0.1 * (i >= REVISIONS // 2))
            values = [level + 997 * ((i * 7 + n) % 5) for n in range(5)]
            values_file(directory / f"{300_000 + 3 * i}.{configuration}.pps", values)


def live_documents() -> list[dict[str, Any]]:
    """Runs of a live tree in which one commit costs 20 %: an alert, and its mail."""
    documents = []
    for i in range(LIVE):
        run = lab.document(f"r{5000 + i}", 0, boots=5)
        level = 0.8 if i >= LIVE // 2 else 1.0
        pps = run["metrics"]["pps"]
        pps["samples"] = [level * (value + 300 * (i % 3)) for value in pps["samples"]]
        documents.append({**run, "tree": "live-next", "hardware": "live/nic"})
    return documents


@dataclass
class Work:
    """One round's work under way."""

    ANSWER_SECONDS = 30
    """After which an upload is sent again, which may have been stored."""

    rig: Rig
    place: Path
    upload: Upload | None = None
    agent: "subprocess.Popen[bytes] | None" = None
    live: threading.Thread | None = None
    over: threading.Event = field(default_factory=threading.Event)
    refused: list[str] = field(default_factory=list)

    def prepare(self) -> None:
        """The history that the bisect starts from, analysed; then the bisect."""
        lay_out(self.place / "archive")
        self.rig.empty()
        self.rig.mails.forget()
        measured = [*range(-8, 1), *range(lab.COUNT, lab.COUNT + 9)]
        runs = [lab.document(f"r{lab.FIRST + i}", 0, boots=5) for i in measured]
        self._send({"runs": runs}, query="?register=true&history=true")
        names = [f"r{lab.FIRST + i}" for i in range(-8, lab.COUNT + 9)]
        (self.place / "commits.csv").write_text("\n".join(["revision", *names, ""]))
        commits = str(self.place / "commits.csv")
        seed = SEED.format(tree=lab.TREE, commits=commits, patience=PATIENCE_SECONDS)
        self.rig.launch.manage("shell", "--no-imports", "-c", seed)

    def begin(self) -> None:
        """Start the import, the uploads and the lab."""
        self.restart_upload()
        self.restart_agent()
        self.live = threading.Thread(target=self._send_live, daemon=True)
        self.live.start()

    def restart_upload(self) -> None:
        archive, spool = self.place / "archive", self.place / "spool"
        spool.mkdir(exist_ok=True)
        self.upload = self.rig.system.upload("--history", archive, spool=spool)

    def restart_agent(self) -> None:
        launch = self.rig.launch
        command = [sys.executable, lab.__file__, launch.url, self.rig.system.token, self.place]
        with (self.place / "lab.log").open("ab") as log:
            self.agent = subprocess.Popen(
                command, cwd=PROJECT, env=variables(launch.state), stdout=log, stderr=log
            )

    def client(self, name: str) -> "subprocess.Popen[Any] | None":
        """The process of the agent or of the import."""
        return self.agent if name == "agent" else self.upload and self.upload.process

    def look_after(self) -> None:
        """What people and cron do: start again what was killed on their side."""
        if self.upload and self.upload.process.poll() not in (None, 0):
            self.restart_upload()
        if self.agent and self.agent.poll() is not None:
            self.restart_agent()

    def finish(self) -> None:
        """Wait until everything is stored, analysed, found and reported."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._all_sent():
            if time.monotonic() > end:
                raise Stuck("the uploads")
            self.look_after()
            time.sleep(0.2)
        if self.refused:
            raise Stuck(f"an upload that was refused: {self.refused[0]}")
        self.rig.wait_until(HUNTING, "the bisect")
        self.rig.wait_until(DIRTY, "the analysis")
        self._let_time_pass()
        self.rig.wait_until(WAITING, "the mails")

    def stop(self) -> None:
        """End what still runs."""
        self.over.set()
        for process in (self.agent, self.upload and self.upload.process):
            if process and process.poll() is None:
                process.kill()
                process.communicate()

    def _let_time_pass(self) -> None:
        with self.rig.system.connected() as connection:
            connection.execute(LET_TIME_PASS.encode())

    def _all_sent(self) -> bool:
        uploaded = self.upload is not None and self.upload.process.poll() == 0
        return uploaded and self.live is not None and not self.live.is_alive()

    def _send_live(self) -> None:
        for document in live_documents():
            self._send(document, query="?register=true")
            time.sleep(0.1)

    def _send(self, body: dict[str, Any], *, query: str) -> None:
        """Until the server has it, as an agent does."""
        url, token = self.rig.launch.url, self.rig.system.token
        while not self.over.is_set():
            try:
                lab.ask(url, token, f"api/v1/runs{query}", body, seconds=self.ANSWER_SECONDS)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 500, 502, 503):
                    self.refused.append(f"{error.code} {error.read()[:300]!r}")
                    return
            except (OSError, HTTPException, ValueError):
                pass
            else:
                return
            time.sleep(0.3)


@contextmanager
def at_work(rig: Rig, place: Path) -> Iterator[Work]:
    """The work, begun; afterwards none of its processes is left."""
    work = Work(rig, place)
    try:
        work.prepare()
        work.begin()
        yield work
    finally:
        work.stop()
