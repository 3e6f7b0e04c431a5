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
    display_name: str = Field(description="What people call it.")
    cpu: str
    nic: str
    description: str
    facts: dict[str, Any]


class HardwareList(Schema):
    """All hardware by name."""

    hardware: list[HardwareOut]


class FactOut(Schema):
    """One value of a fact, from the first run that tells it to the last."""

    name: str
    value: str
    source: str = Field(description="measured, or typed by a person")
    first_seen: datetime
    last_seen: datetime
    is_newest: bool = Field(description="Whether it is the newest value of its fact.")


class FactsOut(Schema):
    """Facts of a machine by name, the newest value of each first."""

    hardware: str
    facts: list[FactOut]


class WhoOut(Schema):
    """Who asks, and the server's time."""

    agent: str
    lab: str
    time: datetime
