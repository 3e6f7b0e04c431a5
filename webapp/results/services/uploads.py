"""Which points hold runs that disagree: judged whenever a series changes, by all that it holds.

A point keeps its runs apart (``Point.uploads``) where their samples alone do not explain how they
differ. Whether all other noise does is a question to the history of its series, so the answer is
looked at again when that moves by a step. It is a function of the runs and the decisions that there
are, whatever their order of arrival.
"""

import hashlib
import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from math import fsum, isfinite
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from webapp.results.services.bulk import fetch_rows
from webapp.stats import agreement

LEVELS = """
SELECT wanted.id, recent.mean, recent.runs
  FROM unnest(%s::bigint[]) AS wanted (id)
 CROSS JOIN LATERAL (
       SELECT position, mean, runs FROM results_point
        WHERE series_id = wanted.id ORDER BY position DESC LIMIT %s) AS recent
 ORDER BY wanted.id, recent.position
"""
TO_JUDGE = """
SELECT point.id, point.series_id, point.position, point.disagrees, point.uploads,
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
  FROM json_to_recordset(%s::json) AS judged (id bigint, disagrees boolean, uploads jsonb)
 WHERE point.id = judged.id
"""
NOT_JUDGED = "not judged"

Run = tuple[Sequence[float], Sequence[Hashable] | None, str, UUID, str]
"""Samples, boots, build, UUID and digest."""


class _Waiting(NamedTuple):
    """A point whose uploads are to be judged."""

    id: int
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
    told = [
        (upload, samples)
        for samples, boots, build, uuid, _ in runs
        if (upload := agreement.upload_of(str(uuid), build, samples, boots)) is not None
    ]
    if not agreement.may_disagree([upload for upload, _ in told]):
        return None
    return {
        "key": key_of((uuid, digest) for _, _, _, uuid, digest in runs),
        "runs": [
            upload.to_data() | {"mean": _mean(samples), "n": len(samples)}
            for upload, samples in told
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

    Two statements, and a third where anything changed.
    """
    histories = _histories(series)
    lowest: dict[int, int] = {}
    judged = []
    for row in _to_judge(histories):
        found = _judge(row, histories[row.series])
        disagrees = found["beyond"] and not row.is_decided
        if disagrees != row.disagrees:
            lowest[row.series] = min(lowest.get(row.series, row.position), row.position)
        uploads = row.uploads | {"history": _data(histories[row.series]), "found": found}
        judged.append({"id": row.id, "disagrees": disagrees, "uploads": uploads})
    if judged:
        with connection.cursor() as cursor:
            cursor.execute(STORE, [json.dumps(judged, allow_nan=False)])
    return lowest


def _histories(series: Sequence[int]) -> dict[int, agreement.History | None]:
    rows = fetch_rows(LEVELS, list(series), agreement.HISTORY)
    levels = {
        pk: [(mean, runs) for _, mean, runs in group]
        for pk, group in groupby(rows, key=lambda row: row[0])
    }
    return {pk: agreement.history_of(levels.get(pk, [])) for pk in series}


def _to_judge(histories: dict[int, agreement.History | None]) -> list[_Waiting]:
    wanted = [{"series": pk, "history": _data(history)} for pk, history in histories.items()]
    return [
        _Waiting(pk, series, position, disagrees, json.loads(uploads), is_decided)
        for pk, series, position, disagrees, uploads, is_decided in fetch_rows(
            TO_JUDGE, json.dumps(wanted)
        )
    ]


def _data(history: agreement.History | None) -> list[float]:
    return list(asdict(history).values()) if history else []


def _judge(row: _Waiting, history: agreement.History | None) -> dict[str, Any]:
    """What is found of a point, as plain data; ``beyond`` noise is the mark, unless decided."""
    fields = agreement.Upload.__dataclass_fields__
    found = agreement.judge(
        [
            agreement.Upload.from_data({name: one[name] for name in fields})
            for one in row.uploads["runs"]
        ],
        history,
    )
    if found is None:
        return {"beyond": False}
    return asdict(found) | {"beyond": found.is_beyond_noise}


def _mean(samples: Sequence[float]) -> float:
    """Without a sum that leaves the range of a double."""
    total = fsum(samples) / len(samples) if isfinite(sum(map(abs, samples))) else None
    return fsum(value / len(samples) for value in samples) if total is None else total
