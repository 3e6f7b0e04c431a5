"""The first SIGTERM or SIGINT drains a worker, the second abandons its job."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from labagent.work.stops import Abandoned, Say
from labagent.work.worker import Worker

LEAVING_SECONDS = 15.0
"""How long an abandoned job has to end its commands before the process goes."""

_LOOK_SECONDS = 0.2


def run_until_stopped(worker: Worker, say: Say, wanted: Callable[[], bool] = lambda: True) -> None:
    """Run the worker beside this thread, which hears the signals; `Abandoned` when it was left, by
    a second signal or because it is no longer `wanted`."""
    failed: list[BaseException] = []
    thread = threading.Thread(target=_keep_error, args=(worker.run, failed), daemon=True)
    received = 0

    def hear(_signal: int, _frame: FrameType | None) -> None:
        nonlocal received
        received += 1

    with _handled(hear):
        thread.start()
        heard = 0
        while thread.is_alive():
            thread.join(_LOOK_SECONDS)
            if not wanted():
                _obey(worker, thread, 2, say)
            while heard < received:
                heard += 1
                _obey(worker, thread, heard, say)
    if failed:
        raise failed[0]


def _obey(worker: Worker, thread: threading.Thread, heard: int, say: Say) -> None:
    if heard == 1:
        say("draining: ends after the job or poll in hand; once more abandons it")
        worker.drain()
        return
    if worker.abandon():
        thread.join(LEAVING_SECONDS)
    raise Abandoned("abandoned; the next start goes on")


def _keep_error(run: Callable[[], None], failed: list[BaseException]) -> None:
    try:
        run()
    except BaseException as error:  # noqa: BLE001 (raised again in the main thread)
        failed.append(error)


@contextmanager
def _handled(hear: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(one, hear) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
