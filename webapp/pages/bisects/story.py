"""How a bisect got where it is: decisions and people's acts, and what was believed after each."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import log2

from webapp.bisects.models import BisectAct, BisectDecision
from webapp.bisects.queries import BisectView
from webapp.charts import bars, missing_bits
from webapp.charts.text import chance as chance_text

WIDTH, HEIGHT = 190.0, 24.0
ALIKE = 0.9
"""Of the likeliest commit's probability: those above it lead together."""


@dataclass(frozen=True, slots=True)
class Step:
    """A decision or an act. ``boots`` is how many had come since the first decision; ``picture`` is
    the probability of each commit after it, ``lead`` that of the likeliest; both empty for acts."""

    at: datetime
    who: str
    what: str
    why: str
    boots: int
    picture: str = ""
    lead: str = ""


def story_of(view: BisectView) -> list[Step]:
    """Decisions and acts, the newest first."""
    known = _known_before(view)
    decisions = [_of_decision(view, row, known) for row in view.decisions]
    steps = [*(_of_act(row, known) for row in view.acts), *decisions]
    return sorted(steps, key=lambda step: step.at)[::-1]


def _known_before(view: BisectView) -> int:
    """How many boots the first decision rested on: history."""
    return view.decisions[0].boots if view.decisions else 0


def _of_decision(view: BisectView, row: BisectDecision, known: int) -> Step:
    chances = [0.0] * len(view.revisions)
    for index, chance in row.figures.get("chances", []):
        chances[index] = chance
    boots = row.boots - known
    described = f"Probability of each commit, boots measured for it: {boots}"
    drawn = bars.draw(chances, width=WIDTH, height=HEIGHT, described=described)
    is_decided = any(chances)
    return Step(
        at=row.at,
        who="",
        what=view.action_of(row),
        why=row.text,
        boots=boots,
        picture=drawn if is_decided else "",
        lead=_lead(chances) if is_decided else "",
    )


def _of_act(row: BisectAct, known: int) -> Step:
    return Step(
        at=row.at,
        who=row.actor.get_username() if row.actor else "",
        what=" ".join(filter(None, [row.get_kind_display(), str(row.revision or "")])),
        why=row.reason,
        boots=max(row.after_boots - known, 0),
    )


def _lead(chances: list[float]) -> str:
    """``36 % each of 2``: the likeliest commit, or those that share its place."""
    most = max(chances)
    together = sum(chance >= ALIKE * most for chance in chances)
    said = chance_text(most)
    return said if together == 1 else f"{said} each of {together}"


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
    """The curve of `bits_left`; empty before there are two."""
    steps = bits_left(view)
    return missing_bits.draw(steps) if len(steps) > 1 else ""
