"""Record, edit and withdraw events of labs, and name releases of trees. An event that begins an
epoch, or did, has the series that it covers analysed anew. A fact of a machine that changed is an
event.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.accounts.models import User
from webapp.events.models import RELEASE_NAME_MAX, TEXT_MAX, LabEvent, Release
from webapp.labs.models import Agent, Lab
from webapp.queueing import Task, queue_on_commit
from webapp.results.models import (
    EARLIEST,
    Hardware,
    HardwareAlias,
    Revision,
    Series,
    Tree,
    wrong_with_line,
    wrong_with_text,
)
from webapp.results.services import (
    ChangedFact,
    Problem,
    ResultsError,
    Unprocessable,
    answer_to,
    begin_writing,
    ensure_revision,
    mark_dirty,
    revision_given,
)

EXTERNAL_ID_MAX = 100
REASON_MAX = 500
CLOCK_TOLERANCE = timedelta(days=1)

CHARACTERS_SHOWN = 60
"""Characters of each value in the text of an event."""

MOST_FACTS = 10
"""Facts named in one event; the others are counted."""


@dataclass(frozen=True, slots=True)
class EventFields:
    """What an event states: what happened, to what, and when. See `LabEvent`."""

    kind: str
    text: str
    hardware: Hardware | None = None
    lab: Lab | None = None
    tree: Tree | None = None
    happened_at: datetime | None = None
    first: Revision | None = None
    last: Revision | None = None
    begins_epoch: bool = False


@dataclass(frozen=True, slots=True)
class EventNames:
    """What an event states, by names; empty: not given. ``last`` alone left out is ``first``."""

    kind: str
    text: str
    hardware: str = ""
    lab: str = ""
    tree: str = ""
    happened_at: datetime | None = None
    first: str = ""
    last: str = ""
    begins_epoch: bool = False


def event_fields(names: EventNames) -> EventFields:
    """The rows that ``names`` mean. Raises Unprocessable, with every name that is not known."""
    problems: list[Problem] = []
    tree = Tree.objects.filter(name=names.tree).first() if names.tree else None
    hardware = hardware_called(names.hardware) if names.hardware else None
    lab = Lab.objects.filter(name=names.lab).first() if names.lab else None
    for field, given, row in (
        ("tree", names.tree, tree),
        ("hardware", names.hardware, hardware),
        ("lab", names.lab, lab),
    ):
        if given and row is None:
            problems.append(Problem(field, f"there is no {field} {given!r}"))
    first = revision_given(tree, "first", names.first, problems)
    last = revision_given(tree, "last", names.last, problems) if names.last else first
    if problems:
        raise Unprocessable(problems)
    return EventFields(
        kind=names.kind,
        text=names.text.strip(),
        hardware=hardware,
        lab=lab,
        tree=tree,
        happened_at=names.happened_at,
        first=first,
        last=last,
        begins_epoch=names.begins_epoch,
    )


def hardware_called(name: str) -> Hardware | None:
    """The machine of this name, present or former, with its lab."""
    found = Hardware.objects.select_related("lab").filter(name=name).first()
    if found is not None:
        return found
    alias = HardwareAlias.objects.select_related("hardware__lab").filter(name=name).first()
    return alias.hardware if alias else None


@transaction.atomic
def record_event(
    *,
    fields: EventFields,
    source: str,
    external_id: str = "",
    agent: Agent | None = None,
    created_by: User | None = None,
    now: datetime | None = None,
) -> tuple[LabEvent, bool]:
    """Store an event, and whether it is new. ``source`` is a `LabEvent.Source`.

    One that ``agent`` (or, without one, the source) recorded under the same ``external_id`` is
    given back as it is stored: sending twice stores once, and an edit meanwhile stays. Raises
    Unprocessable: a field is wrong.
    """
    at = now or timezone.now()
    _check(fields, at)
    if len(external_id) > EXTERNAL_ID_MAX or wrong_with_text(external_id):
        raise Unprocessable(
            [Problem("external_id", f"give at most {EXTERNAL_ID_MAX} plain characters")]
        )
    begin_writing()
    event = LabEvent(
        **_columns(fields),
        source=source,
        external_id=external_id,
        agent=agent,
        created_by=created_by,
        created_at=at,
    )
    if external_id:
        return _once(event)
    event.save()
    analyse_covered(event)
    return event, True


def _once(event: LabEvent) -> tuple[LabEvent, bool]:
    """Two that send at once: the second waits for the first, and passes its row by."""
    same = LabEvent.objects.filter(
        source=event.source, agent=event.agent, external_id=event.external_id
    )
    before = same.first()
    if before is not None:
        return before, False
    LabEvent.objects.bulk_create([event], ignore_conflicts=True)
    stored = same.get()
    is_new = stored.created_at == event.created_at
    if is_new:
        analyse_covered(stored)
    return stored, is_new


@transaction.atomic
def edit_event(
    *, event: int, fields: EventFields, actor: User, now: datetime | None = None
) -> LabEvent:
    """Let an event (by id) state something else. Raises LabEvent.DoesNotExist; Unprocessable: a
    field is wrong, or the event was withdrawn.
    """
    at = now or timezone.now()
    _check(fields, at)
    begin_writing()
    row = _locked(event)
    if row.is_withdrawn:
        raise Unprocessable([Problem("event", "it was withdrawn; record a new one")])
    before = LabEvent.objects.get(pk=row.pk)
    for name, value in _columns(fields).items():
        setattr(row, name, value)
    row.edited_by, row.edited_at = actor, at
    row.save()
    if _epoch_of(before) != _epoch_of(row):
        analyse_covered(before)
        analyse_covered(row)
    return row


@transaction.atomic
def withdraw_event(
    *, event: int, actor: User, reason: str, now: datetime | None = None
) -> LabEvent:
    """Let an event (by id) count no more; it stays readable. Idempotent. Raises
    LabEvent.DoesNotExist; Unprocessable: no reason is given.
    """
    text = reason.strip()[:REASON_MAX]
    if not text or wrong_with_text(text):
        raise Unprocessable([Problem("reason", "say why it is withdrawn")])
    begin_writing()
    row = _locked(event)
    if row.is_withdrawn:
        return row
    row.withdrawn_by, row.withdrawn_at, row.withdrawn_reason = actor, now or timezone.now(), text
    row.save(update_fields=["withdrawn_by", "withdrawn_at", "withdrawn_reason"])
    analyse_covered(row)
    return row


def _locked(event: int) -> LabEvent:
    return LabEvent.objects.select_for_update(of=["self"]).get(pk=event)


def _columns(fields: EventFields) -> dict[str, object]:
    return {name: getattr(fields, name) for name in EventFields.__dataclass_fields__}


def _epoch_of(event: LabEvent) -> tuple[object, ...]:
    """What of an event the analysis goes by."""
    if not event.begins_epoch:
        return ()
    return event.hardware_id, event.lab_id, event.tree_id, event.happened_at, event.first_id


def _check(fields: EventFields, now: datetime) -> None:
    problems = list(_problems(fields, now))
    if problems:
        raise Unprocessable(problems)


def _problems(fields: EventFields, now: datetime) -> Iterator[Problem]:
    if fields.kind not in LabEvent.Kind.values:
        yield Problem("kind", f"choose one of {', '.join(LabEvent.Kind.values)}")
    if not fields.text.strip():
        yield Problem("text", "say what happened")
    elif len(fields.text) > TEXT_MAX:
        yield Problem("text", f"give at most {TEXT_MAX} characters")
    elif fault := wrong_with_text(fields.text):
        yield Problem("text", fault)
    if fields.hardware is not None and fields.lab is not None:
        yield Problem("lab", "give hardware or a whole lab, not both")
    if fields.hardware is None and fields.lab is None and fields.tree is None:
        yield Problem("hardware", "give hardware, a lab, or a tree that it concerns")
    if fields.kind == LabEvent.Kind.NOTE and fields.begins_epoch:
        yield Problem("begins_epoch", "a note begins no epoch; choose what happened as its kind")
    yield from _wrong_with_when(fields, now)


def _wrong_with_when(fields: EventFields, now: datetime) -> Iterator[Problem]:
    has_range = fields.first is not None or fields.last is not None
    if (fields.happened_at is not None) == has_range:
        yield Problem(
            "happened_at", "give a time, or the revisions from which and up to which it shows"
        )
    elif fields.happened_at is not None:
        if not EARLIEST <= fields.happened_at <= now + CLOCK_TOLERANCE:
            yield Problem("happened_at", f"give a time from {EARLIEST:%Y-%m-%d} to now")
    elif fields.first is None or fields.last is None:
        yield Problem("first" if fields.first is None else "last", "name both ends of the range")
    else:
        yield from _wrong_with_range(fields.tree, fields.first, fields.last)


def _wrong_with_range(tree: Tree | None, first: Revision, last: Revision) -> Iterator[Problem]:
    if tree is None:
        yield Problem("tree", "name the tree of the revisions")
        return
    for name, revision in (("first", first), ("last", last)):
        if revision.tree_id != tree.pk:
            yield Problem(name, f"{revision} is not a revision of {tree}")
        elif revision.is_waiting:
            yield Problem(name, f"{revision} waits for its place on {tree}")
    if first.position > last.position:
        yield Problem("last", f"{last} comes before {first}")


def analyse_covered(event: LabEvent) -> None:
    """Have the series that the epoch of ``event`` covers analysed anew, whole; none where it begins
    no epoch. The caller has begun writing.
    """
    if not event.begins_epoch:
        return
    found = Series.objects.plain().filter(_covered(event)).order_by("pk")
    ids = list(found.select_for_update(of=["self"], no_key=True).values_list("pk", flat=True))
    if ids:
        mark_dirty(dict.fromkeys(ids, 0))
        queue_on_commit(Task.ANALYSE)


def _covered(event: LabEvent) -> Q:
    covered = Q()
    if event.tree_id is not None:
        covered &= Q(tree=event.tree_id)
    if event.hardware_id is not None:
        covered &= Q(hardware=event.hardware_id)
    if event.lab_id is not None:
        covered &= Q(hardware__lab=event.lab_id)
    return covered


def record_changes(changes: Sequence[ChangedFact]) -> list[LabEvent]:
    """Record an event for each machine and time, whatever number of facts changed there."""
    if not changes:
        return []
    now = timezone.now()
    machines = Hardware.objects.in_bulk({one.hardware for one in changes})
    ordered = sorted(changes, key=lambda one: (one.at, one.hardware, one.name, one.source))
    return [
        _record(machines[hardware], at, list(together), now)
        for (at, hardware), together in groupby(ordered, key=lambda one: (one.at, one.hardware))
    ]


def _record(
    hardware: Hardware, at: datetime, changes: Sequence[ChangedFact], now: datetime
) -> LabEvent:
    fields = EventFields(
        kind=min((one.kind.value for one in changes), key=LabEvent.Kind.values.index),
        text=_text(changes),
        hardware=hardware,
        # A clock may be wrong; the event is not, for that.
        happened_at=max(EARLIEST, min(at, now)),
    )
    name = hashlib.blake2b(f"{hardware.name} {at.isoformat()}".encode(), digest_size=16)
    event, _ = record_event(
        fields=fields, source=LabEvent.Source.FACT, external_id=name.hexdigest(), now=now
    )
    return event


def _text(changes: Sequence[ChangedFact]) -> str:
    lines = [
        f"{one.name}: {_short(one.new)}, before {_short(one.old)}"
        + (" (typed)" if one.source == "typed" else "")
        for one in changes[:MOST_FACTS]
    ]
    if len(changes) > MOST_FACTS:
        lines.append(f"and {len(changes) - MOST_FACTS} more facts")
    return "\n".join(lines)[:TEXT_MAX]


def _short(value: str) -> str:
    return value if len(value) <= CHARACTERS_SHOWN else f"{value[: CHARACTERS_SHOWN - 1].rstrip()}…"


class ReleaseTaken(ResultsError):
    """A release of this name is stored with another revision, kind or date."""


@transaction.atomic
def record_release(
    *, tree: Tree, name: str, revision: str, kind: str, released_on: date | None = None
) -> tuple[Release, bool]:
    """Record that a revision (by name) of ``tree`` is a release or a branch point; return it, and
    whether it is new. A revision that is not known is made where its id has its place. Raises
    Unprocessable: a field is wrong; ReleaseTaken: the name is stored with another revision, kind or
    date.
    """
    fault = wrong_with_line(name)
    if not name.strip() or len(name) > RELEASE_NAME_MAX or fault:
        message = fault or f"give a name of at most {RELEASE_NAME_MAX} characters"
        raise Unprocessable([Problem("name", message)])
    if kind not in Release.Kind.values:
        raise Unprocessable([Problem("kind", f"choose one of {', '.join(Release.Kind.values)}")])
    found = ensure_revision(tree=tree, name=revision)
    values = {"revision": found, "kind": kind, "released_on": released_on}
    release, is_new = Release.objects.get_or_create(tree=tree, name=name, defaults=values)
    answer_to(revision=found, names=release.ids)
    differing = [field for field, value in values.items() if getattr(release, field) != value]
    if differing:
        field = differing[0]
        message = f"{name!r} of {tree} is stored with {getattr(release, field)}"
        raise ReleaseTaken([Problem(field, f"{message}; an operator changes it in the admin")])
    return release, is_new
