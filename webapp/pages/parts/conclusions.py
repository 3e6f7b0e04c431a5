"""What is concluded about series, for the charts that draw it: levels, findings, and words."""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from webapp.alerts.models import Alert
from webapp.alerts.queries import FindingRow, findings_shown
from webapp.analysis.models import Finding
from webapp.analysis.queries import summaries_of
from webapp.analysis.services import FEWEST_REVISIONS
from webapp.charts.text import half_width, with_minus
from webapp.charts.trend import AlertMark, Found, Level
from webapp.results.models import Series
from webapp.stats.changes.explain import TOO_FEW
from webapp.stats.metrics import worth_telling

NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Conclusion:
    """What is concluded about one series; ``others`` are findings that are no change of level."""

    summary: Mapping[str, Any]
    findings: Sequence[FindingRow]
    others: Sequence[FindingRow] = ()

    def levels(self, positions: Sequence[int]) -> list[Level]:
        """The levels on an axis of revisions at ``positions``, as far as they show. A series too
        young for the detector has none: its points share a segment only because nothing can be
        reported of them yet, and the line would run flat below or above them.
        """
        if self.summary.get("count", 0) < FEWEST_REVISIONS:
            return []
        drawn = (
            Level.within(
                positions,
                (one["first"]["position"], one["last"]["position"]),
                (one["level"], one["end_level"]),
                (one.get("low"), one.get("high")),
            )
            for one in self.summary.get("segments", ())
            if one["level"] is not None and one["end_level"] is not None
        )
        return [level for level in drawn if level is not None]

    def found(self, positions: Sequence[int], own: Sequence[int]) -> list[Found]:
        """The changes that show: ``own`` are the positions of the series' points."""
        return _shown(self.findings, positions, own)

    def marks(self, positions: Sequence[int], own: Sequence[int]) -> list[Found]:
        """The findings of other kinds, as far as they show."""
        return _shown(self.others, positions, own)

    def alerts(self, positions: Sequence[int]) -> list[AlertMark]:
        """The alerts that hold its findings, as far as their commits show."""
        marks = (_alert_mark(row, positions) for row in self.findings)
        return [mark for mark in marks if mark is not None]

    @property
    def text(self) -> "SeriesText":
        """The summary, as texts."""
        return SeriesText(self.summary)


@dataclass(frozen=True, slots=True)
class SeriesText:
    """The analysis of a whole series, in figures and sentences."""

    summary: Mapping[str, Any]

    @property
    def run_noise(self) -> str:
        """Scatter from run to run, as text with its unit."""
        noise = self._noise
        if noise.get("run_pct") is None and noise.get("within_pct") is not None:
            return f"{half_width(noise['within_pct'])} % within a build"
        return _figure(noise.get("run_pct"))

    @property
    def build_noise(self) -> str:
        """Scatter from one build to the next, as text with its unit."""
        return _figure(self._noise.get("build_pct"))

    @property
    def smallest(self) -> str:
        """What the next two revisions could prove in 80 of 100 cases."""
        return _figure(self._smallest)

    @property
    def knows_smallest(self) -> bool:
        """Whether `smallest` is a figure."""
        return self._smallest is not None

    @property
    def knows_noise(self) -> bool:
        """Whether any noise is known, from run to run or from build to build."""
        return any(self._noise.get(f"{of}_pct") is not None for of in ("run", "within", "build"))

    @property
    def what_helps(self) -> str:
        """What would show smaller changes."""
        if self.summary.get("smallest") and self._smallest is None:
            return TOO_FEW  # analysed before such figures were left out
        return with_minus(str(self.summary.get("what_helps", "")))

    @property
    def why_not(self) -> str:
        """Why nothing is reported now."""
        return with_minus(str(self.summary.get("why_not", "Not analysed yet.")))

    @property
    def is_bimodal(self) -> bool:
        """Whether the samples fall into two groups."""
        return bool(self.summary.get("is_bimodal"))

    @property
    def is_drifting(self) -> bool:
        """Whether the level moves slowly."""
        return bool(self.summary.get("is_drifting"))

    @property
    def is_single(self) -> bool:
        """Whether the series has one revision: nothing can be proven of it yet."""
        return self.summary.get("count") == 1

    @property
    def _smallest(self) -> float | None:
        found = (self.summary.get("smallest") or {}).get("pct")
        return None if self.is_single else worth_telling(found)

    @property
    def _noise(self) -> Mapping[str, Any]:
        return self.summary.get("noise") or {}


@dataclass(frozen=True, slots=True)
class Concluded:
    """What is stored about some series, as read: equal where the same is concluded. ``summaries``
    are id, time of the analysis and the summary as JSON text.
    """

    ids: tuple[int, ...]
    findings: tuple[FindingRow, ...]
    summaries: tuple[tuple[int, datetime | None, str], ...]

    @property
    def positions(self) -> Mapping[int, Sequence[int]]:
        """By series where its findings are."""
        found: dict[int, list[int]] = defaultdict(list)
        for row in self.findings:
            found[row.series_id].append(row.position)
        return found

    def between(self, since: int, until: int) -> Mapping[int, Conclusion]:
        """What is concluded about each series (by id). Findings whose likeliest revision lies
        outside the positions ``since`` to ``until`` are left out. What is not analysed has an
        empty summary.
        """
        found: dict[int, list[FindingRow]] = defaultdict(list)
        others: dict[int, list[FindingRow]] = defaultdict(list)
        for row in self.findings:
            if since <= row.position <= until:
                its = found if row.kind == Finding.Kind.LEVEL else others
                its[row.series_id].append(row)
        summaries = {pk: json.loads(text) for pk, _, text in self.summaries}
        return {pk: Conclusion(summaries.get(pk) or {}, found[pk], others[pk]) for pk in self.ids}


def concluded(series: Iterable[Series], *, asof: datetime | None = None) -> Concluded:
    """What is concluded about ``series``, in two queries.

    With ``asof`` the findings are those of today that had been detected at that time, and nothing
    else is shown, in one: summaries of the past are not kept.
    """
    ids = tuple(one.pk for one in series)
    findings = tuple(findings_shown(ids, asof=asof))
    return Concluded(ids, findings, () if asof else tuple(summaries_of(ids)))


def _shown(rows: Iterable[FindingRow], positions: Sequence[int], own: Sequence[int]) -> list[Found]:
    placed = ((row, bisect_left(own, row.position)) for row in rows)
    return [_found(row, at, positions) for row, at in placed if own[at : at + 1] == [row.position]]


def _found(row: FindingRow, at: int, positions: Sequence[int]) -> Found:
    after, last = (
        max(bisect_right(positions, end) - 1, 0)
        for end in (row.after__position, row.last__position)
    )
    return Found(
        at=at,
        index=bisect_left(positions, row.position),
        after=after,
        last=last,
        state=row.state,
        verdict=row.verdict,
        percent=row.change_pct,
        low=row.low_pct,
        high=row.high_pct,
        probability=row.probability,
        suspects=(row.after__name, row.last__name),
        before=row.level_before,
        since=row.level,
        why=with_minus(row.why),
        alert=None
        if row.membership__alert_id is None
        else (row.membership__alert_id, _state_text(row)),
        kind=row.kind,
        ratio=row.details__ratio,
        shares=_shares(row),
    )


def _shares(row: FindingRow) -> tuple[float, float] | None:
    """Of the lower mode, before and after, in percent."""
    before, after = row.details__share_before, row.details__share_after
    return None if before is None or after is None else (100 * before, 100 * after)


def _alert_mark(row: FindingRow, positions: Sequence[int]) -> AlertMark | None:
    if row.membership__alert_id is None or row.membership__alert__likeliest__position is None:
        return None
    index = bisect_left(positions, row.membership__alert__likeliest__position)
    if index == len(positions):
        return None
    return AlertMark(
        number=row.membership__alert_id,
        state=_state_text(row),
        is_open=row.membership__alert__state in Alert.OPEN,
        index=index,
        href=reverse("alert", args=[row.membership__alert_id]),
    )


def _state_text(row: FindingRow) -> str:
    return str(Alert.State(row.membership__alert__state or "").label)


def _figure(percent: float | None) -> str:
    return NOT_KNOWN if percent is None else f"{half_width(percent)} %"
