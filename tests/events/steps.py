"""What tests of events and canaries do again and again."""

from datetime import datetime, timedelta
from typing import Any

from tests import make
from webapp.events.models import Canary, LabEvent, Release
from webapp.events.services import EventFields, record_event
from webapp.results.models import Revision, Run

NOW = make.DAY_ONE + timedelta(days=100)


def event(text: str = "new NIC", *, source: str = "person", **fields: Any) -> LabEvent:
    """One of the usual hardware a day after the first, unless ``fields`` differ."""
    extra = {
        name: fields.pop(name) for name in ("external_id", "agent", "created_by") if name in fields
    }
    fields.setdefault("kind", "hardware")
    if not fields.keys() & {"lab", "tree", "hardware"}:
        fields["hardware"] = make.hardware()
    if not fields.keys() & {"first", "last", "happened_at"}:
        fields["happened_at"] = make.DAY_ONE + timedelta(days=1)
    given = EventFields(text=text, **fields)
    return record_event(fields=given, source=source, now=NOW, **extra)[0]


def release(name: str, at: Revision, **fields: Any) -> Release:
    return Release.objects.create(tree=at.tree, name=name, revision=at, **fields)


def canary(at: Revision | None = None, **fields: Any) -> Canary:
    defaults: dict[str, Any] = {
        "hardware": make.hardware(),
        "mode": make.mode("memcpy"),
        "metric": make.metric(),
        "revision": at or make.revision("r300000"),
    }
    return Canary.objects.create(**{**defaults, **fields})


def boots(of: Canary, values: list[float], *, since: datetime = make.DAY_ONE) -> list[Run]:
    """A run of one boot a day."""
    return [
        make.run(
            of.revision,
            on=of.hardware,
            in_mode=of.mode,
            of_metric=of.metric,
            samples=[value],
            measured_at=since + timedelta(days=day),
            received_at=since + timedelta(days=day),
        )
        for day, value in enumerate(values)
    ]


CALM = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0, 100.2, 99.8]
