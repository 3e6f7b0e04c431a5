"""A fact of a machine that changed is an event."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from django.utils import timezone

from webapp.events.models import TEXT_MAX, LabEvent
from webapp.events.services.lab_events import EventFields, record_event
from webapp.results.models import EARLIEST, Hardware
from webapp.results.services import ChangedFact

SHOWN = 60
"""Characters of each value in the text of an event."""

MOST_FACTS = 10
"""Facts named in one event; the others are counted."""


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
    return value if len(value) <= SHOWN else f"{value[: SHOWN - 1].rstrip()}…"
