"""How a bisect got where it is: decisions and people's acts, and what was believed after each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import log2

from webapp.bisects.models import BisectAct, BisectDecision
from webapp.bisects.queries import BisectView
from webapp.charts import bars, bisect
from webapp.charts.text import chance as chance_text
from webapp.charts.text import number

OLD, NEW, BETWEEN = "old level", "new level", "between the levels"
SET_ASIDE = "set aside as weak"

WIDTH, HEIGHT = 190.0, 24.0
TIMES, ELLIPSIS = "\N{MULTIPLICATION SIGN}", " \N{HORIZONTAL ELLIPSIS} "


@dataclass(frozen=True, slots=True)
class Step:
    """Boots that came between two decisions and what was decided then, or a person's act.

    ``boots`` are words for which they are; ``names`` and ``values`` what was booted and measured,
    ``note`` its reading by the present levels. ``picture`` is the probability of each
    commit after it, ``lead`` that of the likeliest; both empty for acts.
    """

    at: datetime
    who: str
    what: str
    why: str
    boots: str
    names: str = ""
    values: str = ""
    note: str = ""
    picture: str = ""
    lead: str = ""


def story_of(view: BisectView) -> list[Step]:
    """Boots with what was decided on them, and acts, the newest first."""
    known = _known_before(view)
    by_boots = [list(same) for _, same in groupby(view.decisions, key=lambda row: row.boots)]
    charts = _Charts(view)
    decided, before = [], known
    for rows in by_boots:
        decided.append(_of_decision(view, rows[-1], known, charts.booted(before, rows[-1].boots)))
        before = rows[-1].boots
    steps = [*(_of_act(row) for row in view.acts), *decided]
    return sorted(steps, key=lambda step: step.at)[::-1]


def _known_before(view: BisectView) -> int:
    """How many boots the first decision rested on: history."""
    return view.decisions[0].boots if view.decisions else 0


@dataclass(frozen=True, slots=True)
class _Booted:
    """Some boots: how often each revision was booted, their values, and their evidence."""

    names: str = ""
    values: str = ""
    note: str = ""


class _Charts:
    """The boots of a bisect as each machine's chart draws them."""

    def __init__(self, view: BisectView) -> None:
        self._view = view
        self._charts = {scope.number: view.chart(scope.number) for scope in view.bisect.scopes}

    def booted(self, after: int, up_to: int) -> _Booted:
        """Boots numbered above `after`, up to and with `up_to`."""
        rows = [row for row in self._view.boots if after < row.number <= up_to]
        if not rows:
            return _Booted()
        dots = [(self._charts[row.subject], self._view.dot_of(row)) for row in rows]
        counts = Counter(dot.name for _, dot in dots)
        values = sorted(dot.value for _, dot in dots)
        notes = [
            note_of([dot for chart, dot in dots if chart is own], own)
            for own in self._charts.values()
        ]
        return _Booted(
            ", ".join(name if n == 1 else f"{name} {TIMES}{n}" for name, n in counts.items()),
            ELLIPSIS.join(dict.fromkeys(number(value) for value in (values[0], values[-1]))),
            "; ".join(dict.fromkeys(filter(None, notes))),
        )


def _of_decision(view: BisectView, row: BisectDecision, known: int, booted: _Booted) -> Step:
    chances = [0.0] * len(view.revisions)
    for index, chance in row.figures.get("chances", []):
        chances[index] = chance
    boots = row.boots - known
    described = f"Probability of each commit after {boots} boot{'' if boots == 1 else 's'}"
    drawn = bars.draw(chances, width=WIDTH, height=HEIGHT, described=described)
    is_decided = any(chances)
    return Step(
        at=row.at,
        who="",
        what=view.action_of(row),
        why=row.text,
        boots=f"after {boots} boot{'' if boots == 1 else 's'}" if boots else "before any boot",
        names=booted.names,
        values=booted.values,
        note=booted.note,
        picture=drawn if is_decided else "",
        lead=_lead(chances) if is_decided else "",
    )


def _of_act(row: BisectAct) -> Step:
    return Step(
        at=row.at,
        who=row.actor.get_username() if row.actor else "",
        what=" ".join(filter(None, [row.get_kind_display(), str(row.revision or "")])),
        why=row.reason,
        boots="",
    )


def _lead(chances: list[float]) -> str:
    """``36 % each of 2``: the likeliest commit, or those that share its place."""
    most = max(chances)
    together = sum(chance >= bisect.ALIKE * most for chance in chances)
    stated = chance_text(most)
    return stated if together == 1 else f"{stated} each of {together}"


def bits_left(view: BisectView) -> list[tuple[int, float]]:
    """What is left to learn after each number of boots: the entropy of the commits, in bits."""
    rows = [row for row in view.decisions if row.figures.get("chances")]
    newest = [list(same)[-1] for _, same in groupby(rows, key=lambda row: row.boots)]
    known = _known_before(view)
    return [(row.boots - known, _entropy(row)) for row in newest]


def _entropy(row: BisectDecision) -> float:
    chances = [float(chance) for _, chance in row.figures["chances"] if chance > 0]
    whole = sum(chances)
    return sum(-chance / whole * log2(chance / whole) for chance in chances)


def picture_of_missing_bits(view: BisectView) -> str:
    """The curve of `bits_left`, and where the forecast sees its end; empty before there are two."""
    steps = bits_left(view)
    return bisect.draw_missing_bits(steps, to_come(view)) if len(steps) > 1 else ""


def to_come(view: BisectView) -> tuple[float, float] | None:
    """Within how many more boots half of such searches end, and nine in ten; None: not known."""
    left = view.figures.get("left")
    if view.bisect.has_ended or not left:
        return None
    return float(left["boots_median"]), float(left["boots_p90"])


def note_of(dots: Sequence[bisect.Dot], chart: bisect.BisectChart) -> str:
    """``new level: the step is at or before it``, of one boot; of several each revision's level,
    the revisions in order. Empty while no levels are known.
    """
    if chart.before is None or chart.after is None or not dots:
        return ""
    if len(dots) == 1:
        return _of_one(dots[0], chart)
    named = dict.fromkeys(
        f"{dot.name}: {level_of(dot, chart.before, chart.after)}"
        for dot in sorted(dots, key=lambda dot: dot.index)
    )
    return "; ".join(named)


def level_of(dot: bisect.Dot, before: float, after: float) -> str:
    """On which level a boot lies: the one that its 95 % interval holds, less what the machine
    moved; where it holds both or none, what is nearer.
    """
    if dot.source == bisect.WEAK:
        return SET_ASIDE
    shift = 0.0 if dot.steady is None else dot.steady - dot.value
    value, low, high = dot.value + shift, dot.low + shift, dot.high + shift
    is_old, is_new = low <= before <= high, low <= after <= high
    if is_old != is_new:
        return OLD if is_old else NEW
    is_nearer_old = abs(value - before) <= abs(value - after)
    if not is_old and not min(before, after) < value < max(before, after):
        return "beyond the old level" if is_nearer_old else "beyond the new level"
    return f"{BETWEEN}, nearer the {'old' if is_nearer_old else 'new'} one"


def _of_one(dot: bisect.Dot, chart: bisect.BisectChart) -> str:
    assert chart.before is not None
    assert chart.after is not None
    level = level_of(dot, chart.before, chart.after)
    if dot.index <= 0:
        return f"{level}, at the good end"
    if dot.index >= len(chart.names) - 1:
        return f"{level}, at the bad end"
    if level == OLD:
        return f"{OLD}: the step is after it"
    return f"{NEW}: the step is at or before it" if level == NEW else level
