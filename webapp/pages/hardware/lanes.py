"""The series of one machine, as its page shows them: first those that stand slower than they were,
and since when; then lanes where there is a history, rows of numbers where there are one or two
revisions.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.urls import reverse

from webapp.alerts.queries import FindingOnMachine, SeriesOnMachine
from webapp.analysis.models import Finding, Verdict
from webapp.analysis.queries import stands_in
from webapp.analysis.services import FEWEST_REVISIONS
from webapp.charts import lane as chart
from webapp.charts.scale import spread_labels
from webapp.charts.text import common, number, percent, today_levels, today_size
from webapp.charts.trend.series import Level
from webapp.pages.parts.conclusions import SeriesText
from webapp.pages.parts.links import with_query
from webapp.stats.metrics import least_of

LANES_SHOWN = 24
"""Lanes of one tree and metric; further series with a history are rows of numbers."""

LANES_KEPT = 512
"""Charts in each process, about 40 kB each with the values they were drawn from."""

AXIS_LABELS = 8

Place = tuple[int, int]
"""The id of a tree, and a position on it."""

SHOWN = 2


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """A series with a history: its chart, newest value, the loss that stands, its last change."""

    series: SeriesOnMachine
    href: str
    axis: str
    image: str
    latest: float
    stands: Mapping[str, Any] | None
    last: FindingOnMachine | None
    slow: FindingOnMachine | None
    changes: int
    candidates: int
    text: SeriesText
    alerts: Sequence[FindingOnMachine]

    @property
    def level(self) -> str:
        """The newest mean as text."""
        return number(self.latest)

    @property
    def detects(self) -> str:
        """The smallest change that the next two revisions would prove in 80 of 100 cases; empty
        where that is not known.
        """
        return self.text.smallest if self.text.knows_smallest else ""

    @property
    def search(self) -> str:
        """What filtering by typing looks at."""
        return self.series.mode.lower()


@dataclass(frozen=True, slots=True)
class Panel:
    """The lanes of one tree and metric on one axis of ``revisions``; ``labels`` is its picture."""

    tree: str
    metric: str
    unit: str
    better: str
    lanes: Sequence[DrawnLane]
    labels: str
    revisions: int
    together: str
    commits: str


def panels(
    series: Sequence[SeriesOnMachine],
    findings: Mapping[int, Sequence[FindingOnMachine]],
    names: Mapping[Place, str],
    marks: Mapping[str, Sequence[tuple[int, str]]],
    hardware: str,
) -> list[Panel]:
    """The panels of ``series`` as `lanes_of` chose them, those with the most lanes first.

    ``findings`` are by series, ``names`` those of the revisions of `label_positions`, ``marks``
    what is drawn along a tree (by name): a position after which it shows, and its text.
    """
    found = [
        _panel(group, findings, names, marks.get(group[0].tree, ()), hardware)
        for group in _groups(series)
    ]
    return sorted(found, key=lambda one: (-len(one.lanes), one.tree, one.metric))


def lanes_of(
    series: Sequence[SeriesOnMachine], findings: Mapping[int, Sequence[FindingOnMachine]]
) -> tuple[list[SeriesOnMachine], list[SeriesOnMachine]]:
    """The series that are drawn, and the rest. Of each tree and metric at most `LANES_SHOWN` are
    drawn: those whose net loss is the largest, then the largest change, the longest history.
    """
    drawn, rest = [], [one for one in series if not one.has_history]
    for group in _groups([one for one in series if one.has_history]):
        ranked = sorted(group, key=lambda one: _rank(one, findings.get(one.pk, ())))
        shown = {one.pk for one in ranked[:LANES_SHOWN]}
        drawn += [one for one in ranked if one.pk in shown]
        rest += [one for one in group if one.pk not in shown]
    return drawn, rest


def label_positions(series: Sequence[SeriesOnMachine]) -> list[Place]:
    """Where the axes of `panels` name revisions."""
    return [
        (group[0].tree_id, along[index])
        for group in _groups(series)
        for along in [_along(group)]
        for index in spread_labels(len(along), AXIS_LABELS)
    ]


def _groups(series: Iterable[SeriesOnMachine]) -> list[list[SeriesOnMachine]]:
    """By tree and metric."""
    groups: dict[tuple[str, str], list[SeriesOnMachine]] = defaultdict(list)
    for one in series:
        groups[one.tree, one.metric].append(one)
    return list(groups.values())


def _along(group: Sequence[SeriesOnMachine]) -> list[int]:
    return sorted({position for one in group for position in one.positions})


def _rank(
    one: SeriesOnMachine, findings: Sequence[FindingOnMachine]
) -> tuple[bool, float, int, str]:
    proven = [row for row in findings if row.is_proven]
    size = max((_size(row) for row in proven), default=0.0)
    return not net_loss_of(one, findings), -size, -len(one.positions), one.mode


def _size(row: FindingOnMachine) -> float:
    """A change beyond the double range has no figure, and is larger than any."""
    return float("inf") if row.change_pct is None else abs(row.change_pct)


def _panel(
    group: Sequence[SeriesOnMachine],
    findings: Mapping[int, Sequence[FindingOnMachine]],
    names: Mapping[Place, str],
    marks: Sequence[tuple[int, str]],
    hardware: str,
) -> Panel:
    along, first = _along(group), group[0]
    shown = _marks(marks, along)
    lanes = [
        _lane(
            one,
            findings.get(one.pk, ()),
            along,
            marks=shown if index == 0 else [chart.Mark(one.at, "") for one in shown],
            href=trends_link(one, hardware, mode=one.mode),
        )
        for index, one in enumerate(group)
    ]
    labelled = [
        (index, names.get((first.tree_id, along[index]), ""))
        for index in spread_labels(len(along), AXIS_LABELS)
    ]
    return Panel(
        tree=first.tree,
        metric=first.metric,
        unit=first.unit,
        better=common(one.better for one in group),
        lanes=lanes,
        labels=chart.revisions(labelled, length=len(along)),
        revisions=len(along),
        together=trends_link(first, hardware, y="indexed"),
        commits=reverse("commits", args=[first.tree]),
    )


def trends_link(one: SeriesOnMachine, hardware: str, **more: str) -> str:
    """The trend charts of a machine in one tree and metric."""
    pairs = {"tree": one.tree, "metric": one.metric, "hardware": hardware}
    return with_query(reverse("trends"), [*pairs.items(), *more.items()])


def _marks(marks: Sequence[tuple[int, str]], along: Sequence[int]) -> list[chart.Mark]:
    """Before the first revision that each shows at; none outside what is shown."""
    return [
        chart.Mark(bisect_right(along, after) - 0.5, text)
        for after, text in marks
        if along[0] <= after < along[-1]
    ]


def _lane(
    one: SeriesOnMachine,
    findings: Sequence[FindingOnMachine],
    along: Sequence[int],
    *,
    marks: Sequence[chart.Mark],
    href: str,
) -> DrawnLane:
    slow = [row for row in findings if row.kind == Finding.Kind.SLOW and row.is_proven]
    shown = [
        row
        for row in findings
        if row.kind == Finding.Kind.LEVEL and row.position >= one.positions[0]
    ]
    proven = [row for row in shown if row.is_proven]
    lane = chart.Lane(
        indices=tuple(bisect_left(along, position) for position in one.positions),
        means=tuple(one.means),
        lows=tuple(one.lows),
        highs=tuple(one.highs),
        levels=tuple(_levels(one, along)),
        changes=tuple(_change(row, along) for row in shown),
        marks=tuple(marks),
    )
    latest = one.means[-1]
    stands = net_loss_of(one, findings)
    lasting = [row for row in proven if row.verdict != Verdict.WORSE or stands]
    described = f"{one.mode}: {len(one.positions)} revisions, newest {number(latest)} {one.unit}"
    axis, image = _drawn(lane, len(along), described)
    return DrawnLane(
        series=one,
        href=href,
        axis=axis,
        image=image,
        latest=latest,
        stands=stands,
        last=lasting[-1] if lasting and lasting[-1] is proven[-1] else None,
        slow=slow[-1] if slow and slow[-1].verdict != Verdict.WORSE else None,
        changes=len(proven),
        candidates=len(shown) - len(proven),
        text=SeriesText(one.summary),
        alerts=[row for row in (*shown, *slow) if row.is_open],
    )


@lru_cache(maxsize=LANES_KEPT)
def _drawn(lane: chart.Lane, length: int, described: str) -> tuple[str, str]:
    """The axis and the chart of a series, kept by what they show: an upload changes few."""
    return chart.axis(lane), chart.draw(lane, length=length, described=described)


def _levels(one: SeriesOnMachine, along: Sequence[int]) -> list[Level]:
    """The levels that show. A series too young for the detector has none."""
    if one.summary.get("count", 0) < FEWEST_REVISIONS:
        return []
    drawn = (
        Level.within(
            along,
            (part["first"]["position"], part["last"]["position"]),
            (part["level"], part["end_level"]),
        )
        for part in one.summary.get("segments", ())
        if part["level"] is not None and part["end_level"] is not None
    )
    return [level for level in drawn if level is not None]


def _change(row: FindingOnMachine, along: Sequence[int]) -> chart.Change:
    since = max(bisect_right(along, row.after_position) - 1, 0)
    until = max(bisect_right(along, row.last_position) - 1, since)
    at = bisect_left(along, row.position)
    size = f"{percent(row.change_pct)} %" if row.change_pct is not None else "beyond any figure"
    return chart.Change(
        at=at - 0.5 if at else 0,
        before=row.level_before,
        after=row.level,
        percent=row.change_pct,
        verdict=row.verdict,
        since=since,
        until=until,
        is_proven=row.is_proven,
        text=f"{size} at {row.revision}, {row.state}",
    )


@dataclass(frozen=True, slots=True)
class OpenLoss:
    """A loss that stands in a series (``webapp.stats.changes.findings``), as its summary has it."""

    series: SeriesOnMachine
    stands: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What a sentence calls the series."""
        return f"The {self.series.subject}" if self.series.option else self.series.subject

    @property
    def size(self) -> str:
        """``is 13.0 % slower [−13.3, −12.8] than before``, up to the revision at which it began."""
        one, size = self.series, self.stands["change_pct"]
        least = 0.0 if one.option else least_of(one.unit)
        text = today_size(
            self.stands,
            better=one.better,
            unit=one.unit,
            is_cost=bool(one.option),
            least=least,
        )
        if one.option or size is None or today_levels(self.stands, least):
            return f"{text} since"
        return f"is {text} than {'at' if self.stands['is_slow'] else 'before'}"

    @property
    def is_slow(self) -> bool:
        """Whether it began by and by, with no revision."""
        return bool(self.stands["is_slow"])

    @property
    def since(self) -> str:
        """The revision at which it began."""
        return str(self.stands["since"]["label"])


@dataclass(frozen=True, slots=True)
class Lead:
    """The losses that stand, the largest first, of which the first are shown; how many series have
    a history (``drawn``), and how many only one or two revisions (``few``).
    """

    shown: Sequence[OpenLoss]
    more: int
    drawn: int
    few: int


def lead(
    series: Sequence[SeriesOnMachine], findings: Mapping[int, Sequence[FindingOnMachine]]
) -> Lead:
    """What the sentence at the top has of ``series``, whose ``findings`` are by series."""
    found = [(one, net_loss_of(one, findings.get(one.pk, ()))) for one in series]
    ranked = sorted((OpenLoss(one, stands) for one, stands in found if stands), key=_weight)
    drawn = sum(one.has_history for one in series)
    return Lead(ranked[:SHOWN], max(len(ranked) - SHOWN, 0), drawn=drawn, few=len(series) - drawn)


def net_loss_of(
    one: SeriesOnMachine, findings: Sequence[FindingOnMachine]
) -> Mapping[str, Any] | None:
    """The loss that stands in a series; without two levels that of its last finding."""
    proven = [row for row in findings if row.is_proven and row.kind == Finding.Kind.LEVEL]
    return stands_in(one.summary, proven[-1] if proven else None)


def _weight(one: OpenLoss) -> tuple[bool, float]:
    """A change beyond the double range is larger than any."""
    return one.stands["change_pct"] is not None, -abs(one.stands["change_pct"] or 0.0)
