"""The changes of a commit, drawn: each series around it, and its neighbours along the tree."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import FindingAt, Gated, PointsAround, points_around
from webapp.analysis.models import Finding
from webapp.charts import around
from webapp.charts.around import Around
from webapp.charts.text import percent
from webapp.charts.trend import Level
from webapp.pages.parts.kept import Kept, fingerprint
from webapp.pages.parts.links import trend_link
from webapp.results.models import Revision
from webapp.results.queries import Neighbour, Neighbours

CHARTS_SHOWN = 6

IMAGES: Kept[str] = Kept(most=128, seconds=600.0)
"""Charts by all that they are drawn from."""


@dataclass(frozen=True, slots=True)
class ChangeDrawn:
    """A finding with its chart."""

    finding: FindingAt
    image: str
    href: str

    @property
    def size(self) -> str:
        """The change in percent, without its unit."""
        return percent(self.finding.change_pct)


@dataclass(frozen=True, slots=True)
class Step:
    """A tested revision near the commit, and how many untested ones lie before it, from the last
    step on; None: it is the first.
    """

    revision: Neighbour | None
    untested: int | None

    @property
    def is_here(self) -> bool:
        """Whether it is the commit itself."""
        return self.revision is None


def drawn(begun: Sequence[Gated], commit: Revision) -> list[ChangeDrawn]:
    """The changes that begin at ``commit``, at most `CHARTS_SHOWN`, in their order. One query."""
    rows = [one.finding for one in begun[:CHARTS_SHOWN] if one.finding.state in Finding.PROVEN]
    points = points_around([row.series.pk for row in rows], commit.position, most=around.SHOWN)
    return [
        ChangeDrawn(row, _image(row, points[row.series.pk]), trend_link(row.series))
        for row in rows
        if row.series.pk in points
    ]


def _image(row: FindingAt, points: PointsAround) -> str:
    told = (row.series.subject, row.state, row.verdict, row.change_pct, row.level_before, row.level)
    ends = (row.revision.name, row.revision.position, row.after.position, row.last.position)
    return IMAGES.get(fingerprint([told, ends, tuple(points)]), lambda: _drawn(row, points))


def _drawn(row: FindingAt, points: PointsAround) -> str:
    positions = points.positions
    chart = Around(
        names=points.names,
        values=points.means,
        lows=points.lows,
        highs=points.highs,
        at=bisect_left(positions, row.revision.position),
        after=max(bisect_right(positions, row.after.position) - 1, 0),
        last=min(bisect_left(positions, row.last.position), len(positions) - 1),
        before=row.level_before,
        since=row.level,
        verdict=row.verdict,
        levels=_levels(points),
    )
    size = f"{percent(row.change_pct)} %"
    return around.draw(chart, described=f"{row.series.subject}: {size} at {row.revision}")


def _levels(points: PointsAround) -> list[Level]:
    found = (
        Level.within(
            points.positions,
            (one["first"]["position"], one["last"]["position"]),
            (one["level"], one["end_level"]),
        )
        for one in points.segments
        if one["level"] is not None and one["end_level"] is not None
    )
    return [one for one in found if one is not None]


def steps(near: Neighbours, commit: Revision) -> list[Step]:
    """The tested revisions around ``commit`` in their order, itself among them."""

    def step(one: Neighbour | None) -> Step:
        count = near.steps.get(one.position if one else commit.position)
        return Step(one, None if count is None else count - 1)

    return [step(one) for one in (*near.tested_before, None, *near.tested_after)]


def strip(found: Sequence[Step], commit: Revision) -> SafeString:
    """The steps as a row of links, the number of untested revisions between."""
    parts = []
    for one in found:
        if one.untested is not None:
            count = f"{one.untested:,}" if one.untested else ""
            parts.append(f'<li class="gap" title="{one.untested:,} untested">{count}</li>')
        if one.revision is None:
            parts.append(f'<li class="here"><b class="rev">{escape(commit.name)}</b></li>')
        else:
            link = reverse("commit", args=[commit.tree.name, one.revision.name])
            parts.append(
                f'<li class="step"><a href="{escape(link)}" title="{escape(one.revision.subject)}">'
                f'<span class="rev">{escape(one.revision.name)}</span></a></li>'
            )
    return mark_safe("".join(parts))  # noqa: S308
