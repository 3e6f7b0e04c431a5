"""What a flame graph says of its frames. Pure."""

import re

from webapp.charts.flame.colours import module_name, step_of
from webapp.charts.flame.layout import Flame, Frame, Kind
from webapp.charts.text import half_width, number, percent

CHARACTER = 6.4
"""Pixels of a letter of 11 px, about."""

ELLIPSIS = "…"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BREAKS = re.compile(r"[\t\n\r\u2028\u2029]")


def clean(name: str) -> str:
    """A name in one line, without characters that XML has none for."""
    return NOT_IN_XML.sub("\ufffd", BREAKS.sub(" ", name))


def cut(text: str, pixels: float) -> str:
    """As much of ``text`` as ``pixels`` hold, with a mark where it is cut; empty below three
    letters.
    """
    most = int(pixels / CHARACTER)
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}{ELLIPSIS}" if most >= 3 else ""


def cut_label(change: str, name: str, pixels: float) -> str:
    """The change and the name in ``pixels``: of a number that does not fit the sign alone stays,
    for a part of it is another number.
    """
    if not change:
        return cut(name, pixels)
    wide = CHARACTER * len(change)
    if wide > pixels:
        return change[0] if pixels >= CHARACTER else ""
    return f"{change} {cut(name, pixels - wide - CHARACTER)}".rstrip()


def change_of(frame: Frame) -> str:
    """The change in points as it stands in a frame; empty where it has no colour."""
    change = frame.change
    if change is None or step_of(change) == 0 or frame.kind is Kind.REST:
        return ""
    return percent(change)


def title_of(frame: Frame, flame: Flame) -> str:
    """The tooltip: the name and the module in its first line, then the figures."""
    if frame.kind is Kind.REST:
        return f"Narrower frames together\n{_size(frame.width, frame, flame)}"
    module = clean(module_name(frame.module))
    name = f"{clean(frame.name)} ({module})" if module else clean(frame.name)
    return "\n".join([name, _size(frame.total, frame, flame), *_own(frame, flame)])


def _size(size: float, frame: Frame, flame: Flame) -> str:
    """Samples with their share; of a difference both costs and the change."""
    if flame.is_difference:
        return _change(frame) if frame.kind is not Kind.REST else f"{half_width(size)} % on side B"
    share = f"{number(size)} samples, {half_width(frame.percent)} % of all"
    if flame.drawn == flame.all:
        return share
    return f"{share}, {half_width(frame.percent_drawn)} % of those drawn"


def _change(frame: Frame) -> str:
    change = frame.change or 0.0
    if not frame.before:
        return f"new: {half_width(frame.total)} %, {percent(change)} points"
    return f"{half_width(frame.before)} → {half_width(frame.total)} %: {percent(change)} points"


def _own(frame: Frame, flame: Flame) -> list[str]:
    """What the function took itself; in a reversed graph only outermost frames ran."""
    if flame.is_reversed or not frame.key:
        return []
    if flame.is_difference:
        return [f"itself {half_width(frame.own)} % on side B"]
    share = 100 * frame.own / flame.all if flame.all else 0.0
    return [f"itself {number(frame.own)} samples, {half_width(share)} %"]
