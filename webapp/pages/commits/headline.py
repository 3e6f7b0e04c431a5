"""What a commit did, in a word, and on what evidence: the detector, or the cells alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from operator import itemgetter

from webapp.alerts.queries import Detected, FindingAt, Gated
from webapp.analysis.models import Finding
from webapp.analysis.queries import CommitPoint, ModeClaim, PointVerdict, claims_of_commit
from webapp.charts.text import MARKS, cost_sentence, finding_sentence
from webapp.pages.parts import summaries
from webapp.pages.parts.components import css_class
from webapp.results.models import Hardware
from webapp.results.queries import NamedSeries
from webapp.stats.compare import Mean, Outcome, Verdict

CSS = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
NAMED = 3
"""Series that the answer names; the others are counted."""

PROVEN = (Verdict.WORSE, Verdict.BETTER)


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict over all series, in ``text``; ``source`` is what it rests on."""

    text: str
    marks: str
    source: str

    @property
    def chip(self) -> str:
        """The CSS class of the chip of the answer."""
        return CSS.get(self.text, "same" if self.text == "equivalent" else "unsure")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a series did (``sentence``), its verdict, and the CSS class: none where it is open."""

    series: NamedSeries
    sentence: str
    css: str
    verdict: str


@dataclass(frozen=True, slots=True)
class OnMachine:
    """The answer for one machine."""

    hardware: Hardware
    effects: Sequence[Effect]


@dataclass(frozen=True, slots=True)
class OfMode:
    """A mode's mean change over its machines (``of``: mode and metric), by ``size`` percent."""

    of: tuple[str, str]
    title: str
    sentence: str
    verdict: Verdict
    size: float

    @property
    def css(self) -> str:
        """The CSS class of the sentence."""
        return css_class(self.verdict)


@dataclass(frozen=True, slots=True)
class Answer:
    """The modes and series that the answer names, and how many ``more`` series there are."""

    modes: Sequence[OfMode]
    machines: Sequence[OnMachine]
    more: int


@dataclass(frozen=True, slots=True)
class Proven:
    """A series in which a commit is proven to differ from the revision tested before it."""

    series: NamedSeries
    judged: PointVerdict

    @property
    def weight(self) -> tuple[bool, bool, float]:
        """As that of a finding."""
        size = inf if self.judged.percent is None else abs(self.judged.percent)
        return self.series.is_cost, self.judged.verdict != Verdict.WORSE, -size

    def rank(self) -> tuple[int, float]:
        """For the order of a list: the worse first, and the largest of each."""
        return PROVEN.index(self.judged.verdict), -abs(self.judged.percent or 0.0)


@dataclass(frozen=True, slots=True)
class Cells:
    """The compared cells of a commit, ``judged`` by series, with what may be claimed of all of them
    (``counts``), those that are ``proven``, the worse first and the largest of each first, and the
    ``modes`` of which the mean over their machines is.
    """

    judged: Mapping[int, PointVerdict]
    counts: Mapping[Outcome, int]
    proven: Sequence[Proven]
    modes: Sequence[OfMode]
    recurring: int = 0


def cells_of(
    points: Iterable[CommitPoint], judged: Mapping[int, PointVerdict], begun: Collection[int]
) -> Cells:
    """The cells of ``points`` that ``judged`` has a verdict on. In series (ids) of ``begun`` a
    finding begins.
    """
    known = [one for one in points if one.series_id in judged]
    compared = [one for one in known if not one.recurs or one.series_id in begun]
    judged = {one.series_id: judged[one.series_id] for one in compared}
    claims = claims_of_commit(compared, judged)
    proven = [
        Proven(one.series, judged[one.series_id])
        for one, verdict in zip(compared, claims.headline.verdicts, strict=True)
        if verdict in PROVEN
    ]
    has_metrics = len({one.series.metric.pk for one in compared}) > 1
    modes = [
        _of_mode(claim, mean, compared[claim.positions[0]].series, has_metric=has_metrics)
        for claim in claims.modes
        if (mean := summaries.mean_named(claim.across)) and not summaries.is_mixed(claim.across)
    ]
    by_size = sorted(modes, key=lambda one: (PROVEN.index(one.verdict), -one.size))
    ranked = sorted(proven, key=Proven.rank)
    return Cells(judged, claims.counts, ranked, by_size, len(known) - len(compared))


def _of_mode(claim: ModeClaim, mean: Mean, series: NamedSeries, *, has_metric: bool) -> OfMode:
    verdict = claim.across.verdict
    word = summaries.direction_texts(series.better, series.metric.unit)[verdict]
    title = f"{claim.mode} {claim.metric}" if has_metric else claim.mode
    text = summaries.mean_text(mean, word, len(claim.positions))
    return OfMode((claim.mode, claim.metric), title, text, verdict, abs(mean.percent))


def answer(found: Sequence[Gated], cells: Cells) -> Answer:
    """What the findings ``found`` show, and what is proven of the cells of other series and of
    modes: the largest losses first, the first of either direction. Single builds have the colour of
    their cells.

    One alone has its interval; those of several stand in the table below.
    """
    own = {one.finding.series.pk for one in found}
    of_modes = {one.of for one in cells.modes}
    beside = [
        one
        for one in cells.proven
        if one.series.pk not in own
        and (one.series.mode.name, one.series.metric.name) not in of_modes
    ]
    is_alone = len(found) + len(beside) + len(cells.modes) == 1
    effects = [
        *((_weight(one), _of_finding(one, cells.judged, has_interval=is_alone)) for one in found),
        *((one.weight, _of_cell(one, has_interval=is_alone)) for one in beside),
    ]
    ordered = [one for _, one in sorted(effects, key=itemgetter(0))]
    named = _largest_of_each(ordered)
    machines = [
        OnMachine(hardware, list(its))
        for hardware, its in groupby(named, key=lambda one: one.series.hardware)
    ]
    return Answer(cells.modes[:NAMED], machines, len(effects) - len(named))


def _weight(one: Gated) -> tuple[bool, bool, float]:
    """Measured before costs, losses before gains, then by size; beyond all figures first."""
    row = one.finding
    size = inf if row.change_pct is None else abs(row.change_pct)
    return row.series.is_cost, row.verdict != Verdict.WORSE, -size


def _largest_of_each(effects: Sequence[Effect]) -> list[Effect]:
    """The first `NAMED` in their order, with the first of either direction."""
    firsts = {one.verdict: one for one in reversed(effects)}.values()
    rest = [one for one in effects if one not in firsts][: NAMED - len(firsts)]
    return [one for one in effects if one in firsts or one in rest]


def _of_finding(one: Gated, judged: Mapping[int, PointVerdict], *, has_interval: bool) -> Effect:
    row = one.finding
    series = row.series
    low, high = (row.low_pct, row.high_pct) if has_interval else (None, None)
    cell = judged.get(series.pk)
    is_open = one.suspicion.is_one_build and (cell is None or cell.tone != row.verdict)
    css = "" if is_open else css_class(row.verdict)
    if series.is_cost and row.change_pct is not None:
        text = cost_sentence(row.level_before, row.level, low, high, series.better)
        return Effect(series, text, css, row.verdict)
    text = _sentence(series, row.change_pct, low, high)
    return Effect(series, text, css, row.verdict)


def _of_cell(one: Proven, *, has_interval: bool) -> Effect:
    low, high = (one.judged.low, one.judged.high) if has_interval else (None, None)
    text = _sentence(one.series, one.judged.percent, low, high)
    return Effect(one.series, text, css_class(one.judged.verdict), one.judged.verdict)


def _sentence(
    series: NamedSeries, percent: float | None, low: float | None, high: float | None
) -> str:
    return finding_sentence(
        percent=percent, low=low, high=high, better=series.better, unit=series.metric.unit
    )


def headline(detected: Detected, cells: Cells) -> Headline:
    """The verdict of the findings that begin here and pass the gate, and of what is proven of the
    cells; what one build a side shows counts beside what is proven, or where its cell is.
    """
    passed = measured_first([one.finding for one in detected.let_through])
    own = {row.series.pk: Verdict(row.verdict) for row in passed}
    proven = [
        *(Verdict(row.verdict) for row in passed if row.state != Finding.State.ONE_BUILD),
        *(one.judged.verdict for one in cells.proven),
        *(one.verdict for one in cells.modes),
    ]
    verdicts = Counter([*proven, *own.values()] if proven else [])
    if verdicts:
        marks = "".join(MARKS[one] for one in PROVEN if verdicts[one])
        return Headline(_text(verdicts), marks, _source(detected, passed, cells))
    if passed:
        mark = MARKS[Verdict.CANNOT_TELL]
        return Headline("one build a side", mark, _source(detected, passed, cells))
    if not cells.judged and not cells.recurring:
        return Headline("not compared", "", "")
    is_same = not cells.recurring and cells.counts.get(Outcome.EQUIVALENT) == len(cells.judged)
    verdict = Verdict.EQUIVALENT if is_same else Verdict.CANNOT_TELL
    return Headline(verdict.value, MARKS[verdict], _source(detected, passed, cells))


def _source(detected: Detected, found: Sequence[FindingAt], cells: Cells) -> str:
    """What the verdict rests on: findings, and the comparisons that the table shows."""
    single = [row for row in found if row.state == Finding.State.ONE_BUILD]
    findings = [row for row in found if row.state != Finding.State.ONE_BUILD]
    names = ", ".join(row.series.subject for row in single)
    differ = sum(one.builds_differ for one in cells.judged.values())
    counted = f": {summaries.counts_text(cells.counts)}" if len(cells.judged) > 1 else ""
    parts = [
        _states(findings) if findings else "",
        f"{names}: one build a side, not confirmed" if single else "",
        f"against the revision tested before alone{counted}"
        if cells.judged and (counted or not found)
        else "",
        f"besides, {single_builds(differ)}" if differ else "",
        recurring_text(cells.recurring) if cells.recurring else "",
        "" if found else _rest(detected),
    ]
    return "; ".join(filter(None, parts))


def measured_first(findings: list[FindingAt]) -> list[FindingAt]:
    """Findings of what was measured; those of costs, which repeat it, only without others."""
    return [row for row in findings if not row.series.is_cost] or findings


def single_builds(count: int) -> str:
    """How many cells hold one build a side that differ, of which no more is known."""
    return (
        f"{count} pair of single builds differs"
        if count == 1
        else f"{count} pairs of single builds differ"
    )


def recurring_text(count: int) -> str:
    """How many cells are left out because revisions as far off recur in their series."""
    cells = "1 cell" if count == 1 else f"{count} cells"
    return f"without {cells} of series in which revisions far off their level recur"


def _rest(detected: Detected) -> str:
    """The detector's text where none of its findings passes."""
    if not detected.begun:
        return "the detector reports no change of level"
    found = _states([one.finding for one in detected.begun])
    return f"{found}, which the gate over {detected.received} series does not let through"


def _text(verdicts: Counter[Verdict]) -> str:
    if verdicts[Verdict.WORSE] and verdicts[Verdict.BETTER]:
        return "mixed"
    return "regression" if verdicts[Verdict.WORSE] else "improvement"


def _states(findings: list[FindingAt]) -> str:
    states = Counter(finding.state for finding in findings)
    counts = " and ".join(
        f"{states[state]} {state.label}"
        for state in (*Finding.PROVEN, Finding.State.ONE_BUILD, Finding.State.CANDIDATE)
        if states[state]
    )
    return f"found by the detector: {counts}"
