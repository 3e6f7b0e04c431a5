"""Anything by what one remembers of its name."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import BaseModel, Field

from webapp.api.schemas.types import Asked as Text
from webapp.api.schemas.types import ErrorOut
from webapp.search import LONGEST, Asked, find


class HitOut(BaseModel):
    """One thing; ``address`` is the path of its page, ``detail`` distinguishes it from its
    namesakes.
    """

    label: str
    detail: str
    address: str


class GroupOut(BaseModel):
    """Hits of one kind, the best first; ``more``: there are others."""

    name: str
    hits: list[HitOut]
    more: bool


class SearchOut(BaseModel):
    """Groups, the likeliest first; ``nearest`` are names like the text, where nothing was found."""

    q: str
    groups: list[GroupOut]
    nearest: list[HitOut]


router = Router(tags=["search"])
MOST = 50


class Wanted(Schema):
    """What is looked for."""

    q: Text = Field(
        max_length=LONGEST,
        description="A revision with or without its tree and letter, or its beginning, words of a "
        "commit or its author, parts of machine, mode and metric in any order, the number of an "
        "alert or a bisect.",
    )
    limit: int = Field(5, ge=1, le=MOST, description="Hits of each kind.")


@router.get("/search", response={200: SearchOut, 422: ErrorOut}, summary="Find by name")
def search(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """The first hit of the first group is what Enter opens on the site."""
    asked = Asked.of(wanted.q)
    found = find(asked, wanted.limit)
    return {"q": asked.text} | asdict(found)
