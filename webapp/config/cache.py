"""Django's cache in Redis, with one client for all commands of a thread."""

from functools import cached_property
from typing import Any

from django.core.cache.backends import redis


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
