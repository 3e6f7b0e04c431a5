"""Releases and branch points of trees."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import BeforeValidator, Field

from webapp.api.requests import OperatorSession, Page, csv_of, named, newest, same
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Line, Name, RevisionName, Strict
from webapp.events.models import Release
from webapp.events.services import record_release
from webapp.results.models import Tree
from webapp.results.services import Problem, Unprocessable

ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def text_of_a_day(value: Any) -> Any:
    """Not what else a parser of days may take, a bare number above all."""
    if not isinstance(value, str) or not ISO_DAY.fullmatch(value):
        raise ValueError("must be a day, as 2016-10-10, or null")
    return value


class ReleaseIn(Strict):
    """A name for a revision. One that is not known is made where its id gives its place."""

    tree: Name
    name: Annotated[Line, Field(min_length=1, max_length=100)]
    revision: RevisionName
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


router = Router(tags=["releases"])
COLUMNS = tuple(ReleaseOut.model_fields)


class Wanted(Page):
    """Which releases; without a tree those of all."""

    tree: Asked = ""


@router.get(
    "/releases",
    response={200: ReleaseList, 422: ErrorOut},
    summary="Releases and branch points, the last recorded first",
)
def list_releases(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    shown, following = _page(wanted)
    return {"releases": [_out(row) for row in shown], "next": following}


@router.get(
    "/releases.csv",
    response={200: None, 422: ErrorOut},
    summary="Releases and branch points, as CSV",
)
def releases_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row a release: the same page of them as in JSON."""
    shown, _ = _page(wanted)
    return csv_of("releases.csv", COLUMNS, map(_out, shown))


@router.post(
    "/releases",
    auth=OperatorSession(),
    response={200: ReleaseOut, 201: ReleaseOut, 400: ErrorOut, **REFUSALS},
    summary="Name a release or a branch point",
)
def add_release(request: HttpRequest, release: ReleaseIn) -> Any:
    """For operators who are signed in. 200: it is stored so already. 409 `conflict`: the name is
    stored with another revision, kind or date."""
    tree = Tree.objects.filter(name=release.tree).first()
    if tree is None:
        raise Unprocessable([Problem("tree", f"there is no tree {release.tree!r}")])
    row, is_new = record_release(
        tree=tree,
        name=release.name,
        revision=release.revision,
        kind=release.kind,
        released_on=release.released_on,
    )
    return Status(201 if is_new else 200, _out(row))


def _page(wanted: Wanted) -> tuple[Sequence[Release], int | None]:
    found = Release.objects.select_related("tree", "revision")
    if wanted.tree:
        found = found.filter(tree__name=wanted.tree)
    return newest(found, wanted)


def _out(release: Release) -> dict[str, Any]:
    return {
        "number": release.pk,
        **named(release, "tree", "revision"),
        **same(release, "name", "kind", "released_on"),
    }
