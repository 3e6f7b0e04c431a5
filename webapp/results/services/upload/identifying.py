"""First and second step of an upload: rules about parts of labels give each run its mode and
variant; its evidence gives the commit, and what is stored under its UUID what becomes of the run.

An upload whose runs have no options costs no statement for the rules. A rule that is edited
meanwhile waits for this transaction, and then files these runs anew like all others.

Runs of another lab are not replaced; that an agent tried is kept, logged and mailed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent, Lab
from webapp.labs.services import require_quota
from webapp.outbox.services import NewMail, post_mails
from webapp.results.documents import Forbidden, Problem, RunDocument, Unprocessable
from webapp.results.models import WAITING_FROM, LabelRule, Run
from webapp.results.queries import rows_of
from webapp.results.services.database import begin_replacing, begin_writing
from webapp.results.services.identities import Identities, identify_runs
from webapp.results.spellings import ModeName, PartRule, read_options

STORED_RUNS = """
SELECT run.uuid, encode(run.digest, 'hex'), revision.position, run.evidence IS NULL,
       waiting.run_id IS NOT NULL AND waiting.decided_at IS NULL, mode.name,
       EXISTS (SELECT FROM results_measurement AS marked
                WHERE marked.run_id = run.id AND marked.validity IS NOT NULL)
  FROM results_run AS run JOIN results_revision AS revision ON revision.id = run.revision_id
  LEFT JOIN results_aliasedrun AS aliased ON aliased.run_id = run.id
  JOIN results_mode AS mode ON mode.id = COALESCE(aliased.mode_id, run.mode_id)
  LEFT JOIN results_waitingrun AS waiting ON waiting.run_id = run.id
 WHERE run.uuid = ANY(%s) AND run.superseded_by_id IS NULL
"""

REFUSED_KIND = "lab.refused"
KEEP_REFUSED = """
INSERT INTO results_refusedreplacement AS line (run_id, agent_id, first_at, last_at, tries)
SELECT run, %s, %s, %s, 1 FROM unnest(%s::bigint[]) AS run
    ON CONFLICT (run_id, agent_id) DO UPDATE SET last_at = EXCLUDED.last_at, tries = line.tries + 1
RETURNING tries
"""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """``runs`` are in the order sent, with mode and variant by the rules of the lab; the rest as in
    `record_runs`.
    """

    agent: Agent
    runs: Sequence[RunDocument]
    register: bool
    history: bool
    replace: bool
    asked_for: bool


def receive(*, agent: Agent, runs: Sequence[RunDocument], **flags: bool) -> Received:
    """Hold off reshapings until the transaction ends, and apply the rules about labels."""
    begin_writing()
    return Received(agent=agent, runs=_by_rules(runs, agent.lab_id), **flags)


def _by_rules(runs: Sequence[RunDocument], lab: int) -> Sequence[RunDocument]:
    """``runs`` of a lab (id), each with the mode and the variant of the rules."""
    if not any(_has_parts(run) for run in runs):
        return runs
    rules = [row.rule() for row in LabelRule.objects.of_lab(lab)]
    return [_with_parts(run, rules) if _has_parts(run) else run for run in runs]


def _has_parts(run: RunDocument) -> bool:
    return bool(run.mode.options or run.variant or "+" in run.former_mode)


def _with_parts(run: RunDocument, rules: Sequence[PartRule]) -> RunDocument:
    found = read_options(run.mode, rules, image=run.image, parts=run.variant)
    former = run.former_mode
    if former:
        former = str(read_options(ModeName.parse(former), rules, image=run.image).mode)
    if (found.mode, found.parts) == (run.mode, run.variant):
        return replace(run, former=former)
    sent = run.as_sent or run
    return replace(run, mode=found.mode, variant=found.parts, as_sent=sent, former=former)


@dataclass(frozen=True, slots=True)
class Identified:
    """``fresh`` are the runs, each once, at their commits, with their ``digests``. ``new`` are not
    stored, ``changed`` with another digest. Of the others: ``placeless``, whose revision waits for
    its place, ``unproven``, which come with the first evidence of theirs, and ``undecided`` ones,
    which wait for a decision. Of all that are stored, ``renamed`` have the mode that their evidence
    calls the former one, and ``marked`` come with the first marks of their samples.
    """

    received: Received
    identities: Identities
    fresh: Sequence[RunDocument]
    digests: Mapping[UUID, str]
    new: Sequence[RunDocument]
    changed: Sequence[RunDocument]
    placeless: Sequence[RunDocument]
    unproven: Sequence[RunDocument]
    undecided: Sequence[RunDocument]
    renamed: Sequence[RunDocument]
    marked: Sequence[RunDocument]


class _Stored(NamedTuple):
    """What decides what becomes of another upload of a run. ``mode``: as it was sent."""

    uuid: UUID
    digest: str
    position: int
    without_evidence: bool
    waits: bool
    mode: str
    is_marked: bool


def identify(received: Received) -> Identified:
    """Find the commits of the runs and look up those that are stored; where others are to replace
    them, nobody else replaces runs from here on. Raises Unprocessable: one UUID with two contents;
    QuotaExceeded: the lab may store no more runs.
    """
    lab = received.agent.lab
    identities = identify_runs(received.runs, lab)
    fresh = _without_repeats(identities.runs)
    sent = {run.uuid: run.digest() for run in fresh}
    stored = _stored(fresh)
    if received.replace and any(row.digest != sent[uuid] for uuid, row in stored.items()):
        begin_replacing()
        stored = _stored(fresh)
    found = _classified(received, identities, fresh, stored, sent)
    if found.new and not received.asked_for:
        require_quota(lab=lab, runs=len(found.new))
    return found


def _classified(
    received: Received,
    identities: Identities,
    fresh: Sequence[RunDocument],
    stored: Mapping[UUID, _Stored],
    sent: Mapping[UUID, str],
) -> Identified:
    old = [(run, stored[run.uuid]) for run in fresh if run.uuid in stored]
    same = [(run, row) for run, row in old if row.digest == sent[run.uuid]]
    return Identified(
        received,
        identities,
        fresh,
        sent,
        new=[run for run in fresh if run.uuid not in stored],
        changed=[run for run, row in old if row.digest != sent[run.uuid]],
        placeless=[run for run, row in old if row.position >= WAITING_FROM],
        unproven=[run for run, row in same if run.evidence is not None and row.without_evidence],
        undecided=[run for run, row in same if row.waits],
        renamed=[run for run, row in old if row.mode in run.former_names],
        marked=[
            run for run, row in old if not row.is_marked and any(one.marks for one in run.metrics)
        ],
    )


def _stored(runs: Sequence[RunDocument]) -> dict[UUID, _Stored]:
    """The current runs of these UUIDs."""
    rows = map(_Stored._make, rows_of(STORED_RUNS, [[run.uuid for run in runs]]))
    return {row.uuid: row for row in rows}


def _without_repeats(runs: Sequence[RunDocument]) -> list[RunDocument]:
    """Each UUID once. The same UUID with other content in one batch has no right answer; of two
    names of its mode the later one counts.
    """
    first: dict[UUID, int] = {}
    problems = []
    for i, run in enumerate(runs):
        at = first.setdefault(run.uuid, i)
        if at != i and run.digest() != runs[at].digest():
            problems.append(
                Problem(f"runs[{i}].uuid", f"the same UUID as runs[{at}] with other content")
            )
        elif run.former_mode and not runs[at].former_mode:
            first[run.uuid] = i
    if problems:
        raise Unprocessable(problems)
    return [runs[i] for i in first.values()]


def refuse_foreign_runs(
    runs: Sequence[RunDocument], stored: Mapping[UUID, Run], lab: Lab, *, replace: bool
) -> None:
    """Raise Forbidden where a run is stored for hardware of another lab than ``lab``.

    Whose run it is follows from the stored one, whatever hardware the sent one names.
    """
    foreign = {uuid: run for uuid, run in stored.items() if run.hardware.lab_id != lab.pk}
    if not foreign:
        return
    problems = [
        Problem(
            f"runs[{i}].uuid",
            f"run {run.uuid} was measured on {foreign[run.uuid].hardware}, which belongs to "
            "another lab than this token",
        )
        for i, run in enumerate(runs)
        if run.uuid in foreign
    ]
    raise Forbidden(problems, attempted=[run.pk for run in foreign.values()] if replace else [])


@transaction.atomic
def note_refused_replacement(*, agent: Agent, runs: Sequence[int]) -> None:
    """``agent`` was refused to replace ``runs`` (ids). Call it when that was rolled back.

    A lab gets one mail a day about an agent, however often that tries: the mail is composed when
    it is sent, and counts. What was tried before is counted and not logged again: a loop must not
    push everything else out of the log.
    """
    now = timezone.now()
    tried = [tries for (tries,) in rows_of(KEEP_REFUSED, [agent.pk, now, now, sorted(runs)])]
    if new := tried.count(1):
        log.warning("replacing runs of another lab refused", agent=str(agent), runs=new)
    for lab in Lab.objects.filter(hardware__runs__in=runs).distinct():
        post_mails(_mails(lab, agent, now))


def _mails(lab: Lab, agent: Agent, now: datetime) -> list[NewMail]:
    due = now + timedelta(seconds=settings.MAIL_SETTLE_SECONDS)
    day = f"{now:%Y-%m-%d}"
    return [
        NewMail(
            recipient=person.pk,
            kind=REFUSED_KIND,
            about=f"lab:{lab.pk}:agent:{agent.pk}:{day}",
            due=person.after_quiet_hours(due),
            data={"lab": lab.pk, "agent": agent.pk, "day": day},
        )
        for person in lab.listeners()
    ]
