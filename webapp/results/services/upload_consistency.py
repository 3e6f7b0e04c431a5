"""Which points hold runs that disagree: judged whenever a series changes, by all that it holds.

A point keeps its runs apart (``Point.uploads``) where their samples alone do not explain how they
differ. Whether all other noise does is a question to the history of its series, so the answer is
looked at again when that moves by a step. It is a function of the runs and the decisions that there
are, whatever their order of arrival.
"""

import hashlib
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from math import fsum, isfinite
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from webapp.results.queries import rows_of
from webapp.stats import upload_consistency as consistency

LEVELS = """
SELECT wanted.id, recent.mean, recent.runs
  FROM unnest(%s::bigint[]) AS wanted (id)
 CROSS JOIN LATERAL (
       SELECT position, mean, runs FROM results_point
        WHERE series_id = wanted.id ORDER BY position DESC LIMIT %s) AS recent
 ORDER BY wanted.id, recent.position
"""
TO_JUDGE = """
SELECT point.revision_id, point.series_id, point.position, point.disagrees, point.uploads,
       decision.id IS NOT NULL
  FROM json_to_recordset(%s::json) AS wanted (series bigint, history jsonb)
  JOIN results_point AS point
    ON point.series_id = wanted.series AND point.uploads IS NOT NULL
  LEFT JOIN results_poolingdecision AS decision
    ON decision.key = point.uploads->>'key' AND decision.undone_at IS NULL
 WHERE point.uploads->'history' <> wanted.history
    OR point.disagrees <> ((point.uploads->'found'->>'beyond')::boolean AND decision.id IS NULL)
"""
STORE = """
UPDATE results_point AS point SET disagrees = judged.disagrees, uploads = judged.uploads
  FROM json_to_recordset(%s::json)
       AS judged (revision bigint, series bigint, disagrees boolean, uploads jsonb)
 WHERE point.revision_id = judged.revision AND point.series_id = judged.series
"""
NOT_JUDGED = "not judged"

EpochTimes = Callable[[Sequence[int]], Mapping[int, Sequence[datetime]]]
"""Of series (ids): when their epochs begin."""

_asked: list[EpochTimes] = []

Run = tuple[Sequence[float], Sequence[Hashable] | None, str, UUID, str, str, datetime | None]
"""Samples, boots, build, UUID, digest, session and when it was measured."""


def ask_for_epochs(of: EpochTimes) -> None:
    """Let the room above that knows of epochs say where they begin."""
    _asked[:] = [of]


class _Waiting(NamedTuple):
    """A point whose uploads are to be judged."""

    revision: int
    series: int
    position: int
    disagrees: bool
    uploads: dict[str, Any]
    is_decided: bool


def uploads_apart(runs: Sequence[Run]) -> dict[str, Any] | None:
    """What a point keeps of each of its runs; None where their samples explain how they differ, or
    tell nothing.
    """
    if len(runs) < 2:
        return None
    received = [
        (upload, samples, at)
        for samples, boots, build, uuid, _, session, at in runs
        if (upload := consistency.upload_of(str(uuid), build, samples, boots, session)) is not None
    ]
    if not consistency.may_disagree([upload for upload, _, _ in received]):
        return None
    return {
        "key": key_of((uuid, digest) for _, _, _, uuid, digest, _, _ in runs),
        "runs": [
            upload.to_data()
            | {"mean": _mean(samples), "n": len(samples), "at": at and at.timestamp()}
            for upload, samples, at in received
        ],
        "history": NOT_JUDGED,
        "found": None,
    }


def key_of(runs: Iterable[tuple[UUID, str]]) -> str:
    """The same for the same set of runs with the same content, in every instance."""
    text = "\n".join(sorted(f"{uuid} {digest}" for uuid, digest in runs))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def judge_uploads(series: Sequence[int]) -> dict[int, int]:
    """Judge the points of ``series`` (ids) that keep their runs apart, as far as something changed;
    series → the lowest position at which a mark came or went. The caller holds the series.

    Three statements, and a fourth where anything changed.
    """
    histories = _histories(series)
    epochs = _epochs(series)
    judged_by = {pk: _data(history, epochs.get(pk, ())) for pk, history in histories.items()}
    lowest: dict[int, int] = {}
    judged = []
    for row in _to_judge(judged_by):
        found = _judge(row, histories[row.series], epochs.get(row.series, ()))
        disagrees = found["beyond"] and not row.is_decided
        if disagrees != row.disagrees:
            lowest[row.series] = min(lowest.get(row.series, row.position), row.position)
        uploads = row.uploads | {"history": judged_by[row.series], "found": found}
        key = {"revision": row.revision, "series": row.series}
        judged.append({**key, "disagrees": disagrees, "uploads": uploads})
    if judged:
        with connection.cursor() as cursor:
            cursor.execute(STORE, [json.dumps(judged, allow_nan=False)])
    return lowest


def _histories(series: Sequence[int]) -> dict[int, consistency.History | None]:
    rows = rows_of(LEVELS, [list(series), consistency.HISTORY])
    levels = {
        pk: [(mean, runs) for _, mean, runs in group]
        for pk, group in groupby(rows, key=lambda row: row[0])
    }
    return {pk: consistency.history_of(levels.get(pk, [])) for pk in series}


def _epochs(series: Sequence[int]) -> dict[int, Sequence[float]]:
    """When epochs of the series begin, in seconds; of those that have several."""
    return {
        pk: [at.timestamp() for at in times] for of in _asked for pk, times in of(series).items()
    }


def _to_judge(judged_by: dict[int, list[Any]]) -> list[_Waiting]:
    wanted = [{"series": pk, "history": history} for pk, history in judged_by.items()]
    return [
        _Waiting(revision, series, position, disagrees, json.loads(uploads), is_decided)
        for revision, series, position, disagrees, uploads, is_decided in rows_of(
            TO_JUDGE, [json.dumps(wanted)]
        )
    ]


def _data(history: consistency.History | None, epochs: Sequence[float]) -> list[Any]:
    """What points are judged by, besides their runs; where that differs they are judged anew."""
    return [*(asdict(history).values() if history else ()), *([list(epochs)] if epochs else ())]


def _judge(
    row: _Waiting, history: consistency.History | None, epochs: Sequence[float]
) -> dict[str, Any]:
    """What is found of a point, as plain data; ``beyond`` noise is the mark, unless decided. Runs
    of two epochs are not compared; of several epochs the one that differs most decides.
    """
    fields = consistency.Upload.__dataclass_fields__
    of_epoch: dict[int, list[consistency.Upload]] = defaultdict(list)
    for one in row.uploads["runs"]:
        fields_of = {name: one[name] for name in fields if name in one}
        of_epoch[_epoch_of(one.get("at"), epochs)].append(consistency.Upload.from_data(fields_of))
    judged = [consistency.judge(its, history) for _, its in sorted(of_epoch.items())]
    found = min(filter(None, judged), key=lambda one: one.chance / one.limit, default=None)
    if found is None:
        return {"beyond": False}
    return asdict(found) | {"beyond": found.is_beyond_noise}


def _epoch_of(at: float | None, epochs: Sequence[float]) -> int:
    """Which epoch a run was measured in. Whose time is not known counts where its revision lies,
    which is before the epochs that part its runs."""
    return 0 if at is None else bisect_right(epochs, at)


def _mean(samples: Sequence[float]) -> float:
    """Without a sum that leaves the range of a double."""
    total = fsum(samples) / len(samples) if isfinite(sum(map(abs, samples))) else None
    return fsum(value / len(samples) for value in samples) if total is None else total
