"""Trees, where their commits are in a source browser, and their releases and branch points."""

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
from webapp.results.services import Problem, Unprocessable, set_source_template


class TreeOut(Schema):
    """A tree; `source_template` is where its commits are in a source browser, empty: not known."""

    name: str
    description: str
    source_template: str


class TreeList(Schema):
    """By name."""

    trees: list[TreeOut]


class TreeSourceIn(Strict):
    """Where the commits of a tree are: a web address with `{revision}`, `{number}` or `{hash}` in
    it; empty: nowhere."""

    tree: Name
    source_template: Annotated[Line, Field(max_length=500)]


router = Router(tags=["trees"])
releases_router = Router(tags=["releases"])


@router.get("/trees", response={200: TreeList}, summary="All trees, by name")
def list_trees(request: HttpRequest) -> Any:
    """All of them: an instance has a handful."""
    return {"trees": [_out(tree) for tree in Tree.objects.all()]}


@router.post(
    "/trees/source",
    auth=OperatorSession(),
    response={200: TreeOut, 400: ErrorOut, **REFUSALS},
    summary="State where the commits of a tree are",
)
def set_source(request: HttpRequest, source: TreeSourceIn) -> Any:
    """For operators who are signed in. Pages of commits link there. 422 names the field and what
    to write."""
    return _out(set_source_template(tree=source.tree, template=source.source_template))


def _out(tree: Tree) -> dict[str, Any]:
    return same(tree, "name", "description", "source_template")


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


COLUMNS = tuple(ReleaseOut.model_fields)


class Wanted(Page):
    """Which releases; without a tree those of all."""

    tree: Asked = ""


@releases_router.get(
    "/releases",
    operation_id="webapp_api_releases_list_releases",
    response={200: ReleaseList, 422: ErrorOut},
    summary="Releases and branch points, the last recorded first",
)
def list_releases(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    shown, following = _page(wanted)
    return {"releases": [_release_out(row) for row in shown], "next": following}


@releases_router.get(
    "/releases.csv",
    operation_id="webapp_api_releases_releases_csv",
    response={200: None, 422: ErrorOut},
    summary="Releases and branch points, as CSV",
)
def releases_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row a release: the same page of them as in JSON."""
    shown, _ = _page(wanted)
    return csv_of("releases.csv", COLUMNS, map(_release_out, shown))


@releases_router.post(
    "/releases",
    operation_id="webapp_api_releases_add_release",
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
    return Status(201 if is_new else 200, _release_out(row))


def _page(wanted: Wanted) -> tuple[Sequence[Release], int | None]:
    found = Release.objects.select_related("tree", "revision")
    if wanted.tree:
        found = found.filter(tree__name=wanted.tree)
    return newest(found, wanted)


def _release_out(release: Release) -> dict[str, Any]:
    return {
        "number": release.pk,
        **named(release, "tree", "revision"),
        **same(release, "name", "kind", "released_on"),
    }
