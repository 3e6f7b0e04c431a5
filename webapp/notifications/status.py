"""What the instance does now: whether results arrive, are analysed, mailed and saved.

Each check has its remedy, and operators get a mail when a check turns wrong, and when it is right
again. The parts that execute anything are those of `/readyz`.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Count, Max, Min
from django.utils import timezone

from webapp import encryption
from webapp.accounts.models import User
from webapp.accounts.services import unreadable_factors
from webapp.jobs.models import Job
from webapp.jobs.queries import machines
from webapp.labs.models import EXPIRES_SOON, Token
from webapp.notifications.models import Problem
from webapp.outbox.models import Backlog, Endpoint, HookDelivery, Mail
from webapp.outbox.services import LOST, NewMail, post_mails
from webapp.readiness.models import Backup
from webapp.readiness.services import BROKER, DATABASE, PARTS, Report, Reporter, heartbeats
from webapp.results.models import Run, Series, WaitingRun

LATE = timedelta(minutes=15)
"""Sweeps repeat within a minute, and the longest pause after a failure of a server is shorter."""

UNTAKEN = timedelta(days=1)
"""A job may wait for a machine that measures all night."""

RETIRED = timedelta(days=60)
"""A machine that was silent for so long is not waited for any more."""

BACKUP_LATE = timedelta(hours=30)
"""A day, and a night in which the worker was off."""

LEAST_FREE_BYTES = 2 * 2**30
UNWATCHED = "Watch it there, or set DRIFTLINE_DATABASE_DISK to a directory on that disk."
SHOWN = 3

SERVER = {DATABASE: "PostgreSQL", BROKER: "Redis"}

KIND = "status.changed"

PATIENCE = timedelta(minutes=4)
"""What is wrong for one look alone is a restart: beat looks every five minutes."""


class State(StrEnum):
    """What a check found. Nobody is mailed about what is not known."""

    OK = "ok"
    WRONG = "wrong"
    UNKNOWN = "not known"


ORDER = (State.WRONG, State.UNKNOWN, State.OK)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the instance has to do. ``page`` names the page where an operator acts."""

    name: str
    state: State
    text: str
    remedy: str = ""
    since: datetime | None = None
    page: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether an operator has to act."""
        return self.state is State.WRONG


def checks() -> list[Check]:
    """All checks, those that are wrong first. Where PostgreSQL does not answer, its own alone."""
    found = list(_parts())
    if not any(each.name == SERVER[DATABASE] and each.is_wrong for each in found):
        now = timezone.now()
        found += [
            _results(now),
            _analysis(now),
            _outbox("Mails", Mail.objects.backlog(), now, page="outbox"),
            _outbox("Webhooks", HookDelivery.objects.backlog(), now, page="webhooks"),
            *_webhooks_switched_off(),
            *_webhooks_without_key(),
            *_factors_without_key(),
            _jobs(now),
            _decisions(),
            *_tokens(now),
            _backups(now),
        ]
    found.append(_disk())
    return sorted(found, key=lambda each: ORDER.index(each.state))


def _check(
    name: str,
    is_wrong: bool,
    text: str,
    remedy: str,
    *,
    since: datetime | None = None,
    page: str = "",
) -> Check:
    if is_wrong:
        return Check(name, State.WRONG, text, remedy, since, page)
    return Check(name, State.OK, text, page=page)


def _parts() -> Iterator[Check]:
    # Of the primary: the page may be read from a replica, where nothing can be written.
    primary = connections.settings[DEFAULT_DB_ALIAS]
    report = Reporter(primary, settings.REDIS_URL).report()
    problems = {each.part: each for each in report.problems}
    for part in PARTS:
        name = SERVER.get(part, part.capitalize())
        if problem := problems.get(part):
            yield Check(name, State.WRONG, problem.reason, problem.remedy, problem.since)
        elif reason := report.unknown.get(part):
            yield Check(name, State.UNKNOWN, reason)
        else:
            yield Check(name, State.OK, "Answers" if part in SERVER else _seen(part, report))


def _seen(part: str, report: Report) -> str:
    hosts = report.ages[part]
    _, age = heartbeats.decisive(part, hosts) or ("", 0.0)
    if part == heartbeats.BEAT or len(hosts) == 1:
        return f"Seen at work {age:.0f} s ago"
    return f"{len(hosts)} seen at work, the last of them {age:.0f} s ago"


def _results(now: datetime) -> Check:
    live = [(each, each.live_at) for each in machines(now=now, days=1) if each.live_at]
    silent = [each for each, at in live if each.is_silent and at > now - RETIRED]
    count = sum(not each.is_silent for each, _ in live)
    newest = max((at for _, at in live), default=None)
    text = (
        f"{count} {_machines(count)}, the newest result {_span(now - newest)} old"
        if newest
        else "No result was measured yet; what was imported as history does not count"
    )
    if silent:
        names = ", ".join(each.name for each in silent[:SHOWN])
        more = f" and {len(silent) - SHOWN} more" if len(silent) > SHOWN else ""
        text = f"{names}{more}: silent for more than 14 days. {text}"
    return _check(
        "Results",
        bool(silent),
        text,
        "Is the agent of the machine running? Its log names what it could not send.",
        since=min((at for each, at in live if each in silent), default=None),
        page="agents",
    )


def _machines(count: int) -> str:
    return "machine reports" if count == 1 else "machines report"


def _analysis(now: datetime) -> Check:
    waiting = Series.objects.waiting()
    since = now - timedelta(seconds=waiting.oldest_seconds)
    return _check(
        "Analysis",
        waiting.oldest_seconds > LATE.total_seconds(),
        f"{waiting.count:,} series wait, the longest for {_span(now - since)}"
        if waiting.count
        else "Nothing waits",
        "The log of the worker names the series that fails. With a long queue: more processes "
        "(DRIFTLINE_WORKER_PROCESSES).",
        since=since,
    )


def _outbox(name: str, backlog: Backlog, now: datetime, *, page: str) -> Check:
    overdue = timedelta(seconds=backlog.overdue_seconds)
    text = f"{backlog.waiting:,} wait" if backlog.waiting else "Nothing waits"
    if backlog.dead:
        text += f"; {backlog.dead:,} were given up"
    if overdue > LATE:
        text += f"; the first is {_span(overdue)} late"
    return _check(
        name,
        overdue > LATE or bool(backlog.dead),
        text,
        f"The page {name.lower() if page != 'outbox' else 'of the outbox'} has the reason of each: "
        "mend it there, then send again or drop.",
        since=now - overdue if overdue > LATE else None,
        page=page,
    )


def _webhooks_switched_off() -> Iterator[Check]:
    names = list(Endpoint.objects.exclude(disabled_reason="").values_list("name", flat=True))
    if names:
        yield Check(
            "Webhooks switched off",
            State.WRONG,
            ", ".join(names),
            "Mend the receiver and switch the webhook on, or remove the webhook.",
            page="webhooks",
        )


def _webhooks_without_key() -> Iterator[Check]:
    names = [endpoint.name for endpoint in Endpoint.objects.all() if not endpoint.is_readable]
    if names:
        yield Check(
            "Webhooks without their key",
            State.WRONG,
            ", ".join(names),
            f"What opens them {LOST}.",
            page="webhooks",
        )


def _factors_without_key() -> Iterator[Check]:
    people = sorted({factor.user.get_username() for factor in unreadable_factors()})
    if people:
        yield Check(
            "Second factors without their key",
            State.WRONG,
            f"No code signs in {', '.join(people)}",
            f"The secret of an app or of recovery codes {encryption.LOST}, or remove their second "
            "factors.",
        )


def _jobs(now: datetime) -> Check:
    found = Job.objects.due(now).order_by().aggregate(count=Count("pk"), since=Min("not_before"))
    count, since = found["count"], found["since"]
    waited = max(now - since, timedelta(0)) if since else timedelta(0)
    return _check(
        "Jobs",
        waited > UNTAKEN,
        f"{count:,} wait for a machine, the longest for {_span(waited)}"
        if count
        else "No job waits",
        "No agent takes the job: start `labagent work` on its machine, or cancel the job.",
        since=since,
        page="agents",
    )


def _decisions() -> Check:
    count = WaitingRun.objects.open().count()
    text = f"{count:,} runs wait for a decision" if count else "No run waits for a decision"
    found = Run.objects.placeless().aggregate(
        runs=Count("pk"), revisions=Count("revision", distinct=True), since=Min("received_at")
    )
    if found["runs"]:
        text += f"; {found['runs']:,} for the place of their revision ({found['revisions']:,})"
    return _check(
        "Decisions",
        bool(found["runs"]),
        text,
        "Import the history of the tree (`manage.py import_revisions`), or place the revisions in "
        "the admin.",
        since=found["since"],
        page="waiting_runs" if count or found["runs"] else "",
    )


def _tokens(now: datetime) -> Iterator[Check]:
    found = list(Token.objects.expiring(now, within=EXPIRES_SOON).select_related("agent__lab"))
    if found:
        expiries = [f"{each} of {each.agent}: {each.expires_at:%Y-%m-%d}" for each in found]
        yield Check(
            "Tokens that expire",
            State.WRONG,
            ", ".join(expiries),
            "Issue another token (Admin, Agents), give it to the agent, then revoke this one.",
            page="admin:labs_token_changelist",
        )


def _backups(now: datetime) -> Check:
    if not settings.BACKUPS:
        text = "No backup is scheduled"
        return Check("Backups", State.UNKNOWN, text, "Set DRIFTLINE_BACKUPS to a directory.")
    last = Backup.objects.order_by("-at").first()
    if last is None:
        return Check("Backups", State.UNKNOWN, "The first is made within a day")
    age = now - last.at
    text = f"{last.file}, {last.bytes / 1e6:,.1f} MB, {_span(age)} old"
    rehearsed = Backup.objects.aggregate(at=Max("rehearsed_at"))["at"]
    if rehearsed is not None:
        text += f"; restoring was rehearsed {_span(now - rehearsed)} ago"
    if last.failure:
        text = f"The last one failed {_span(age)} ago: {last.failure}"
    return _check(
        "Backups",
        bool(last.failure) or age > BACKUP_LATE,
        text,
        "`manage.py backup FILE` makes one by hand, and prints what fails.",
        since=last.at,
    )


def _disk() -> Check:
    place = settings.DATABASE_DISK
    if place is None:
        text = "Not measured: DATABASE_URL names a server, whose disk may be elsewhere"
        return Check("Disk", State.UNKNOWN, text, UNWATCHED)
    try:
        usage = shutil.disk_usage(place)
    except OSError as error:
        text = f"Not measured: no directory {place} here ({error.strerror})"
        return Check("Disk", State.UNKNOWN, text, UNWATCHED)
    return _check(
        "Disk",
        usage.free < LEAST_FREE_BYTES,
        f"{usage.free / 1e9:,.1f} of {usage.total / 1e9:,.0f} GB free where {place} lies",
        "Free space there: PostgreSQL stops when nothing is left.",
    )


def _span(length: timedelta) -> str:
    seconds = max(length.total_seconds(), 0)
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds // 1:.0f} seconds"


@transaction.atomic
def note_status() -> int:
    """Keep what is wrong, and post a mail about what changed; how many mails."""
    now = timezone.now()
    wrong = {each.name: each for each in checks() if each.is_wrong}
    Problem.objects.bulk_create(
        [Problem(name=name, since=one.since or now) for name, one in wrong.items()],
        ignore_conflicts=True,
    )
    stored = list(Problem.objects.select_for_update().order_by("name"))
    ended = [each for each in stored if each.name not in wrong]
    over = [each.name for each in ended if each.mailed_at is not None]
    Problem.objects.filter(name__in=[each.name for each in ended]).delete()
    turned = [each for each in stored if each.name in wrong and _is_due(each, now)]
    Problem.objects.filter(name__in=[each.name for each in turned]).update(mailed_at=now)
    if not turned and not over:
        return 0
    return post_mails(_mails(now, [wrong[each.name] for each in turned], over))


def _is_due(problem: Problem, now: datetime) -> bool:
    return problem.mailed_at is None and problem.since <= now - PATIENCE


def _mails(now: datetime, wrong: Iterable[Check], over: list[str]) -> list[NewMail]:
    data: dict[str, Any] = {
        "wrong": [[each.name, each.text, each.remedy] for each in wrong],
        "right": over,
    }
    return [
        NewMail(
            recipient=person.pk,
            kind=KIND,
            about=f"status:{now.isoformat()}",
            due=person.after_quiet_hours(now),
            data=data,
        )
        for person in User.objects.operators()
    ]
