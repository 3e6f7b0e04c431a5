"""Connections to PostgreSQL and Redis: options of TCP by which both ends notice that the other
machine is gone, and one client of Redis for all commands of a thread.

A machine that loses its power or its network sends no RST. Without these options its transactions
keep their locks, and whoever waits for it waits, for two hours or more (`tcp(7)`).
"""

import socket
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.core.cache.backends import redis

PROBES = 3
"""Unanswered ones after which a connection is given up."""


def of_client(seconds: int) -> dict[str, int]:
    """Options of libpq, with which a connection is given up after so many ``seconds`` of silence.
    On a Unix socket they mean nothing.
    """
    idle, interval = _idle_and_interval(seconds)
    return {
        "keepalives_idle": idle,
        "keepalives_interval": interval,
        "keepalives_count": PROBES,
        "tcp_user_timeout": seconds * 1000,
    }


def of_server(seconds: int) -> dict[str, str]:
    """The same for settings of a session of PostgreSQL, which also looks for its client while it
    executes a statement or waits for a lock.
    """
    idle, interval = _idle_and_interval(seconds)
    return {
        "tcp_keepalives_idle": f"{idle}s",
        "tcp_keepalives_interval": f"{interval}s",
        "tcp_keepalives_count": f"{PROBES}",
        "tcp_user_timeout": f"{seconds}s",
        "client_connection_check_interval": f"{interval}s",
    }


def of_redis(seconds: int) -> dict[str, Any]:
    """The same for a connection of redis-py that is no Unix socket."""
    idle, interval = _idle_and_interval(seconds)
    values: Mapping[str, int] = {
        "TCP_KEEPIDLE": idle,
        "TCP_KEEPALIVE": idle,  # as macOS calls it
        "TCP_KEEPINTVL": interval,
        "TCP_KEEPCNT": PROBES,
        "TCP_USER_TIMEOUT": seconds * 1000,
    }
    known = {
        getattr(socket, name): value for name, value in values.items() if hasattr(socket, name)
    }
    return {"socket_keepalive": True, "socket_keepalive_options": known}


def _idle_and_interval(seconds: int) -> tuple[int, int]:
    """Seconds before the first probe and between two, which are ``seconds`` in all."""
    interval = seconds // (PROBES + 2)
    return seconds - PROBES * interval, interval


class _Client(redis.RedisCacheClient):
    @cached_property
    def _only(self) -> Any:
        return super().get_client(write=True)

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """The client: Django makes one for each command, which takes as long as the command."""
        return self._only


class OneServer(redis.RedisCache):
    """The cache; ``LOCATION`` is one server."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client
