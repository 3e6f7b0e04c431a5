"""Reads and sends results of benchmarks; `Driftline` reads what the server made of them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labagent.client import Driftline

__all__ = ["Driftline"]


def __getattr__(name: str) -> Any:
    """`Driftline`, imported when asked for: the commands need no client to start."""
    if name != "Driftline":
        raise AttributeError(f"labagent has no {name}")
    from labagent.client import Driftline  # noqa: PLC0415

    return Driftline
