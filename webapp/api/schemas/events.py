"""Events of labs, releases of trees, canaries of machines."""

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import BeforeValidator, Field

from webapp.api.schemas import types
from webapp.events.models import TEXT_MAX
from webapp.events.services import EventNames
from webapp.results.models import NAME_MAX

ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
KindIn = Literal["hardware", "firmware", "network", "software", "power", "other", "note"]


def text_of_a_day(value: Any) -> Any:
    """Not what else a parser of days may take, a bare number above all."""
    if not isinstance(value, str) or not ISO_DAY.fullmatch(value):
        raise ValueError("must be a day, as 2016-10-10, or null")
    return value


class EventIn(types.Strict):
    """What happened: to hardware, a whole lab, or everything measured of a tree. Either
    `happened_at` or `first` (and `last`) of `tree`."""

    kind: KindIn
    text: Annotated[types.Text, Field(min_length=1, max_length=TEXT_MAX)]
    hardware: types.HardwareName | None = None
    lab: Annotated[types.Line, Field(min_length=1, max_length=100)] | None = None
    tree: types.Name | None = None
    happened_at: types.Moment | None = None
    first: types.RevisionName | None = None
    last: types.RevisionName | None = None
    begins_epoch: Annotated[bool, Field(strict=True)] = False
    external_id: Annotated[types.Line, Field(max_length=100)] = ""

    def names(self) -> EventNames:
        """What the service takes."""
        return EventNames(
            kind=self.kind,
            text=self.text,
            hardware=self.hardware or "",
            lab=self.lab or "",
            tree=self.tree or "",
            happened_at=self.happened_at,
            first=self.first or "",
            last=self.last or "",
            begins_epoch=self.begins_epoch,
        )


class EventOut(Schema):
    """An event; ``withdrawn_at`` is null while it counts."""

    number: int
    url: str
    kind: str
    text: str
    hardware: str | None
    lab: str | None
    tree: str | None
    happened_at: datetime | None
    first: str | None
    last: str | None
    begins_epoch: bool
    source: str
    external_id: str
    author: str
    created_at: datetime
    edited_at: datetime | None
    withdrawn_at: datetime | None
    withdrawn_reason: str


class EventList(Schema):
    """The last recorded first; ``next`` is the ``before`` of the next page, null on the last."""

    events: list[EventOut]
    next: int | None


class ReleaseIn(types.Strict):
    """A name for a revision. One that is not known is made where its id gives its place."""

    tree: types.Name
    name: Annotated[types.Line, Field(min_length=1, max_length=100)]
    revision: types.RevisionName
    kind: Literal["release", "branch point"] = "release"
    released_on: Annotated[date, BeforeValidator(text_of_a_day)] | None = None


class ReleaseOut(Schema):
    """A release or a branch point of a tree."""

    number: int
    tree: str
    name: str
    kind: str
    revision: str
    released_on: date | None


class ReleaseList(Schema):
    """The last recorded first; ``next`` is the ``before`` of the next page, null on the last."""

    releases: list[ReleaseOut]
    next: int | None


class CanaryIn(types.Strict):
    """A fixed kernel that a machine is to measure again and again."""

    tree: types.Name
    revision: types.RevisionName
    hardware: types.HardwareName
    mode: Annotated[types.Line, Field(min_length=1, max_length=NAME_MAX)]
    metric: types.Name
    interval_days: Annotated[int, Field(strict=True, ge=1, le=365)] = 1
    boots: Annotated[int, Field(strict=True, ge=1, le=20)] = 2


class LimitsOut(Schema):
    """In the metric's unit; ``boots`` is of how many they were learnt."""

    low: float
    centre: float
    high: float
    boots: int


class CanaryOut(Schema):
    """A canary, and where it stands: `limits` is null while boots are too few. `left_at` is
    when it was seen that it left them; null: it has not, or came back."""

    number: int
    url: str
    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str
    unit: str
    interval_days: int
    boots_each_time: int
    active: bool
    boots: int
    limits: LimitsOut | None
    left_at: datetime | None


class CanaryList(Schema):
    """The newest first; ``next`` is the ``before`` of the next page, null on the last."""

    canaries: list[CanaryOut]
    next: int | None


class CanaryDetail(CanaryOut):
    """With a column each for its boots, in the order of time. ``side`` is 1 above the limits that
    were in force, -1 below them, 0 within."""

    measured_at: list[datetime]
    value: list[float]
    samples: list[int]
    side: list[int]
