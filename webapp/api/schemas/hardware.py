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
    name: HardwareName
    description: Annotated[Text, Field(max_length=2000)] = ""
    facts: Facts = {}


class HardwareOut(Schema):
    name: str
    lab: str
    description: str
    facts: dict[str, Any]


class HardwareList(Schema):
    hardware: list[HardwareOut]


class WhoOut(Schema):
    agent: str
    lab: str
    time: datetime
