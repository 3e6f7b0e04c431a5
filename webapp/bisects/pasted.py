"""Numbers that a person pastes: one boot a line, the runs of that boot side by side."""

import re

from webapp.bisects.errors import BisectError
from webapp.bisects.question import LEAST_VALUE, MOST_VALUE

NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?")
MOST_BOOTS = 50
MOST_RUNS = 100
MOST_LENGTH = 20_000
SHOWN = 20


def read_boots(text: str) -> list[list[float]]:
    """The values of each boot; blank lines and what follows a ``#`` do not count.

    Values are relative to a level later on, so each must be above 0.
    Raises BisectError naming the line and what is wrong there.
    """
    if len(text) > MOST_LENGTH:
        raise BisectError(f"More than {MOST_LENGTH:,} characters; paste a boot a line.")
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    boots = [_boot(number, fields) for number, fields in enumerate(lines, 1) if fields]
    if not boots:
        raise BisectError("Nothing was pasted: write the values of each boot on a line.")
    if len(boots) > MOST_BOOTS:
        raise BisectError(f"{len(boots)} boots; paste at most {MOST_BOOTS} at once.")
    return boots


def _boot(line: int, fields: list[str]) -> list[float]:
    if len(fields) > MOST_RUNS:
        raise BisectError(f"Line {line} has {len(fields)} values; a boot has at most {MOST_RUNS}.")
    return [_value(line, word) for word in fields]


def _value(line: int, word: str) -> float:
    value = float(word) if NUMBER.fullmatch(word) else float("nan")
    if LEAST_VALUE <= value <= MOST_VALUE:
        return value
    shown = word if len(word) <= SHOWN else f"{word[:SHOWN]}…"
    if value > 0:
        raise BisectError(f"Line {line}: “{shown}” is not in {LEAST_VALUE:g} … {MOST_VALUE:g}.")
    raise BisectError(
        f"Line {line}: “{shown}” is not a number above 0. Write values as 1148692.5, without "
        "units or thousands separators."
    )
