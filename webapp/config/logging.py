"""Logs: one line an event, for people (`console`) or for machines (`json`), on standard error. They
stay readable under attack: what repeats is counted, and reported once more at the end.

Library code logs through `logging`, ours through `structlog`; both end in the same form.

A handler's filter runs before the handler's lock is taken, so a traceback is put into words without
others waiting. By then it is text: no renderer can look into its frames, where the mere `repr` of a
local variable may query the database.
"""

import atexit
import logging
import logging.config
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog

Config = dict[str, Any]

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]
_OTHERS = ("django", "django.server", "gunicorn.error")
_RENDERERS: dict[str, list[structlog.typing.Processor]] = {
    # Where `rich` is installed, the default would print the locals of every frame.
    "console": [
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    ],
    "json": [structlog.processors.JSONRenderer()],
}

WINDOW_SECONDS = 60.0
LINES_A_WINDOW = 20
"""Of one kind without an exception; with one, a single entry has all that there is."""
MOST_KINDS = 500
FRAMES = 6
MESSAGE_CHARACTERS = 500
ROOT = f"{Path(__file__).resolve().parents[2]}{os.sep}"
OURS = ROOT + "webapp" + os.sep
PLAIN = (str, bytes, int, float, type(None))
log = structlog.get_logger(__name__)
Raised = tuple[type[BaseException], BaseException, TracebackType | None]


class StandardError(logging.Handler):
    """Writes to what standard error is at that moment: who replaced it may have closed the old."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line to what is standard error now."""
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 (as `logging.StreamHandler`)
            self.handleError(record)


def logging_config(*, level: str, style: str) -> Config:
    """A `dictConfig` of `level` and above, written in `style`: a key of `_RENDERERS`."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    with_traceback,
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_RENDERERS[style],
                ],
            }
        },
        "filters": {"repeats": {"()": OncePerKind}},
        "handlers": {
            "stderr": {
                "()": StandardError,
                "formatter": "lines",
                "filters": ["repeats"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Gunicorn and Django attach handlers of their own, which would print lines twice.
            **{name: {"handlers": [], "propagate": True} for name in _OTHERS},
            # Caddy notes requests.
            "gunicorn.access": {"propagate": True, "level": "WARNING"},
            # Prints URLs that are secrets; why a message failed is on the endpoint's page.
            "apprise": {"level": "CRITICAL"},
        },
    }


def configure(config: Config) -> None:
    """Apply a `logging_config` to `logging` and to structlog (Django calls this at its start)."""
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


@dataclass
class _Kind:
    """What was logged of one kind in its window."""

    what: str
    level: int
    ends: float
    left: int
    dropped: int = 0

    def passes(self) -> bool:
        """Whether one more may be printed; it is counted if not."""
        self.left -= 1
        self.dropped += self.left < 0
        return self.left >= 0

    def summarize(self) -> None:
        """Print how often what was not printed came."""
        if self.dropped:
            log.log(self.level, "repeated", times=self.dropped, what=self.what)


class OncePerKind(logging.Filter):
    """Lets an error of one kind pass once a minute, other warnings 20 times; counts the rest."""

    def __init__(
        self, window: float = WINDOW_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._window = window
        self._clock = clock
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._leave)

    def _begin(self) -> None:
        """Also in a forked process: counts, lock and timer were its parent's."""
        self._lock = threading.Lock()
        self._kinds: dict[Hashable, _Kind] = {}
        self._timer: threading.Timer | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be printed now; its traceback is shortened if so."""
        raised = _take_raised(record)
        may_repeat = record.levelno < logging.WARNING or record.name == __name__
        if not may_repeat and not self._passes(record, raised):
            return False
        if raised:
            record.short_traceback = short_traceback(raised)
        return True

    def summarize(self, *, until: float = math.inf) -> None:
        """Print what was counted in the windows that ended by ``until``."""
        with self._lock:
            ended = [self._kinds.pop(key) for key in self._ended(until)]
            self._timer = None
            self._set_timer()
        for kind in ended:
            kind.summarize()

    def _leave(self) -> None:
        """The last sums. Where they cannot be written any more, nobody can mend it."""
        logging.raiseExceptions = False
        self.summarize()

    def _passes(self, record: logging.LogRecord, raised: Raised | None) -> bool:
        level = record.levelno
        if raised:
            return self._count(_origin(raised), level, _type_and_message(raised[1]), 1)
        kind = (record.name, level, _template(record))
        return self._count(kind, level, _event(record), LINES_A_WINDOW)

    def _count(self, key: Hashable, level: int, what: str, most: int) -> bool:
        now = self._clock()
        with self._lock:
            if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
                key, what = level, "various"
            known = self._kinds.get(key)
            kind = known if known and known.ends > now else None
            if kind is None:
                kind = self._kinds[key] = _Kind(what, level, now + self._window, most)
            passes = kind.passes()
            self._set_timer()
        if known is not None and known is not kind:
            known.summarize()
        return passes

    def _ended(self, until: float) -> list[Hashable]:
        return [key for key, kind in self._kinds.items() if kind.ends <= until]

    def _set_timer(self) -> None:
        """For the first window to end; kinds are forgotten then, too."""
        if self._kinds and (self._timer is None or not self._timer.is_alive()):
            soon = min(kind.ends for kind in self._kinds.values()) - self._clock()
            self._timer = threading.Timer(max(0.0, soon), self._end_windows)
            self._timer.daemon = True
            self._timer.start()

    def _end_windows(self) -> None:
        with self._lock:
            self._timer = None
        self.summarize(until=self._clock())


def _take_raised(record: logging.LogRecord) -> Raised | None:
    """The exception of a record, which loses it: of `logging`, or in structlog's dictionary."""
    given: Any = record.exc_info
    if isinstance(record.msg, dict) and "exc_info" in record.msg:
        record.msg = dict(record.msg)
        given = record.msg.pop("exc_info")
    record.exc_info = record.exc_text = None
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    if given and not isinstance(given, tuple):
        given = sys.exc_info()
    return given if given and given[0] is not None else None


def short_traceback(raised: Raised) -> str:
    """What was raised, where in our code and where at last; without source lines and values."""
    frames = [f"  {file}:{line} in {name}" for file, line, name in _frames(raised[2])]
    causes = [f"  caused by {_type_and_message(cause)}" for cause in _causes(raised[1])]
    return "\n".join([_type_and_message(raised[1]), *frames, *causes])


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__ or error.__context__
    for _ in range(FRAMES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """The last of our own frames, and the very last of all."""
    found = [
        (frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(trace)
    ]
    ours = [each for each in found[:-1] if each[0].startswith(OURS)] or found[:-1]
    return [
        (file.removeprefix(ROOT), line, name) for file, line, name in ours[-FRAMES:] + found[-1:]
    ]


def _origin(raised: Raised) -> Hashable:
    """Errors of one type that were raised on one way through our code are one kind."""
    return raised[0], *_frames(raised[2])


def _type_and_message(error: BaseException) -> str:
    """Its type and message. What is no plain value is not asked for its looks."""
    name = type(error).__name__
    if any(not isinstance(each, PLAIN) for each in error.args):
        return name
    return f"{name}: {error}"[:MESSAGE_CHARACTERS]


def _template(record: logging.LogRecord) -> Hashable:
    """The same for messages that differ in their arguments; statuses apart."""
    text = record.msg.get("event") if isinstance(record.msg, dict) else record.msg
    return str(text), getattr(record, "status_code", None)


def _event(record: logging.LogRecord) -> str:
    text = record.msg.get("event") if isinstance(record.msg, dict) else record.getMessage()
    return str(text)[:MESSAGE_CHARACTERS]


def with_traceback(_logger: Any, _method: str, event: structlog.typing.EventDict) -> Any:
    """A processor of structlog: the text that the filter left in the record."""
    text = getattr(event.get("_record"), "short_traceback", None)
    return {**event, "exception": text} if text else event
