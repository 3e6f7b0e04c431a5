"""Logs: one line an event, for people (`console`) or for machines (`json`), on standard error.

Library code logs through `logging`, ours through `structlog`; both end in the same form.
"""

import logging.config
import sys
from typing import Any

import structlog

from webapp.config.repeats import OncePerKind, with_traceback

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
