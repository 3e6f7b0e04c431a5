"""Sessions: what was measured together."""

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field


class SessionOut(Schema):
    """Runs of one revision on one machine that name one session."""

    number: int = Field(description="Grows with its newest run; what `before` goes by.")
    name: str
    tree: str
    revision: str
    hardware: str
    source: Literal["explicit", "directory"] = Field(
        description="explicit: the uploader named it; directory: its runs lay in one directory."
    )
    builds: list[str]
    runs: int
    withdrawn: int = Field(description="Runs that do not count, those that wait included.")
    first: datetime = Field(description="When its first run was measured, else received.")
    last: datetime


class SessionList(Schema):
    """A page of sessions, and where the next begins."""

    sessions: list[SessionOut]
    next: int | None
