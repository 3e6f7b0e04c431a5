"""The charts of alerts: what lies around a change, large beside its figures and small in a row."""

from webapp.alerts.queries import Surroundings, moves_of
from webapp.analysis.models import Finding
from webapp.charts import around as charts
from webapp.charts import tile
from webapp.charts.around import Around, Size
from webapp.charts.tile import Tile
from webapp.charts.trend import Level
from webapp.pages.alerts.texts import signed

CARD = Size(640.0, 168.0)
"""Beside the figures of a series."""

NARROW = Size(340.0, 150.0)
"""On a phone."""

SMALL = Size(380.0, 112.0)
"""Two of them in a row."""


def evidence(finding: Finding, near: Surroundings, *, size: Size = CARD) -> str:
    """The SVG of the revisions around a finding: both levels, where it began, what it may be."""
    points = near.points
    if not points:
        return ""
    shown = Around(
        names=[point.name for point in points],
        values=[point.mean for point in points],
        at=near.at(finding.position),
        after=_last_at(near, finding.after.position),
        last=min(near.at(finding.last.position), len(points) - 1),
        before=finding.level_before,
        since=finding.level,
        verdict="" if finding.state == Finding.State.ONE_BUILD else finding.verdict,
        levels=_levels(near),
        lows=[point.low for point in points],
        highs=[point.high for point in points],
        is_slow=finding.kind == Finding.Kind.SLOW,
    )
    described = f"{finding.series.subject}: {signed(finding)} at {finding.revision}"
    return charts.draw(shown, described=described, size=size)


def spark(finding: Finding, near: Surroundings) -> str:
    """The SVG of the same as a sparkline: decoration beside the figure."""
    points = near.points
    found = Tile(
        indices=range(len(points)),
        values=[point.mean for point in points],
        length=len(points),
        levels=_levels(near),
        moved=moves_of(near.levels, better=finding.series.better),
    )
    return tile.draw(found)


def _levels(near: Surroundings) -> list[Level]:
    positions = [point.position for point in near.points]
    drawn = (
        Level.within(positions, (one.first, one.last), (one.start, one.end)) for one in near.levels
    )
    return [level for level in drawn if level is not None]


def _last_at(near: Surroundings, position: int) -> int:
    """The index of the last point at ``position`` or earlier, the first one where there is none."""
    return max(near.at(position + 1) - 1, 0)
