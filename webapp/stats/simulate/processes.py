"""Trials over several processes: the same answers in the same order, sooner.

Each process is started anew (nothing of a parent that runs threads or a server is copied) and
computes with one thread: its matrices are small, and libraries that share one core among several
threads wait for each other.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol, TypeVar

from webapp.stats.errors import OutOfRangeError

T = TypeVar("T")
R = TypeVar("R")

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

CHUNK = 5
"""Trials that a process takes at a time: they take from 20 ms to seconds each."""


class Spread(Protocol):
    """What ``map`` does, perhaps elsewhere."""

    def __call__(self, play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """``play`` of each item, in their order."""


def here(play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
    """In this process, one after another."""
    return map(play, items)


@contextmanager
def spread_over(processes: int) -> Iterator[Spread]:
    """Plays items in so many processes (≥ 1), which end with the context.

    Raises `OutOfRangeError`.
    """
    if processes < 1:
        raise OutOfRangeError("processes: at least 1")
    if processes == 1:
        yield here
        return
    with _one_thread_each(), get_context("spawn").Pool(processes) as pool:

        def spread(play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
            return pool.imap(play, items, CHUNK)

        yield spread


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes started meanwhile, unless the caller's environment says otherwise."""
    missing = [name for name in ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]
