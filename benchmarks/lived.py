"""A lab's archive as the lab lived it: ``python -m benchmarks.lived [--archive DIR]``.

It starts an instance with a mail server of its own, subscribes a person to everything, and uploads
the labelled year series revision by revision, each only when the one before was analysed and its
mails were sent. It prints which alert was opened and confirmed when, beside the labels and what
arrived at the mail server; then it uploads the same runs in shuffled orders to four workers, and
as history, and compares what is found.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from socket import socket
from typing import Any
from urllib.request import Request, urlopen

from aiosmtpd.controller import Controller

from benchmarks._instance import Instance, running

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"
ORDERS = 4
BATCH = 25
WAIT_SECONDS = 120
READER = "lived"
SUBSCRIBE = f"""
from webapp.accounts.models import User
from webapp.notifications.models import Subscription
from webapp.notifications.services import save_subscription
user = User.objects.create_user({READER!r}, "{READER}@example.org", "a long password")
save_subscription(subscription=Subscription(user=user, name="everything"))
"""
PRESENT = """
    SELECT tree.name, suspect.name, alert.verdict, alert.state, alert.history
      FROM alerts_alert AS alert
      JOIN results_tree AS tree ON tree.id = alert.tree_id
      JOIN results_revision AS suspect ON suspect.id = alert.revision_id
     WHERE alert.is_active ORDER BY 1, suspect.position"""
FINDINGS = """
    SELECT hardware.name, mode.name, revision.name, finding.state, finding.verdict,
           round(finding.change_pct::numeric, 6)
      FROM analysis_finding AS finding
      JOIN results_series AS series ON series.id = finding.series_id
      JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
      JOIN results_mode AS mode ON mode.id = series.mode_id
      JOIN results_revision AS revision ON revision.id = finding.revision_id
     WHERE finding.kind = 'level' AND finding.state IN ('candidate', 'confirmed', 'recovered')
     ORDER BY 1, 2, revision.position"""
EVENTS = """
    SELECT event.alert_id, suspect.name, likeliest.name, alert.verdict, alert.state
      FROM alerts_alertevent AS event
      JOIN alerts_alert AS alert ON alert.id = event.alert_id
      JOIN results_revision AS suspect ON suspect.id = alert.revision_id
      JOIN results_revision AS likeliest ON likeliest.id = alert.likeliest_id
     WHERE event.id > %s ORDER BY event.id"""
SEEN = """
    SELECT member.alert_id, min(event.at) FILTER (WHERE event.kind = 'detected'),
           min(event.at) FILTER (WHERE event.state = 'confirmed')
      FROM analysis_findingevent AS event
      JOIN alerts_alertfinding AS member ON member.finding_id = event.finding_id
     GROUP BY 1"""
MAILS = "SELECT about, kind, message_id FROM outbox_mail"
Document = dict[str, Any]


class Mailbox:
    """What a mail server took, in order."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.messages.append(message_from_bytes(envelope.content))
        return "250 OK"


@dataclass
class AlertHistory:
    """One alert. ``opened_at``, ``seen_at`` and ``confirmed_at`` number the revision, in the order
    of the uploads, that brought it."""

    opened_at: int
    suspect: str = ""
    likeliest: str = ""
    verdict: str = ""
    state: str = ""
    seen_at: int = 0
    confirmed_at: int = 0
    mails: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lived")
    parser.add_argument("--archive", type=Path, default=SHARED)
    parser.add_argument("--orders", type=int, default=ORDERS)
    options = parser.parse_args()
    labels = json.loads((options.archive / "goldens" / "changes.json").read_text())["labels"]
    documents = [
        document
        for label in labels
        for document in parsed(options.archive / "netbenches" / label["results"])
    ]
    in_order = by_revision(documents)
    lived = live(in_order, labels)
    for seed in range(1, options.orders + 1):
        alerts = shuffled(documents, seed)
        same = alerts == lived.alerts
        report("lived, shuffled, four workers", float(same), "same open alerts", n=len(alerts))
    as_history(documents, lived)


@dataclass
class Lived:
    """What stood at the end."""

    alerts: list[tuple[Any, ...]]
    findings: list[tuple[Any, ...]]


def live(in_order: Sequence[tuple[str, list[Document]]], labels: Sequence[Any]) -> Lived:
    """Upload revision by revision and print the table."""
    mailbox = Mailbox()
    with serving(mailbox) as url, running(**timing(url)) as instance:
        site = Site(instance)
        instance.manage("shell", "-c", SUBSCRIBE)
        histories: dict[int, AlertHistory] = {}
        last = 0
        ends: list[datetime] = []
        for index, (_, runs) in enumerate(in_order):
            site.upload(runs)
            site.wait_until_quiet()
            ends.append(site.rows("SELECT clock_timestamp()")[0][0])
            last = site.note_events(histories, index, last)
        for pk, seen, confirmed in site.rows(SEEN):
            histories[pk].seen_at = bisect_left(ends, seen)
            histories[pk].confirmed_at = bisect_left(ends, confirmed)
        arrived = Counter(str(message["Message-ID"]) for message in mailbox.messages)
        for about, kind, message_id in site.rows(MAILS):
            pk = int(str(about).removeprefix("alert:"))
            histories[pk].mails += [kind.removeprefix("alert.")] * arrived.pop(message_id, 0)
        if arrived:
            raise SystemExit(f"mails that nobody posted: {arrived}")
        table(histories, [name for name, _ in in_order], labels)
        return Lived(site.rows(PRESENT), site.rows(FINDINGS))


def shuffled(documents: Sequence[Document], seed: int) -> list[tuple[Any, ...]]:
    """The alerts that stand when everything came in another order, to four workers."""
    arriving = list(documents)
    random.Random(seed).shuffle(arriving)
    with running(DRIFTLINE_WORKER_PROCESSES="4") as instance:
        site = Site(instance)
        for start in range(0, len(arriving), BATCH):
            site.upload(arriving[start : start + BATCH])
        site.wait_until_quiet()
        return site.rows(PRESENT)


def as_history(documents: Sequence[Document], lived: Lived) -> None:
    mailbox = Mailbox()
    with serving(mailbox) as url, running(**timing(url)) as instance:
        site = Site(instance)
        instance.manage("shell", "-c", SUBSCRIBE)
        site.upload(documents, history=True)
        site.wait_until_quiet()
        same = site.rows(FINDINGS) == lived.findings
        report("lived, as history: same findings", float(same), "true", n=len(lived.findings))
        report("lived, as history: mails", len(mailbox.messages), "mails", n=len(documents))
        snoozed = sum(row[3] == "snoozed" for row in site.rows(PRESENT))
        report("lived, as history: alerts snoozed", snoozed, "alerts", n=len(lived.alerts))


class Site:
    """One instance, as an agent and an observer see it."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.token = instance.manage("create_agent", "lived", "--lab", "netlab").split()[-1]

    def upload(self, runs: Sequence[Document], *, history: bool = False) -> None:
        query = "register=true" + ("&history=true" if history else "")
        request = Request(
            f"http://127.0.0.1:{self.instance.port}/api/v1/runs?{query}",
            data=json.dumps({"runs": list(runs)}).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urlopen(request, timeout=60) as answer:  # noqa: S310 (our own address)
            answer.read()

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self.instance.connect() as connection:
            return connection.execute(query.encode(), parameters or None).fetchall()

    def wait_until_quiet(self) -> None:
        """Until everything is analysed and every mail has arrived or been given up."""
        waiting = """
            SELECT (SELECT count(*) FROM results_series WHERE dirty_from IS NOT NULL),
                   (SELECT count(*) FROM outbox_mail WHERE state IN ('waiting', 'claimed'))"""
        end = time.monotonic() + WAIT_SECONDS
        while any(self.rows(waiting)[0]):
            if time.monotonic() > end:
                raise SystemExit(f"not quiet after {WAIT_SECONDS} s: {self.rows(waiting)[0]}")
            time.sleep(0.05)

    def note_events(self, histories: dict[int, AlertHistory], index: int, last: int) -> int:
        """Take down the alerts' new events; returns the id of the newest."""
        for pk, suspect, likeliest, verdict, state in self.rows(EVENTS, last):
            alert = histories.setdefault(pk, AlertHistory(index))
            alert.suspect, alert.likeliest = suspect, likeliest
            alert.verdict, alert.state = verdict, state
        return int(self.rows("SELECT coalesce(max(id), 0) FROM alerts_alertevent")[0][0])


def table(histories: dict[int, AlertHistory], names: Sequence[str], labels: Sequence[Any]) -> None:
    """One line an alert; then how many of the sure labels have one."""
    places = {name: index for index, name in enumerate(names)}
    sure = sorted(
        {one["revision"] for label in labels for s in label["series"].values() for one in s["sure"]}
    )
    found = set()
    print(
        "alert  commit   last suspect  verdict      state      candidate  confirmed  opened", end=""
    )
    print("   later  mails arrived                label")
    for pk, alert in sorted(histories.items()):
        near = [name for name in sure if abs(places[name] - places[alert.likeliest]) <= 1]
        found |= set(near)
        later = alert.opened_at - places[near[0] if near else alert.likeliest]
        print(
            f"{pk:>5}  {alert.likeliest:<8} {alert.suspect:<13} {alert.verdict:<12} "
            f"{alert.state:<10} {names[alert.seen_at]:<10} {names[alert.confirmed_at]:<10} "
            f"{names[alert.opened_at]:<8} {later:>5}  {', '.join(alert.mails) or 'none':<28} "
            f"{'sure ' + near[0] if near else 'not labelled sure'}"
        )
    report("lived, sure changes with an alert", len(found), f"of {len(sure)}", n=len(names))
    others = sum(
        all(abs(places[n] - places[a.likeliest]) > 1 for n in sure) for a in histories.values()
    )
    report("lived, other alerts", others, "alerts", n=len(names))
    twice = sum(len(alert.mails) != len(set(alert.mails)) for alert in histories.values())
    report("lived, alerts with a kind of mail twice", twice, "alerts", n=len(histories))


def by_revision(documents: Iterable[Document]) -> list[tuple[str, list[Document]]]:
    grouped: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        grouped[document["revision"]].append(document)
    return sorted(grouped.items(), key=lambda one: int(one[0][1:]))


def parsed(directory: Path) -> list[Document]:
    """The runs of a results directory, as the agent reads them."""
    command = [sys.executable, "-m", "labagent", "parse", str(directory), "--json"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in answer.splitlines() if line.strip()]


def timing(smtp: str) -> dict[str, str]:
    """Mails leave at once: the table is about what is sent, not about how long it settles."""
    return {
        "DRIFTLINE_EMAIL_URL": smtp,
        "DRIFTLINE_MAIL_SETTLE_SECONDS": "0",
        "DRIFTLINE_MAIL_SWEEP_SECONDS": "1",
        "DRIFTLINE_SWEEP_SECONDS": "1",
    }


@contextmanager
def serving(mailbox: Mailbox) -> Iterator[str]:
    """A mail server on a free port; gives its URL."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{port}"
    finally:
        controller.stop()


def report(name: str, value: float, unit: str, *, n: int) -> None:
    print(json.dumps({"name": name, "value": value, "unit": unit, "n": n}), flush=True)


if __name__ == "__main__":
    main()
