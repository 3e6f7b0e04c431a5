"""The command: ``python -m webapp.stats.ministat`` prints what ``ministat(1)`` prints."""

import getopt
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import BinaryIO, Final

from webapp.stats import StatisticsError, end_silently
from webapp.stats.intervals import LEVELS
from webapp.stats.ministat import block

# What `isspace` and the leading part of `strtod` accept in the C locale.
_SPACE: Final = b" \t\n\v\f\r"
_DECIMAL = re.compile(rb"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_HEXADECIMAL = re.compile(
    rb"[ \t\n\v\f\r]*([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
)


class InvalidDataError(StatisticsError):
    """A line whose wanted column is not a finite number."""

    def __init__(self, line: int, name: str) -> None:
        super().__init__(f"Invalid data on line {line} in {name}")
        self.line = line
        self.name = name


def number(token: bytes) -> float | None:
    """``token`` as a finite number when C's ``strtod`` takes all of it, else None."""
    if match := _DECIMAL.fullmatch(token):
        value = float(match[1])
    elif match := _HEXADECIMAL.fullmatch(token):
        value = _from_hexadecimal(match[1].decode())
    else:
        return None
    return value if isfinite(value) else None


def read_column(
    lines: Iterable[bytes], *, name: str, column: int = 1, delimiters: bytes = b" \t"
) -> list[float]:
    """The numbers in the 1-based ``column`` of ``lines``, in order.

    A line without that column, or with a token starting with ``#`` at or before it, is ignored.
    Raises `InvalidDataError` with the line's number.
    """
    token = re.compile(b"[^" + re.escape(delimiters) + b"]+")
    values = []
    for line_number, line in enumerate(lines, start=1):
        tokens = token.findall(line.rstrip(_SPACE))[:column]
        if len(tokens) < column or any(found.startswith(b"#") for found in tokens):
            continue
        value = number(tokens[-1])
        if value is None:
            raise InvalidDataError(line_number, name)
        values.append(value)
    return values


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("inf")


MISUSE = 2
USAGE = """\
usage: ministat [-Anqs] [-C column] [-c level] [-d delimiters] [-w width] [file ...]
\t-A            no plot
\t-C column     the column to read, from 1 (default 1)
\t-c level      confidence, percent: 80, 90, 95, 98, 99 or 99.5 (default 95)
\t-d delimiters characters between columns (default space and tab)
\t-n            the numbers of each set only: no plot, no comparison
\t-q            no names, no header
\t-s            one row of bars for each set
\t-w width      columns of the plot (default 74, or what the terminal has)
"""


class MisuseError(Exception):
    """A command line that means nothing; the message is the reason."""


class FileError(Exception):
    """A file that cannot be opened or read."""


@dataclass(slots=True)
class Options:
    """The options of ministat(1): `column` from 1, `confidence` in %, `width` in characters."""

    column: int = 1
    confidence: float = 95.0
    delimiters: bytes = b" \t"
    width: int | None = None
    flags: set[str] = field(default_factory=set)


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code: 0, or 2 with a reason on standard error."""
    try:
        options, names = parse(arguments)
        text = report(options, names)
    except MisuseError as error:
        _complain(f"ministat: {error}\n{USAGE}")
        return MISUSE
    except (FileError, StatisticsError) as error:
        _complain(f"{error}\n")
        return MISUSE
    sys.stdout.buffer.write(os.fsencode(text))
    sys.stdout.buffer.flush()
    return 0


def parse(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """The options and the file names of a command line. Raises `MisuseError`."""
    try:
        pairs, names = getopt.getopt(list(arguments), "AC:c:d:nqsw:")
    except getopt.GetoptError as error:
        raise MisuseError(error.msg) from error
    if len(names) > block.MOST_SETS:
        raise MisuseError(f"{len(names)} files: at most {block.MOST_SETS} can be compared")
    options = Options()
    for option, value in pairs:
        _apply(options, option, value)
    return options, names


def _apply(options: Options, option: str, value: str) -> None:
    match option:
        case "-C":
            options.column = _whole(value, "column", least=1)
        case "-c":
            options.confidence = _level(value)
        case "-d":
            if not value:
                raise MisuseError("no delimiter given")
            options.delimiters = os.fsencode(value)
        case "-w":
            options.width = _whole(value, "width", least=block.LEAST_WIDTH)
        case flag:
            options.flags.add(flag)


def report(options: Options, names: Sequence[str]) -> str:
    """What the command prints for these files. Raises `FileError` and `StatisticsError`."""
    flags = options.flags
    return block.render(
        _read(options, names),
        confidence=options.confidence,
        width=options.width or _terminal_width(),
        plot="-A" not in flags,
        separate_bars="-s" in flags,
        brief="-n" in flags,
        quiet="-q" in flags,
    )


def _read(options: Options, names: Sequence[str]) -> list[tuple[str, list[float]]]:
    with ExitStack() as stack:
        sources = [(name, _opened(name, stack)) for name in names]
        sources = sources or [("<stdin>", sys.stdin.buffer)]
        return [(name, _column(options, name, source)) for name, source in sources]


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(name).open("rb"))
    except (OSError, ValueError) as error:
        raise FileError(f"ministat: Cannot open {name}: {_cause(error)}") from error


def _column(options: Options, name: str, source: BinaryIO) -> list[float]:
    try:
        values = read_column(
            source, name=name, column=options.column, delimiters=options.delimiters
        )
    except OSError as error:
        raise FileError(f"ministat: Cannot read {name}: {_cause(error)}") from error
    except StatisticsError as error:
        raise FileError(f"ministat: {error}") from error
    if len(values) < block.LEAST_POINTS:
        raise FileError(f"Dataset {name} must contain at least {block.LEAST_POINTS} data points")
    return values


def _cause(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _whole(text: str, what: str, *, least: int) -> int:
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,9}", text, re.ASCII) or int(text) < least:
        raise MisuseError(f"{what} {text!r}: a whole number of at least {least} is needed")
    return int(text)


def _level(text: str) -> float:
    level = number(os.fsencode(text))
    if level not in LEVELS:
        offered = ", ".join(f"{known:g}" for known in LEVELS)
        raise MisuseError(f"no support for confidence level {text!r}: use {offered}")
    return level


def _terminal_width() -> int:
    """On a terminal COLUMNS, else the terminal's width less the frame; elsewhere 74."""
    if not sys.stdout.isatty():
        return block.DEFAULT_WIDTH
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else _terminal_columns() - 2
    return width if width >= block.LEAST_WIDTH else block.DEFAULT_WIDTH


def _terminal_columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 0


def _complain(text: str) -> None:
    sys.stderr.buffer.write(os.fsencode(text))
    sys.stderr.buffer.flush()


if __name__ == "__main__":
    end_silently()
    sys.exit(main(sys.argv[1:]))
