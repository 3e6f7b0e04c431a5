"""What repeats in the logs is counted, and no entry shows the values of variables."""

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from tests.config.front.server import wait_until
from tests.places import PROJECT
from webapp.config.logging import OncePerKind, logging_config

SECRET = "what only a variable holds"


class Clock:
    """Time that passes when a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class LooksAtTheDatabase:
    """Stands for a QuerySet: to look at it costs a query."""

    looks = 0

    def __repr__(self) -> str:
        type(self).looks += 1
        return SECRET


@pytest.fixture(params=["console", "json"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def once() -> OncePerKind:
    return OncePerKind(window=60.0, clock=Clock())


@pytest.fixture
def printed(style: str, once: OncePerKind) -> Iterator[io.StringIO]:
    """What a handler as the product configures it prints, with a clock of our own."""
    config = logging_config(level="INFO", style=style)
    formatter = dict(config["formatters"]["lines"])
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(formatter.pop("()")(**formatter))
    handler.addFilter(once)
    names = ("tests.repeats", "webapp.config.logging")
    for name in names:
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).propagate = False
    yield handler.stream
    for name in names:
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).propagate = True


def fail(message: str = "no such row") -> None:
    looked_at = LooksAtTheDatabase()
    raise LookupError(message) if looked_at else AssertionError


def log_failure(message: str = "no such row") -> None:
    try:
        fail(message)
    except LookupError:
        logging.getLogger("tests.repeats").exception("Internal Server Error: /")


def entries(printed: io.StringIO) -> list[str]:
    """Entries, without the lines that go with them."""
    return [line for line in printed.getvalue().splitlines() if not line.startswith("  ")]


def test_the_product_logs_through_the_filter(style: str) -> None:
    config = logging_config(level="INFO", style=style)
    assert config["handlers"]["stderr"]["filters"] == ["repeats"]
    assert config["filters"]["repeats"]["()"] is OncePerKind


def test_an_exception_is_one_short_entry_without_locals(printed: io.StringIO) -> None:
    LooksAtTheDatabase.looks = 0
    log_failure()
    text = printed.getvalue()
    assert "LookupError: no such row" in text
    assert " in fail" in text
    assert SECRET not in text
    assert LooksAtTheDatabase.looks == 0
    assert len(text) < 1500


def test_structlog_entries_have_no_locals_either(printed: io.StringIO) -> None:
    LooksAtTheDatabase.looks = 0
    try:
        fail()
    except LookupError:
        structlog.get_logger("tests.repeats").exception("not sent", mail=7)
    assert "LookupError: no such row" in printed.getvalue()
    assert "7" in printed.getvalue()
    assert LooksAtTheDatabase.looks == 0


def test_an_exception_that_holds_a_query_is_not_asked_for_its_looks(printed: io.StringIO) -> None:
    LooksAtTheDatabase.looks = 0
    try:
        {}[LooksAtTheDatabase()]
    except KeyError:
        logging.getLogger("tests.repeats").exception("Internal Server Error: /")
    assert "KeyError" in printed.getvalue()
    assert LooksAtTheDatabase.looks == 0


def test_290_of_a_kind_are_one_entry_and_one_sum(
    printed: io.StringIO, once: OncePerKind, style: str
) -> None:
    for number in range(290):
        log_failure(f"no such row: {number}")
    before = printed.getvalue()
    assert before.count("LookupError") == 1
    once.summarize()
    last = printed.getvalue().removeprefix(before)
    assert "repeated" in last
    if style == "json":
        entry: dict[str, Any] = json.loads(last)
        assert entry["times"] == 289
        assert "LookupError" in entry["what"]
    else:
        assert "times=289" in last


def test_the_next_window_begins_with_an_entry(printed: io.StringIO, once: OncePerKind) -> None:
    log_failure()
    assert isinstance(once._clock, Clock)
    once._clock.now += 61
    log_failure()
    assert printed.getvalue().count("Internal Server Error") == 2


def test_errors_of_another_place_are_another_kind(printed: io.StringIO) -> None:
    log_failure()
    try:
        fail()
    except LookupError:
        logging.getLogger("tests.repeats").exception("Internal Server Error: /other")
    assert "/other" in printed.getvalue()


def test_warnings_that_flood_are_counted_too(printed: io.StringIO, once: OncePerKind) -> None:
    for number in range(100):
        logging.getLogger("tests.repeats").warning("%s: %s", "Not Found", f"/{number}")
    assert len(entries(printed)) == 20
    once.summarize()
    assert "80" in entries(printed)[-1]


def test_kinds_without_end_fill_neither_memory_nor_logs(
    printed: io.StringIO, once: OncePerKind
) -> None:
    for number in range(3000):
        logging.getLogger("tests.repeats").warning(f"Not Found: /{number}")
    assert len(entries(printed)) < 600


def test_the_sum_is_printed_though_nothing_else_happens() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(OncePerKind(window=0.2))
    logger = logging.getLogger("webapp.config.logging.of.tests")
    loggers = [logger, logging.getLogger("webapp.config.logging")]
    for each in loggers:
        each.addHandler(handler)
    for _ in range(30):
        logger.warning("again")
    wait_until(lambda: "repeated" in stream.getvalue())
    for each in loggers:
        each.removeHandler(handler)


REPLACED = """
import io, logging, sys
from webapp.config.logging import configure, logging_config
first, sys.stderr = sys.stderr, io.StringIO()
configure(logging_config(level="INFO", style="console"))
for _ in range(30):
    logging.getLogger("flood").warning("again")
sys.stderr.close()
sys.stderr = first
for filtering in logging.getLogger().handlers[0].filters:
    filtering.summarize()
"""


def test_the_sum_goes_where_standard_error_is_by_then() -> None:
    """pytest, for one, puts a stream of its own in its place, and closes that at the end."""
    ended = subprocess.run(
        [sys.executable, "-c", REPLACED], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert "Logging error" not in ended.stderr
    assert "times=10" in ended.stderr


def test_threads_that_fail_at_once_lose_no_count(printed: io.StringIO, once: OncePerKind) -> None:
    threads = [
        threading.Thread(target=lambda: [log_failure() for _ in range(50)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    once.summarize()
    assert printed.getvalue().count("Internal Server Error") == 1
    assert "399" in printed.getvalue()
