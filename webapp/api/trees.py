"""Trees, and where their commits are in a source browser."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from webapp.api.requests import OperatorSession, same
from webapp.api.schemas.types import REFUSALS, ErrorOut, Line, Name, Strict
from webapp.results.models import Tree
from webapp.results.services import set_source_template


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
