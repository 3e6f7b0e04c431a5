"""From the names that a form or a document gives to rows."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction

from webapp.events.models import RELEASE_NAME_MAX, Release
from webapp.events.services.canaries import NewCanary
from webapp.events.services.lab_events import EventFields
from webapp.labs.models import Lab
from webapp.results import models, services


class ReleaseTaken(services.ResultsError):
    """A release of this name is stored with another revision, kind or date."""


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
    problems: list[services.Problem] = []
    tree = models.Tree.objects.filter(name=names.tree).first() if names.tree else None
    hardware = hardware_called(names.hardware) if names.hardware else None
    lab = Lab.objects.filter(name=names.lab).first() if names.lab else None
    for field, given, row in (
        ("tree", names.tree, tree),
        ("hardware", names.hardware, hardware),
        ("lab", names.lab, lab),
    ):
        if given and row is None:
            problems.append(services.Problem(field, f"there is no {field} {given!r}"))
    first = services.revision_given(tree, "first", names.first, problems)
    last = services.revision_given(tree, "last", names.last, problems) if names.last else first
    if problems:
        raise services.Unprocessable(problems)
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


@dataclass(frozen=True, slots=True)
class CanaryNames:
    """What a canary measures, by names, and how often."""

    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str
    interval_days: int
    boots: int


@transaction.atomic
def canary_of(names: CanaryNames) -> NewCanary:
    """The rows that ``names`` mean; a revision is made where its id has its place. Raises
    Unprocessable: with every name that is not known.
    """
    tree = models.Tree.objects.filter(name=names.tree).first()
    hardware = hardware_called(names.hardware)
    mode = models.Mode.objects.filter(name=names.mode).first()
    metric = models.Metric.objects.filter(name=names.metric).first()
    if tree is None or hardware is None or mode is None or metric is None:
        rows = {"tree": tree, "hardware": hardware, "mode": mode, "metric": metric}
        problems = [
            services.Problem(field, f"there is no {field} {getattr(names, field)!r}")
            for field, row in rows.items()
            if row is None
        ]
        raise services.Unprocessable(problems)
    return NewCanary(
        hardware=hardware,
        mode=mode,
        metric=metric,
        revision=services.ensure_revision(tree=tree, name=names.revision),
        interval_days=names.interval_days,
        boots=names.boots,
    )


def hardware_called(name: str) -> models.Hardware | None:
    """The machine of this name, present or former, with its lab."""
    found = models.Hardware.objects.select_related("lab").filter(name=name).first()
    if found is not None:
        return found
    alias = models.HardwareAlias.objects.select_related("hardware__lab").filter(name=name).first()
    return alias.hardware if alias else None


@transaction.atomic
def record_release(
    *, tree: models.Tree, name: str, revision: str, kind: str, released_on: date | None = None
) -> tuple[Release, bool]:
    """Record that a revision (by name) of ``tree`` is a release or a branch point; return it, and
    whether it is new. A revision that is not known is made where its id has its place. Raises
    Unprocessable: a field is wrong; ReleaseTaken: the name is stored with another revision, kind or
    date.
    """
    fault = models.wrong_with_line(name)
    if not name.strip() or len(name) > RELEASE_NAME_MAX or fault:
        message = fault or f"give a name of at most {RELEASE_NAME_MAX} characters"
        raise services.Unprocessable([services.Problem("name", message)])
    if kind not in Release.Kind.values:
        raise services.Unprocessable(
            [services.Problem("kind", f"choose one of {', '.join(Release.Kind.values)}")]
        )
    found = services.ensure_revision(tree=tree, name=revision)
    values = {"revision": found, "kind": kind, "released_on": released_on}
    release, is_new = Release.objects.get_or_create(tree=tree, name=name, defaults=values)
    services.answer_to(revision=found, names=release.ids)
    differing = [field for field, value in values.items() if getattr(release, field) != value]
    if differing:
        field = differing[0]
        message = f"{name!r} of {tree} is stored with {getattr(release, field)}"
        raise ReleaseTaken(
            [services.Problem(field, f"{message}; an operator changes it in the admin")]
        )
    return release, is_new
