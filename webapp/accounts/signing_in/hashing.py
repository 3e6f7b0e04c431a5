"""Passwords are hashed one at a time in each process, however many people ask.

A hash is made to be slow: some hundred milliseconds of a whole core. Unbounded, twenty strangers
who post the form take every core from the pages. So one hash runs, one request waits for its turn
without a connection to the database, and the others are asked at once to come again: whoever waits
here has a turn that a page could have (`webapp.config.admission`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection

from webapp.accounts.signing_in.factors import HashingBusy

AT_ONCE = 1
MOST_WAITING = 1
WAIT_SECONDS = 10.0


class Gate:
    """Lets ``at_once`` threads in and has ``waiting`` others wait, ``seconds`` at most."""

    def __init__(self, *, at_once: int, waiting: int, seconds: float) -> None:
        self._inside = threading.Semaphore(at_once)
        self._most = at_once + waiting
        self._seconds = seconds
        self._lock = threading.Lock()
        self.there = 0
        """Threads inside or waiting."""

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Raises HashingBusy when no place is free, or the turn does not come in time."""
        self._enter()
        try:
            with self._turn():
                yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            if self.there == self._most:
                raise HashingBusy
            self.there += 1

    def _leave(self) -> None:
        with self._lock:
            self.there -= 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._inside.acquire(timeout=self._seconds):
            raise HashingBusy
        try:
            yield
        finally:
            self._inside.release()


gate = Gate(at_once=AT_ONCE, waiting=MOST_WAITING, seconds=WAIT_SECONDS)


class BoundedHasher(PBKDF2PasswordHasher):
    """Django's own hasher, behind the gate of this process. Every password passes here, whichever
    page asks."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash ``password`` in a turn, without a connection to the database. Raises HashingBusy."""
        give_connection_back()
        with gate.passed():
            return super().encode(password, salt, iterations)


def give_connection_back() -> None:
    """Return this thread's connection to the pool, if it has one and no transaction needs it."""
    if "pool" in connection.settings_dict["OPTIONS"] and not connection.in_atomic_block:
        connection.close()
