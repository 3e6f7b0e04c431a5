"""Whatever stands in a file, reading it takes time in proportion to its length.

Two megabytes of each kind go through every reader under an alarm. A quadratic pattern takes minutes
for them, a linear one less than a second; the bound only distinguishes these.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest
from labagent.files import UnreadFileError
from labagent.job import Job
from labagent.model import Metric, Mode, safe_name
from labagent.readers.benchlab.drafts import names_of_prefix, parse_info, parse_time
from labagent.readers.benchlab.groups import parse_values
from labagent.readers.benchlab.kernel import parse_uname
from labagent.readers.benchlab.label import parse_image
from labagent.readers.logs import FORMATS
from labagent.work.commands import READERS, Output, UnreadableError

from agents.tests.board import job
from agents.tests.make import HEAD_12, OLD_HEADER, second

LENGTH = 2_000_000
MANY_LINES = 50_000
"""Characters for each of the beginnings. Their square is still minutes."""

TOO_LONG = 20

UNITS = {
    "spaces": " ",
    "tabs": "\t",
    "digits": "1",
    "zeros": "0",
    "dots": ".",
    "commas": ",",
    "minuses": "-",
    "quotes": '"',
    "brackets": "[",
    "braces": "{",
    "letters": "a",
    "hexadecimal": "1a",
    "words": "a ",
    "at signs": "a@",
    "newlines": "\n",
    "CR": "\r",
    "NUL": "\0",
    "numbers": "1 ",
    "exponents": "1e9",
    "patches": "D1234",
    "dates": "Sat May  6 00:18:48 CEST 2017 ",
    "seconds": "main_thread [1] 1",
    "rates": second(1) + " ",
    "results": "Estimated Equilibrium Ethernet throughput= ",
    "iterations": "Iteration 1\n",
    "assignments": 'A="',
    "fields": "CFG: a\n",
    "objects": '{"value": 1}',
}
STARTS = {
    "": "",
    "log": "\n".join([*OLD_HEADER, *map(second, range(9))]) + "\n693.3 main_thread [1550] 1",
    "result": "equilibrium\nEstimated Equilibrium Ethernet throughput=",
    "new info": 'UNAME="FreeBSD a 12.0-CURRENT FreeBSD 12.0-CURRENT ',
    "old info": "CFG: ",
    "start": "Start time: Thu Sep ",
    "uname": HEAD_12,
    "json": '{"value": ',
}


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fails what takes longer of a processor; matching a pattern ends for a signal, too."""

    def fail(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"still reading after {seconds} s")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read_everything(text: str) -> None:
    data = text.encode()
    for form in FORMATS:
        form.claims(data)
        reading = form.read(data)
        assert reading.values or reading.problem
    info = parse_info(text)
    for found in (parse_uname(info.uname), parse_uname(text)):
        assert found.build is None or len(found.build) <= 200
        assert found.revision is None or found.revision
    parse_time(info.started)
    parse_image(info.image)
    Mode.of(safe_name(text[:1000]), None, [info.cfg])
    with suppress(UnreadFileError):
        parse_values(Path("x.pps"), data)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_anything_is_read_in_linear_time(unit):
    with at_most(TOO_LONG):
        for start in STARTS.values():
            read_everything(start + unit * (MANY_LINES // len(unit)))


@pytest.mark.parametrize("start", [*STARTS], ids=[*STARTS])
def test_one_line_of_two_megabytes_after_a_true_beginning_is_read_in_linear_time(start):
    with at_most(TOO_LONG):
        for unit in (" ", "1", "a@", "main_thread [1] 1"):
            read_everything(STARTS[start] + unit * (LENGTH // len(unit)))


@pytest.mark.parametrize("unit", [*UNITS])
@pytest.mark.parametrize("kind", ["values", "json-lines", "iperf3"])
def test_two_megabytes_of_output_are_read_in_linear_time(tmp_path, kind, unit):
    path = tmp_path / "run.1.out"
    path.write_text(STARTS["json"] + UNITS[unit] * (LENGTH // 10 // len(UNITS[unit])))
    with at_most(TOO_LONG), pytest.raises(UnreadableError):
        READERS[kind].read(Output(tmp_path, [path]), Job.parse(job()), Metric("a", "b", "more"))


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_the_longest_names_are_read_in_linear_time(unit):
    name = (unit * 255)[:255]
    with at_most(TOO_LONG):
        for start in ("", "fbsd12-", "bench.", "r317849"):
            parse_image(start + name)
            names_of_prefix(start + name)
