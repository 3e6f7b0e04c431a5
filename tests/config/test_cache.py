"""Django's cache in Redis."""

from typing import Any

import pytest
import redis
from django.core.cache import caches


def test_a_thread_makes_one_client_for_all_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    make = redis.Redis.__init__

    def counted(self: Any, *given: Any, **named: Any) -> None:
        made.append(self)
        make(self, *given, **named)

    monkeypatch.setattr(redis.Redis, "__init__", counted)
    cache = caches.create_connection("default")
    cache.set("one-client", 1)
    assert cache.incr("one-client") == 2
    assert not cache.add("one-client", 3)
    assert cache.get("one-client") == 2
    assert cache.delete("one-client")
    assert len(made) == 1
