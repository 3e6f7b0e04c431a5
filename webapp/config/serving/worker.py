"""Gunicorn's worker class of the web server: one process, its loop and its threads."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog
from gunicorn.workers.base import Worker

from webapp.accounts.addresses import counted_as
from webapp.config import settings
from webapp.config.serving.connection import Connection, Limits, peer_address, too_many
from webapp.config.serving.limits import ConnectionCounts, Turns
from webapp.config.serving.spool import BODIES_AT_ONCE, Room

TICK_SECONDS = 1.0
LAST_REQUESTS_SECONDS = 2.0
"""A process that ends keeps idle connections as long: the next request may be on its way."""
STOP_RESERVE_SECONDS = 2.0
READ_AHEAD_BYTES = 32 * 1024
MOST_REFUSED = 64
"""So many refused clients hear why at a time; the others are cut off."""
FILES_BESIDE = 256
"""Descriptors that a process needs beside its connections."""
log = structlog.get_logger()


class BufferingWorker(Worker):  # type: ignore[misc]  # Gunicorn has no types
    """Waits for clients in a loop; its threads only work."""

    def init_process(self) -> None:
        """Set up what the connections share, and serve: this is the new process."""
        self.limits = Limits(
            keepalive=self.cfg.keepalive,
            head=settings.HEAD_SECONDS,
            body=settings.BODY_SECONDS,
            answer=settings.ANSWER_SECONDS,
            body_bytes=settings.UPLOAD_MAX_BYTES,
            proxies=settings.TRUSTED_PROXIES,
        )
        self.connections = ConnectionCounts(settings.CONNECTIONS_PER_ADDRESS)
        self.turns = Turns(settings.WEB_THREADS)
        self.room = Room(BODIES_AT_ONCE * settings.UPLOAD_MAX_BYTES)
        # One for the health check, which waits for no turn.
        self._threads = ThreadPoolExecutor(self.cfg.threads + 1, thread_name_prefix="web")
        self._open: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Task[Any], None] = {}
        self._refused = 0
        self._ended = asyncio.Event()
        _allow_files(self.cfg.worker_connections * 2 + FILES_BESIDE)
        super().init_process()

    def run(self) -> None:
        """Serve until the process is to end."""
        asyncio.run(self._serve())
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def is_ending(self) -> bool:
        """Whether no more requests are taken."""
        return not self.alive

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        """The result of ``work``, which runs in a thread; its errors are raised here."""
        return await self._loop.run_in_executor(self._threads, work)

    def is_known(self, environ: dict[str, Any]) -> bool:
        """Whether we know who sends this: an agent or a person who signed in."""
        from webapp.config.serving.senders import is_known  # noqa: PLC0415 (needs Django set up)

        return is_known(environ)

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """For a thread that waits inside, and leaves its turn to others meanwhile."""
        self._loop.call_soon_threadsafe(self.turns.give)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self.turns.overdraw)

    async def wait(self, head: Coroutine[Any, Any, bytes | None]) -> bytes | None:
        """Wait for the next request of a connection, which may be closed meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        self._waiting[task] = None
        try:
            return await head
        finally:
            self._waiting.pop(task, None)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGTERM, self._end)
        for listener in self.sockets:
            listener.setblocking(False)
            self._loop.add_reader(listener, self._accept, listener)
        while self.alive:
            self.notify()
            if self.ppid != os.getppid():
                self._end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), TICK_SECONDS)
        await self._finish()

    def _end(self) -> None:
        self.alive = False
        self._ended.set()

    async def _finish(self) -> None:
        """Answer what was asked; then leave."""
        for listener in self.sockets:
            self._loop.remove_reader(listener)
        end = self._loop.time() + self.cfg.graceful_timeout - STOP_RESERVE_SECONDS
        if self._waiting:
            await asyncio.wait(self._open, timeout=LAST_REQUESTS_SECONDS)
        for task in [*self._waiting]:
            task.cancel()
        while self._open and self._loop.time() < end:
            self.notify()
            await asyncio.wait(self._open, timeout=TICK_SECONDS)
        for task in self._open:
            task.cancel()

    def _accept(self, listener: Any) -> None:
        """One a turn of the loop: another process may be quicker to take the next."""
        try:
            client, peer = listener.accept()
        except OSError as error:
            # Taken by another process, or gone already; without descriptors the others go on.
            if not isinstance(error, BlockingIOError | InterruptedError | ConnectionError):
                log.warning("a connection cannot be taken", error=str(error))
                self._make_room()
            return
        if len(self._open) >= self.cfg.worker_connections and not self._make_room():
            client.close()
            return
        task = self._loop.create_task(self._connected(client, counted_as(peer_address(peer))))
        self._open.add(task)
        task.add_done_callback(self._closed)

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for its client's next words."""
        if not self._waiting:
            return False
        oldest = next(iter(self._waiting))
        del self._waiting[oldest]
        oldest.cancel()
        return True

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a connection ended by an error", exc_info=error)

    async def _connected(self, client: socket.socket, address: str) -> None:
        with self.connections.counted("" if self.limits.proxies else address) as is_free:
            if not is_free:
                await self._refuse(client, address)
                return
            await (await self._connection(client)).serve()

    async def _refuse(self, client: socket.socket, address: str) -> None:
        from webapp.api.wiring import REFUSED  # noqa: PLC0415 (needs Django set up)

        log.warning("refused a connection: its address has too many", address=address)
        REFUSED.labels("connections").inc()
        if self._refused >= MOST_REFUSED:
            client.close()
            return
        self._refused += 1
        try:
            await (await self._connection(client)).refuse(too_many())
        finally:
            self._refused -= 1

    async def _connection(self, client: socket.socket) -> Connection:
        reader, writer = await asyncio.open_connection(sock=client, limit=READ_AHEAD_BYTES)
        return Connection(self, reader, writer)


def _allow_files(wanted: int) -> None:
    """Let the process have as many descriptors as its connections and their bodies need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
