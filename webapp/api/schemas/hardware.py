"""Hardware, and who asks."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import (
    Field,
)

from webapp.api.facts import Facts
from webapp.api.schemas.types import HardwareName, Strict, Text


class HardwareIn(Strict):
    """A machine to be registered by the lab of the token."""

    name: HardwareName
    description: Annotated[Text, Field(max_length=2000)] = ""
    facts: Facts = {}


class HardwareOut(Schema):
    """A machine, and the lab that owns it."""

    name: str
    lab: str
    description: str
    facts: dict[str, Any]


class HardwareList(Schema):
    """All hardware by name."""

    hardware: list[HardwareOut]


class WhoOut(Schema):
    """Who asks, and the server's time."""

    agent: str
    lab: str
    time: datetime
