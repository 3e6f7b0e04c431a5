"""One sentence for a difference of profiles: what a packet costs, and which function it is."""

from dataclasses import dataclass

from webapp.stats.profiles.found import Difference, Row

SMALLEST = 0.5
"""No function below half a point is named in a headline."""

WHOLE = 2 / 3
"""A function that costs more of the packet explains nothing: it is nearly all of it."""

MOST_OF = 0.7
"""Of functions on one call path the deepest is named that holds this part of the largest change."""


@dataclass(frozen=True, slots=True)
class Part:
    """A function of a headline, with all it calls if ``inclusive``; in percent of A's packet."""

    function: str
    module: str
    inclusive: bool
    a_pct: float
    b_pct: float
    change: float
    is_proven: bool


@dataclass(frozen=True, slots=True)
class Headline:
    """A difference in one or a few sentences: ``text``, and its parts as figures.

    ``total_pct`` is the change in cost of a packet (None without rates).
    """

    text: str
    total_pct: float | None
    is_total_proven: bool
    parts: tuple[Part, ...]


def headline(difference: Difference, name_a: str, name_b: str) -> Headline:
    """The headline of ``difference``; ``name_b`` is what changed, ``name_a`` what it is against."""
    part = _explaining(difference)
    total = difference.total
    proven = total is not None and total.is_claimed
    first = _first(difference, name_a, name_b)
    second = _second(difference, part, proven=proven)
    limits = _limits(difference)
    text = " ".join(one for one in (first, second, limits) if one)
    return Headline(text, None if total is None else total.change, proven, (part,) if part else ())


def _first(difference: Difference, name_a: str, name_b: str) -> str:
    total = difference.total
    if total is None:
        return f"{name_b} against {name_a}, by shares of samples alone."
    size = _points(total.change)
    if not total.is_claimed and difference.is_tested:
        return f"What a packet costs with {name_b} is not proven to differ from {name_a}."
    if total.change < 0:
        return f"{name_b} makes a packet {size} % cheaper than {name_a}."
    return f"{name_b} costs {size} % of a packet of {name_a}."


def _second(difference: Difference, part: Part | None, *, proven: bool) -> str:
    total = difference.total
    if part is None:
        if total is not None and (proven or not difference.is_tested):
            return "No single function explains it."
        return "No function is proven to have changed." if difference.is_tested else ""
    name = f"{part.function} and what it calls" if part.inclusive else part.function
    became = f"{_points(part.a_pct)} % of a packet became {_points(part.b_pct)} %"
    if total is None:
        return f"{name}: {_points(part.a_pct)} % of the samples became {_points(part.b_pct)} %."
    if total.change * part.change > 0 and (proven or not difference.is_tested):
        whole = _points(total.change)
        return f"{_points(part.change)} of these {whole} points are {name}: {became}."
    return f"{name}: {became}."


def _limits(difference: Difference) -> str:
    if difference.is_tested:
        return ""
    return "One boot a side: not proven." if min(difference.boots) == 1 else "Not proven."


def _points(value: float) -> str:
    """A size with as many digits as it is worth: 27, 3.7, 0.5."""
    size = abs(value)
    return f"{size:.0f}" if size >= 10 else f"{size:.1f}"


def _explaining(difference: Difference) -> Part | None:
    """The most specific function that holds most of a change: proven, or where nothing can be
    tested, at least half of all.
    """
    parts = [part for row in difference.rows for part in _parts(difference, row)]
    if not parts:
        return None
    total = difference.total
    if total is not None:
        along = [part for part in parts if part.change * total.change > 0]
        parts = along or parts
    most = max(abs(part.change) for part in parts)
    deep = [part for part in parts if abs(part.change) >= MOST_OF * most]
    return min(deep, key=lambda part: (part.a_pct + part.b_pct, part.inclusive))


def _parts(difference: Difference, row: Row) -> list[Part]:
    name = row.function
    own = Part(name, row.module, False, row.a_pct, row.b_pct, row.change, row.is_claimed)
    deep = row.inclusive
    both = Part(name, row.module, True, deep.a_pct, deep.b_pct, deep.change, deep.is_claimed)
    return [one for one in (both, own) if _may_be_named(difference, one)]


def _may_be_named(difference: Difference, part: Part) -> bool:
    if abs(part.change) < SMALLEST or max(part.a_pct, part.b_pct) > 100 * WHOLE:
        return False
    if difference.is_tested:
        return part.is_proven
    total = difference.total
    return total is not None and part.change / total.change >= 0.5 and _is_apart(part, total.change)


def _is_apart(part: Part, total: float) -> bool:
    """Whether the rest of the packet changed by less than half as much as the packet."""
    rest = (total - part.change) / max(100 - part.a_pct, 1e-9)
    return abs(rest) < abs(total) / 100 / 2
