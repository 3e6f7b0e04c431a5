"""One sentence for a difference of profiles: what a packet costs, and which function it is."""

from dataclasses import dataclass

from webapp.stats.profiles.judging import Change, Difference, Row

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
    renamed_to: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """A difference in a sentence, ``more`` about functions, and its parts as figures."""

    first: str
    more: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join((self.first, *self.more))


def headline(difference: Difference, name_a: str, name_b: str) -> Headline:
    """The headline of ``difference``; ``name_b`` is what changed, ``name_a`` what it is against."""
    total = difference.total
    proven = total is not None and total.is_claimed
    part = _explaining(difference)
    first = _first(difference, name_a, name_b)
    second = _second(difference, part, proven=proven)
    more = tuple(one for one in (second, _limits(difference)) if one)
    return Headline(first, more, (part,) if part else ())


def _first(difference: Difference, name_a: str, name_b: str) -> str:
    total = difference.total
    if total is None:
        return f"{name_b} against {name_a}, by shares of samples alone."
    if not total.is_claimed:
        return f"What a packet costs with {name_b} is not proven to differ from {name_a}."
    way = "cheaper" if total.change < 0 else "dearer"
    rate = 100 * (total.a_pct / total.b_pct - 1)
    per_second = f"{_points(rate)} % {'more' if rate > 0 else 'fewer'} packets per second"
    return f"{name_b} makes a packet {_points(total.change)} % {way} than {name_a} ({per_second})."


def _second(difference: Difference, part: Part | None, *, proven: bool) -> str:
    total = difference.total
    if part is None:
        if proven:
            return "No single function explains it."
        return "No function is proven to have changed." if difference.is_tested else ""
    name = f"{part.function} (now {part.renamed_to})" if part.renamed_to else part.function
    name = f"{name} and what it calls" if part.inclusive else name
    of = "a packet" if difference.is_cost else "the samples"
    became = f"{_points(part.a_pct)} % of {of} became {_points(part.b_pct)} %"
    if total is not None and proven and 0 < part.change / total.change <= 1:
        whole = _points(total.change)
        return f"{_points(part.change)} of these {whole} points are {name}: {became}."
    return f"{name}: {became}."


def _limits(difference: Difference) -> str:
    if difference.is_tested:
        return ""
    if min(difference.boots) == 1:
        return "One boot a side: nothing is proven of functions."
    return "Nothing is proven of functions."


def _points(value: float) -> str:
    """A size with as many digits as it is worth: 27, 3.7, 0.5."""
    size = abs(value)
    return f"{size:.0f}" if size >= 9.95 else f"{size:.1f}"


def _explaining(difference: Difference) -> Part | None:
    """The most specific function that holds most of a change: proven, or where nothing can be
    tested, at least half of all.

    A function that one side alone shows is named where no other can be: what it did may be done
    elsewhere there.
    """
    parts = [part for row in difference.rows for part in _parts(difference, row)]
    parts = [part for part in parts if part.a_pct and part.b_pct] or parts
    total = difference.total
    if total is not None and total.is_claimed:
        parts = [part for part in parts if part.change * total.change > 0] or parts
    if not parts:
        return None
    most = max(abs(part.change) for part in parts)
    deep = [part for part in parts if abs(part.change) >= MOST_OF * most]
    return min(deep, key=lambda part: (part.a_pct + part.b_pct, part.inclusive))


def _parts(difference: Difference, row: Row) -> list[Part]:
    found = [_part(row, change, inclusive=change is not row) for change in (row, row.inclusive)]
    return [one for one in found if _may_be_named(difference, one)]


def _part(row: Row, change: Change, *, inclusive: bool) -> Part:
    return Part(
        row.function,
        row.module,
        inclusive,
        change.a_pct,
        change.b_pct,
        change.change,
        change.is_claimed,
        row.renamed_to,
    )


def _may_be_named(difference: Difference, part: Part) -> bool:
    if abs(part.change) < SMALLEST or max(part.a_pct, part.b_pct) > 100 * WHOLE:
        return False
    if difference.is_tested:
        return part.is_proven
    total = difference.total
    if total is None or not total.is_claimed:
        return False
    return part.change / total.change >= 0.5 and _is_apart(part, total.change)


def _is_apart(part: Part, total: float) -> bool:
    """Whether the rest of the packet changed by less than half as much as the packet."""
    rest = (total - part.change) / (100 - part.a_pct)
    return abs(rest) < abs(total) / 100 / 2
