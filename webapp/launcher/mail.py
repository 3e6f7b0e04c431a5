"""The mail server of a demonstration: whether there is one, and on which port."""

import importlib.util
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

HOST = "127.0.0.1"
DIRECTORY = "mail"


@dataclass(frozen=True)
class MailServer:
    """One server: the directory that keeps its mails, and its port of the loopback address."""

    directory: Path
    port: int

    @classmethod
    def choose(cls, state: Path, recorded_url: str) -> "MailServer | None":
        """The server of ``state``, on its port of before if that is free; None without aiosmtpd."""
        if importlib.util.find_spec("aiosmtpd") is None:
            return None
        recorded = urlsplit(recorded_url).port or 0
        return cls(state / DIRECTORY, recorded if _is_free(recorded) else _free_port())

    @property
    def url(self) -> str:
        """As DRIFTLINE_EMAIL_URL has it."""
        return f"smtp://{HOST}:{self.port}"


def _is_free(port: int) -> bool:
    if not port:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
