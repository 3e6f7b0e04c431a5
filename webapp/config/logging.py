"""Logs: one line an event, for people (`console`) or for machines (`json`), on standard error.

Library code logs through `logging`, ours through `structlog`; both end in the same form.
"""

import logging.config
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
    "console": [structlog.dev.ConsoleRenderer(colors=False)],
    "json": [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ],
}


def logging_config(*, level: str, style: str, access: bool) -> Config:
    """A `dictConfig` of `level` and above, written in `style`: a key of `_RENDERERS`.

    `access` adds a line for each request.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_RENDERERS[style],
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Gunicorn and Django attach handlers of their own, which would print lines twice.
            **{name: {"handlers": [], "propagate": True} for name in _OTHERS},
            "gunicorn.access": {"propagate": True, "level": "INFO" if access else "WARNING"},
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
