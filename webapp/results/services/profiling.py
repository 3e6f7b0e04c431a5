"""Store profiles: once each, their functions interned."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent
from webapp.labs.services import Stored, spend_quota
from webapp.results.documents import Forbidden, Problem, ResultsError, Unprocessable
from webapp.results.models import Profile, Run
from webapp.results.queries import rows_of
from webapp.stats.profiles.calls import Calls, Function, packed

MOST_PROFILES = 200
"""Profiles of one run: a boot of each of its iterations several times over."""

INTERN = """
WITH given AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS one (name, module)),
     made AS (
       INSERT INTO results_profiledfunction (name, module)
       SELECT name, module FROM given ORDER BY name, module
           ON CONFLICT (name, module) DO NOTHING
       RETURNING id, name, module)
SELECT id, name, module FROM made
 UNION ALL
SELECT known.id, name, module
  FROM results_profiledfunction AS known JOIN given USING (name, module)
"""
"""The ids of functions; a function that another transaction adds meanwhile is in neither part."""


class NoSuchRun(ResultsError):
    """No stored run has this UUID."""


@dataclass(frozen=True, slots=True)
class ProfileDocument:
    """A profile as it was sent."""

    name: str
    format: str
    event: str
    iteration: int | None
    boot: str
    expected: Sequence[int | None]
    is_truncated: bool
    unsymbolized: int
    pps: float | None
    cores: int | None
    event_rate: float | None
    warnings: Sequence[str]
    calls: Calls


@transaction.atomic
def store_profile(*, agent: Agent, uuid: UUID, document: ProfileDocument) -> tuple[Profile, bool]:
    """The stored profile of run ``uuid``, and whether it is new.

    Raises:
        NoSuchRun: no run has the UUID.
        Forbidden: its hardware is of another lab than the agent.
        Unprocessable: the run has `MOST_PROFILES` profiles.
        QuotaExceeded: the lab may store no more bytes of them.
    """
    # The lock of the run's row: of two uploads of one profile the second finds that of the first.
    found = Run.objects.current().select_for_update(of=("self",)).select_related("hardware")
    run = found.filter(uuid=uuid).first()
    if run is None:
        raise NoSuchRun([Problem("uuid", f"no run {uuid} is stored; upload the run first")])
    if run.hardware.lab_id != agent.lab_id:
        raise Forbidden([Problem("uuid", f"run {uuid} is of another lab than this token")])
    calls = packed(document.calls)
    digest = _digest(document, calls)
    known = Profile.objects.filter(run=run)
    stored = known.filter(digest=digest).without_calls().first()
    if stored is not None:
        return stored, False
    if known.count() >= MOST_PROFILES:
        message = f"has {MOST_PROFILES} profiles, the most of one run; remove some in the admin"
        raise Unprocessable([Problem("uuid", f"run {uuid} {message}")])
    made = _stored(run, agent, document, digest=digest, calls=calls)
    kilobytes = ceil((len(made.calls) + 4 * len(made.functions)) / 1000)
    spend_quota(lab=agent.lab, stored=Stored(profiles=kilobytes))
    return made, True


def _stored(
    run: Run, agent: Agent, document: ProfileDocument, *, digest: str, calls: bytes
) -> Profile:
    return Profile.objects.create(
        run=run,
        agent=agent,
        digest=digest,
        name=document.name,
        format=document.format,
        event=document.event,
        iteration=document.iteration,
        boot=document.boot,
        expected=list(document.expected),
        samples=document.calls.samples,
        is_truncated=document.is_truncated,
        unsymbolized=document.unsymbolized,
        pps=document.pps,
        cores=document.cores,
        event_rate=document.event_rate,
        warnings=list(document.warnings),
        functions=_interned(document.calls.functions),
        calls=calls,
        nodes=len(document.calls.parent),
        received_at=timezone.now(),
    )


def _interned(functions: Sequence[Function]) -> list[int]:
    """The ids of functions, which are added where they are new."""
    ids: dict[Function, int] = {}
    while missing := [one for one in functions if one not in ids]:
        names = [one.name for one in missing]
        rows = rows_of(INTERN, [names, [one.module for one in missing]])
        ids |= {Function(name, module): pk for pk, name, module in rows}
    return [ids[one] for one in functions]


def _digest(document: ProfileDocument, calls: bytes) -> str:
    names = "\n".join(f"{one.name}\t{one.module}" for one in document.calls.functions)
    text = f"{document.event}\n{document.boot}\n{names}".encode()
    return hashlib.sha256(text + calls).hexdigest()
