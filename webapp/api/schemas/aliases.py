"""Names of labs that stand for others within a scope."""

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from webapp.api.schemas.types import Line, Name, RevisionName, Strict
from webapp.results.models import DIRECTORY_MAX, HARDWARE_MAX
from webapp.results.services import AliasNames

Spelt = Annotated[Line, Field(min_length=1, max_length=HARDWARE_MAX)]


class AliasIn(Strict):
    """`name` stands for `means`, within `tree` (null: all), from `first` to `last` (null: open),
    and in result directories or sessions that fit `directory` (`*` stands for anything; empty:
    all)."""

    lab: Annotated[Line, Field(min_length=1, max_length=100)]
    kind: Literal["workload", "traffic", "option", "hardware"]
    name: Spelt
    means: Spelt
    tree: Name | None = None
    first: RevisionName | None = None
    last: RevisionName | None = None
    directory: Annotated[Line, Field(max_length=DIRECTORY_MAX)] = ""

    def names(self) -> AliasNames:
        """What the services take."""
        return AliasNames(**{name: text or "" for name, text in self.model_dump().items()})


class AliasOut(Schema):
    """An alias; ``undone_at`` is null while it holds. ``moved``: how many stored runs it moved when
    it was made."""

    number: int
    lab: str
    kind: str
    name: str
    means: str
    tree: str | None
    first: str | None
    last: str | None
    directory: str
    moved: int
    made_by: str
    made_at: datetime
    undone_by: str | None
    undone_at: datetime | None


class AliasList(Schema):
    """The last made first; ``next`` is the ``before`` of the next page, null on the last."""

    aliases: list[AliasOut]
    next: int | None


class MovingOut(Schema):
    """``runs`` of one mode on one hardware, and where they would go. ``beside``: revisions that
    were measured under both names; ``apart``: by how many percent the former mean is off there at
    most (null: there is none)."""

    hardware: str
    mode: str
    into_hardware: str
    into_mode: str
    runs: int
    beside: int
    apart: float | None


class PreviewOut(Schema):
    """How many stored runs an alias would move."""

    runs: int
    groups: list[MovingOut]
