"""What a search found."""

from pydantic import BaseModel


class HitOut(BaseModel):
    """One thing; ``address`` is the path of its page, ``detail`` tells it from its namesakes."""

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
