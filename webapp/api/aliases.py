"""Names of labs that stand for others within a scope."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.accounts.models import User
from webapp.api.requests import OperatorSession, Page, bounded, csv_of, newest, same
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Line, Name, RevisionName, Strict
from webapp.merging.services import make_name_alias, undo_name_alias
from webapp.results.models import DIRECTORY_MAX, HARDWARE_MAX, NameAlias
from webapp.results.services import AliasNames, preview_alias

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


router = Router(tags=["aliases"])
COLUMNS = tuple(AliasOut.model_fields)


class Wanted(Page):
    """Which aliases; a part left out means all."""

    lab: Asked = ""
    kind: Asked = ""
    state: Literal["holds", "undone", ""] = "holds"


@router.get(
    "/aliases",
    response={200: AliasList, 422: ErrorOut},
    summary="Names that stand for others, the last made first",
)
def list_aliases(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    shown, following = _page(wanted)
    return {"aliases": [alias_out(row) for row in shown], "next": following}


@router.get(
    "/aliases.csv",
    response={200: None, 422: ErrorOut},
    summary="Names that stand for others, as CSV",
)
def aliases_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row an alias: the same page of them as in JSON. A text that a spreadsheet would take for a
    formula has `'` before it."""
    shown, _ = _page(wanted)
    return csv_of("aliases.csv", COLUMNS, map(alias_out, shown))


@router.post(
    "/aliases",
    auth=OperatorSession(),
    response={201: AliasOut, 400: ErrorOut, **REFUSALS},
    summary="Let a name stand for another one",
)
def add_alias(request: HttpRequest, alias: AliasIn) -> Any:
    """For operators who are signed in. Stored runs in its scope move at once."""
    user: User = request.auth  # type: ignore[attr-defined]
    made = make_name_alias(names=alias.names(), by=user)
    return Status(201, alias_out(made))


@router.post(
    "/aliases/preview",
    auth=OperatorSession(),
    response={200: PreviewOut, 400: ErrorOut, **REFUSALS},
    summary="What an alias would move",
)
def preview_moves(request: HttpRequest, alias: AliasIn) -> Any:
    """Nothing is stored. `groups` are the greatest twenty."""
    return preview_alias(alias.names())


@router.post(
    "/aliases/{number}/undo",
    auth=OperatorSession(),
    response={200: AliasOut, **REFUSALS},
    summary="Take an alias back",
)
def undo_alias(request: HttpRequest, number: int) -> Any:
    """Its runs are filed as they were sent. Done twice, it is done once."""
    user: User = request.auth  # type: ignore[attr-defined]
    return alias_out(undo_name_alias(number=bounded(number), by=user))


def _page(wanted: Wanted) -> tuple[list[NameAlias], int | None]:
    found = NameAlias.objects.named()
    if wanted.lab:
        found = found.filter(lab__name=wanted.lab)
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.state:
        found = found.filter(undone_at__isnull=wanted.state == "holds")
    return newest(found, wanted)


def alias_out(alias: NameAlias) -> dict[str, Any]:
    """An alias as the API shows it. Needs what it names loaded."""
    rows = ("lab", "tree", "first", "last", "made_by", "undone_by")
    return {
        "number": alias.pk,
        **{name: str(row) if (row := getattr(alias, name)) else None for name in rows},
        **same(alias, "kind", "name", "means", "directory", "moved", "made_at", "undone_at"),
    }
