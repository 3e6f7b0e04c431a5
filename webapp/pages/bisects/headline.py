"""The heading of a bisect: who moved what, as far as it is known."""

from dataclasses import dataclass

from webapp.bisects.queries import LEAST_LEAD, BisectView
from webapp.charts.bisect import ALIKE
from webapp.charts.text import direction, half_width

MOST_NAMED = 4
"""Commits that a heading names: of more it says how far the search is."""


@dataclass(frozen=True, slots=True)
class Headline:
    """``text`` is the heading; ``detail`` what stands under it, empty where nothing is left."""

    text: str
    detail: str = ""


def headline_of(view: BisectView) -> Headline:
    """``Most likely r4 or r5 made pf 2.0 % slower``, with every probability under it.

    Where no commit is named, what came of the search; while none leads, how far it is.
    """
    culprit = view.bisect.culprit
    if culprit is not None and view.bisect.outcome == "single":
        return Headline(f"{culprit} {_moved(view)}", view.headline)
    leaders = leading(view.chances)
    if view.bisect.has_ended or not 0 < len(leaders) <= MOST_NAMED:
        return Headline(view.headline)
    if not leaders or not set(view.bisect.gaps).isdisjoint(leaders):
        return Headline(view.headline)
    names = [view.revisions[index].name for index in leaders]
    return Headline(f"Most likely {_one_of(names)} {_moved(view)}", view.headline)


def leading(chances: list[float]) -> list[int]:
    """Indices of the likeliest commit and of those that are nearly as likely; empty while none is
    worth a name.
    """
    most = max(chances, default=0.0)
    if most < LEAST_LEAD:
        return []
    return [index for index, chance in enumerate(chances) if chance >= ALIKE * most]


def _moved(view: BisectView) -> str:
    pct, series = float(view.figures["effect_pct"]), view.bisect.series
    word = direction(percent=pct, better=series.better, unit=series.metric.unit)
    return f"made {series.mode} {half_width(abs(pct))} % {word}"


def _one_of(names: list[str]) -> str:
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])
