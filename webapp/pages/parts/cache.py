"""Expensive fragments of pages, cached in this process while what they show is the same."""

import marshal
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

AS_IT_READS = 2
"""The form of `marshal` that writes equal values alike, whichever of them are the same object."""


def fingerprint(values: Any) -> bytes:
    """The same for equal ``values`` and for no others: numbers, texts and None, in lists, dicts and
    plain tuples (ValueError for anything else). Half a millisecond for two hundred rows.
    """
    return blake2b(marshal.dumps(values, AS_IT_READS), digest_size=32).digest()


class Cache(Generic[Value]):
    """The ``most`` values used last, each at most ``seconds`` old.

    A key holds all that a value depends on, so a value is right as long as its key is asked for;
    the age bounds what a key cannot hold. Not in Redis: a page must answer without it, and here
    nothing is packed and unpacked.
    """

    def __init__(self, *, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._values: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of ``key``, made where none is kept or it is too old."""
        return self.get_all([key], lambda _: {key: make()})[key]

    def get_all(
        self, keys: Iterable[Key], make: Callable[[Sequence[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """The value of each of ``keys``, those made at once of which none is kept or it is too old;
        a key of which nothing was made has no value.
        """
        now = monotonic()
        found: dict[Key, Value] = {}
        missing: list[Key] = []
        with self._lock:
            for key in keys:
                made_at, value = self._values.get(key, (None, None))
                if made_at is not None and value is not None and now - made_at <= self._seconds:
                    found[key] = value
                else:
                    missing.append(key)
        made = make(missing) if missing else {}
        with self._lock:
            for key, value in made.items():
                self._values[key] = (now, value)
                self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return {**found, **made}

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()
