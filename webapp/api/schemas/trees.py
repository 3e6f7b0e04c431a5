"""Trees."""

from typing import Annotated

from ninja import Schema
from pydantic import Field

from webapp.api.schemas.types import Line, Name, Strict


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
