"""What the commands take from outside; tests put in their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2

from labagent.client import Client, Patience
from labagent.reboots import this_boot


@dataclass
class World:
    """Environment, transport, patience, clock, and the name of the boot."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    transport: httpx2.BaseTransport | None = None
    patience: Patience = field(default_factory=Patience)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    boot: Callable[[], str] = this_boot

    def connect(self, server: str, token: str) -> Client:
        """A client of the server; nothing is sent yet."""
        return Client(server, token, transport=self.transport, patience=self.patience)
