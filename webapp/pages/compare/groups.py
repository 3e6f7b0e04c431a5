"""A comparison by mode: a small panel for each, with all its machines on the page's one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from django.utils.safestring import SafeString, mark_safe

from webapp.charts import forest
from webapp.charts.text import small_share
from webapp.pages.compare.answer import Group
from webapp.pages.compare.rows import kind_of

PANELS = 6
MACHINES = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """One mode: what it shows over its machines, ``chance`` that they differ as much without a
    cause (empty where there is no test), its picture, and how many machines that leaves out.
    """

    title: str
    sentence: str
    chance: str
    image: SafeString
    more: int


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels that are drawn, and how many modes are not."""

    drawn: Sequence[Panel]
    more: int


def panels_of(groups: Sequence[Group], reach: forest.Reach) -> Panels | None:
    """The modes with most to tell; None where no mode was measured on two machines."""
    wide = [group for group in groups if len(group.cells) > 1]
    if not wide:
        return None
    drawn = [_panel(group, reach) for group in wide[:PANELS]]
    return Panels(drawn, len(groups) - len(drawn))


def _panel(group: Group, reach: forest.Reach) -> Panel:
    by_name = sorted(group.cells, key=lambda cell: str(cell.row.base.hardware))
    rows = "".join(
        f'<span class="name" title="{escape(cell.row.base.hardware.name)}">'
        f"{escape(str(cell.row.base.hardware))}</span>"
        + forest.row(
            reach,
            cell.judged.percent,
            cell.judged.low,
            cell.judged.high,
            kind=kind_of(cell.judged),
        )
        for cell in by_name[:MACHINES]
    )
    test = group.across.test
    return Panel(
        title=group.title,
        sentence=group.sentence,
        chance=f"p {small_share(test.p)}" if test else "",
        image=mark_safe(rows),  # noqa: S308 (escaped above)
        more=max(len(by_name) - MACHINES, 0),
    )
