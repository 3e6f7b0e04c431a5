"""What an upload adds to runs that are stored already: another name of their mode, their first
evidence, the first marks of their samples, and whom to believe.

An agent that reads a mode otherwise than agents before it states how these read it
(``Evidence.former_mode``). Identity and digest of the run stay those under the former name. Marks
are no part of what makes a run the same run: an archive that is sent again by an agent that looks
for more gets them then.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from webapp.labs.models import Lab
from webapp.queueing import Task, queue_on_commit
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.models import WAITING_FROM, Measurement, Mode, RevisionAlias, Run, WaitingRun
from webapp.results.queries import rows_of
from webapp.results.services import refiling
from webapp.results.services.aliases import file_by_names, names_as_sent, note_names
from webapp.results.services.identities import (
    LEFT_OUT,
    WAITS,
    Identities,
    decide_waiting,
    note_doubts,
)
from webapp.results.services.named_rows import SeriesKey
from webapp.results.services.points import renew
from webapp.results.services.run_decisions import lock_measurements, pool_again
from webapp.results.services.upload.filing import Filed, FiledRun, lock_current
from webapp.results.validity import left_out

# A count of all commits that had no place by right is another name of the commit.
ANSWER_TO = """
UPDATE results_revisionalias AS alias SET revision_id = given.revision
  FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS given (tree, name, revision),
       results_revision AS former
 WHERE alias.tree_id = given.tree AND alias.name = given.name
   AND alias.revision_id <> given.revision AND former.id = alias.revision_id
   AND former.name = given.name AND (former.is_estimated OR former.position >= %s)
   AND NOT former.decided AND former.name ~ '^c[0-9]{6}$'
RETURNING alias.id
"""
NOTE_FORMER = """
UPDATE results_run AS run
   SET variant_id = moved.variant, as_sent = moved.as_sent,
       evidence = run.evidence || jsonb_build_object('former_mode', moved.former)
  FROM json_to_recordset(%s::json)
       AS moved (run bigint, variant bigint, former text, as_sent jsonb)
 WHERE run.id = moved.run
"""


@dataclass(frozen=True, slots=True)
class Adopted:
    """Known runs that wait for a decision now, and those that moved to another commit."""

    waiting: frozenset[UUID] = frozenset()
    refiled: frozenset[UUID] = frozenset()


def marked(metric: MetricDocument) -> dict[str, Any]:
    """The columns of a new measurement that say what may be wrong with it."""
    return {
        "validity": [asdict(mark) for mark in metric.marks] or None,
        "left_out": left_out(metric.marks, len(metric.samples)),
    }


def adopt_modes(runs: Sequence[FiledRun], *, besides: Iterable[SeriesKey]) -> frozenset[UUID]:
    """Move those of the stored ``runs`` that still have their former mode to the one they name;
    their UUIDs. A run whose mode an operator merged into another one stays there.

    All series are locked in one order: also those of the keys ``besides``, which the caller is
    going to write to. Points of both series are pooled anew; a run that waits or was withdrawn
    moves, and stays out.
    """
    if not runs:
        return frozenset()
    stored = lock_current(run.uuid for run in runs)
    names = {name for run in runs for name in run.document.former_names}
    former = dict(Mode.objects.filter(name__in=names).values_list("name", "pk"))
    called: dict[int, FiledRun] = {}
    for run in runs:
        row = stored.get(run.uuid)
        known = {former[name] for name in run.document.former_names if name in former}
        sent = names_as_sent(row).mode.pk if row else None
        if row and sent in known and sent != run.sent.mode:
            called[row.pk] = run
    if not called:
        return frozenset()
    former_aliased = {row.pk for row in stored.values() if names_as_sent(row) is not row}
    sent_as = {pk: run.sent for pk, run in called.items() if run.is_aliased}
    note_names(sent_as, of=called.keys() & former_aliased)
    _note_former(called)
    moved = {pk: run.names for pk, run in called.items()}
    variants = {pk: run.variant for pk, run in called.items()}
    refiling.move_to_series(moved, variants=variants, besides=besides)
    return frozenset(uuid for uuid, row in stored.items() if row.pk in moved)


def adopt(filed: Filed) -> Adopted:
    """Let commits answer to the names that evidence gave them, and known runs have their first
    evidence, marks and decisions. The series of the upload are written and pooled.
    """
    found, lab = filed.identified, filed.identified.received.agent.lab
    _name_commits(filed.aliases)
    adopted = _adopt_evidence(filed.unproven) if filed.unproven else Adopted()
    written = {run.uuid for run in filed.runs}
    _adopt_marks([run for run in found.marked if run.uuid not in written], lab)
    undecided = frozenset(run.uuid for run in found.undecided)
    decided = _decide_as_sent(found.undecided, found.identities, lab) if undecided else frozenset()
    return Adopted(adopted.waiting | (undecided - decided), adopted.refiled | decided)


def _adopt_marks(runs: Iterable[RunDocument], lab: Lab) -> None:
    """Keep the marks of stored ``runs`` that had none; those of hardware of ``lab``. The points of
    the runs are pooled anew where a sample leaves them.
    """
    sent = {(run.uuid, one.name): one for run in runs for one in run.metrics if one.marks}
    if not sent:
        return
    uuids = {uuid for uuid, _ in sent}
    found = Measurement.objects.filter(
        run__uuid__in=uuids,
        run__superseded_by__isnull=True,
        run__hardware__lab=lab,
        validity__isnull=True,
    )
    lock_measurements(found)
    changed = []
    for row in found.select_related("run", "series__metric"):
        metric = sent.get((row.run.uuid, row.series.metric.name))
        if metric is not None and metric.samples == row.samples:
            columns = marked(metric)
            row.validity, row.left_out = columns["validity"], columns["left_out"]
            changed.append(row)
    Measurement.objects.bulk_update(changed, ["validity", "left_out"])
    pool_again([row for row in changed if row.left_out])


def _note_former(called: Mapping[int, FiledRun]) -> None:
    """What runs (ids) were called before, and what is kept of the document with the reason."""
    rows = [
        {
            "run": pk,
            "variant": run.variant,
            "former": _former_mode(run.document),
            "as_sent": run.as_sent,
        }
        for pk, run in called.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(NOTE_FORMER, [json.dumps(rows)])


def _former_mode(run: RunDocument) -> str:
    return run.former_mode or (run.as_sent.former_mode if run.as_sent else "")


def _name_commits(aliases: Sequence[tuple[int, int, str]]) -> None:
    """Let commits, by tree and revision (ids), answer to another name. A name that another revision
    of the tree bears stays that one's, unless that is no more than the name: it is merged then
    (``webapp.merging``).
    """
    made = {
        (tree, name): RevisionAlias(tree_id=tree, revision_id=revision, name=name)
        for tree, revision, name in aliases
    }
    if made:
        RevisionAlias.objects.bulk_create(made.values(), ignore_conflicts=True)
        trees, names = zip(*made, strict=True)
        revisions = [alias.revision_id for alias in made.values()]
        rows_of(ANSWER_TO, [list(trees), list(names), revisions, WAITING_FROM])
        queue_on_commit(Task.ESTIMATE_POSITIONS)


def _adopt_evidence(runs: Sequence[FiledRun]) -> Adopted:
    """Keep the evidence of ``runs`` that were stored without it, and file them by it.

    A run that somebody withdrew stays out, wherever it is filed.
    """
    stored = lock_current(run.uuid for run in runs)
    now = timezone.now()
    refiling.lock_series_of_runs(row.pk for row in stored.values())
    before = refiling.points_at(row.pk for row in stored.values())
    by_pk = {stored[run.uuid].pk: run for run in runs}
    _keep_evidence(by_pk)
    waiting = {pk: run for pk, run in by_pk.items() if run.identity.waits}
    moved = {
        pk: run.revision
        for pk, run in by_pk.items()
        if run.revision.pk != stored[run.uuid].revision_id
    }
    refiling.refile(moved)
    for reason, is_left_out in ((LEFT_OUT, True), (WAITS, False)):
        its = [pk for pk, run in waiting.items() if bool(run.left_out) is is_left_out]
        refiling.leave_out(its, reason=reason, now=now)
    note_doubts([run.doubt(pk) for pk, run in waiting.items()], now)
    if touched := {*moved, *waiting}:
        renew(before | refiling.points_at(touched))
    file_by_names(by_pk)
    open_ones = frozenset(run.uuid for run in waiting.values() if not run.left_out)
    return Adopted(open_ones, frozenset(by_pk[pk].uuid for pk in moved) - open_ones)


def _keep_evidence(runs: Mapping[int, FiledRun]) -> None:
    """Store the evidence of runs (ids)."""
    Run.objects.bulk_update(
        [
            Run(pk=pk, evidence=asdict(found), session=found.session_name)
            for pk, run in runs.items()
            if (found := run.document.evidence)
        ],
        ["evidence", "session"],
    )


def _decide_as_sent(
    runs: Iterable[RunDocument], identities: Identities, lab: Lab
) -> frozenset[UUID]:
    """Decide known ``runs`` that wait and are sent again with whom to believe; those of ``lab``."""
    asked: dict[str, list[UUID]] = {}
    for run in runs:
        if run.evidence and run.evidence.trust and not identities.of[run.uuid].waits:
            asked.setdefault(run.evidence.trust, []).append(run.uuid)
    decided: set[UUID] = set()
    for trust, uuids in asked.items():
        rows = WaitingRun.objects.open().filter(run__uuid__in=uuids, run__hardware__lab=lab)
        own = set(rows.values_list("run__uuid", flat=True))
        decide_waiting(runs=own, choice=trust, by=None, rule=f"sent with --trust {trust}")
        decided |= own
    return frozenset(decided)
