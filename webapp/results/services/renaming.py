"""Known runs whose mode has another name by now: they move to the series of that mode.

An agent that reads a mode otherwise than agents before it says how these read it
(``Evidence.former_mode``). Identity and digest of the run stay those under the former name.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db import connection

from webapp.results.documents import RunDocument
from webapp.results.models import Mode
from webapp.results.services.aliased_runs import names_as_sent, note_names
from webapp.results.services.label_rules import as_sent_data
from webapp.results.services.moving import move_to_series
from webapp.results.services.replacing import lock_current
from webapp.results.services.resolving import SeriesKey, Subjects

NOTE_FORMER = """
UPDATE results_run AS run
   SET variant_id = moved.variant, as_sent = moved.as_sent,
       evidence = run.evidence || jsonb_build_object('former_mode', moved.former)
  FROM json_to_recordset(%s::json)
       AS moved (run bigint, variant bigint, former text, as_sent jsonb)
 WHERE run.id = moved.run
"""


def adopt_modes(
    runs: Sequence[RunDocument], subjects: Subjects, *, besides: Iterable[SeriesKey] = ()
) -> frozenset[UUID]:
    """Move those of the stored ``runs`` that still have their former mode to the one they name;
    their UUIDs. A run whose mode an operator merged into another one stays there.

    All series are locked in one order: also those of the keys ``besides``, which the caller is
    going to write to. Points of both series are pooled anew; a run that waits or was withdrawn
    moves, and stays out.
    """
    stored = lock_current(run.uuid for run in runs)
    names = {name for run in runs for name in run.former_names}
    former = dict(Mode.objects.filter(name__in=names).values_list("name", "pk"))
    called: dict[int, RunDocument] = {}
    for run in runs:
        row, into = stored.get(run.uuid), subjects.modes[str(run.mode)].pk
        known = {former[name] for name in run.former_names if name in former}
        sent = names_as_sent(row).mode.pk if row else None
        if row and sent in known and sent != into:
            called[row.pk] = run
    if not called:
        return frozenset()
    aliased = {pk: run for pk, run in called.items() if run.uuid in subjects.aliased}
    former_aliased = [row.pk for row in stored.values() if names_as_sent(row) is not row]
    sent_as = {pk: subjects.sent_names_of(run) for pk, run in aliased.items()}
    note_names(sent_as, of=called.keys() & former_aliased)
    _note_former(called, subjects)
    moved = {pk: subjects.names_of(run) for pk, run in called.items()}
    variants = {pk: subjects.variant_of(run) for pk, run in called.items()}
    move_to_series(moved, variants=variants, besides=besides)
    return frozenset(uuid for uuid, row in stored.items() if row.pk in moved)


def _note_former(called: Mapping[int, RunDocument], subjects: Subjects) -> None:
    """What runs (ids) were called before, and what is kept of the document that says so."""
    rows = [
        {
            "run": pk,
            "variant": subjects.variant_of(run),
            "former": run.former_mode or (run.as_sent.former_mode if run.as_sent else ""),
            "as_sent": as_sent_data(run),
        }
        for pk, run in called.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(NOTE_FORMER, [json.dumps(rows)])
