"""What a commit did, in a word, and who says so: the detector, or the cells alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from webapp.alerts.queries import Detected, FindingAt, Gated
from webapp.analysis.models import Finding
from webapp.analysis.queries import CommitPoint, PointVerdict
from webapp.charts.cost_text import cost_sentence
from webapp.charts.text import MARKS, finding_sentence
from webapp.pages.parts.marks import css_class
from webapp.results.models import Hardware
from webapp.results.queries import NamedSeries
from webapp.stats.compare import Headline as Together
from webapp.stats.compare import Verdict, headline_of

CSS = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
NAMED = 3
"""Series that the answer names; the others are counted."""

ORDER = (Verdict.WORSE, Verdict.BETTER, Verdict.EQUIVALENT, Verdict.CANNOT_TELL)


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict over all series, in ``text``; ``source`` says what it rests on."""

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
    """What the answer says of one machine."""

    hardware: Hardware
    effects: Sequence[Effect]


@dataclass(frozen=True, slots=True)
class Answer:
    """The series that the answer names, machine by machine, and how many ``more`` there are."""

    machines: Sequence[OnMachine]
    more: int


@dataclass(frozen=True, slots=True)
class Proven:
    """A series in which a commit is proven to differ from the revision tested before it."""

    series: NamedSeries
    judged: PointVerdict

    def rank(self) -> tuple[int, float]:
        """For the order of a list: the worse first, and the largest of each."""
        return ORDER.index(self.judged.verdict), -abs(self.judged.percent or 0.0)


def answer(
    found: Sequence[Gated], proven: Sequence[Proven], judged: Mapping[int, PointVerdict]
) -> Answer:
    """What the findings ``found`` show; where all rest on one build a side, the ``proven`` cells of
    other series too: the first of both, and the first of either direction. Single builds have the
    colour of their cells, which ``judged`` holds by series.

    One alone has its interval; those of several stand in the table below.
    """
    own = {one.finding.series.pk for one in found}
    is_open = all(one.finding.state == Finding.State.ONE_BUILD for one in found)
    cells = [one for one in proven if is_open and one.series.pk not in own]
    is_alone = len(found) + len(cells) == 1
    effects = [
        *(_of_finding(one, judged, has_interval=is_alone) for one in sorted(found, key=_weight)),
        *(_of_cell(one, has_interval=is_alone) for one in cells),
    ]
    named = _largest_of_each(effects)
    machines = [
        OnMachine(hardware, list(its))
        for hardware, its in groupby(named, key=lambda one: one.series.hardware)
    ]
    return Answer(machines, len(effects) - len(named))


def _weight(one: Gated) -> tuple[bool, bool, float]:
    """What was measured before what options cost, losses before gains, the largest of each first;
    beyond all figures is larger than any.
    """
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
        told = cost_sentence(row.level_before, row.level, low, high, series.better)
        return Effect(series, told, css, row.verdict)
    told = _sentence(series, row.change_pct, low, high)
    return Effect(series, told, css, row.verdict)


def _of_cell(one: Proven, *, has_interval: bool) -> Effect:
    low, high = (one.judged.low, one.judged.high) if has_interval else (None, None)
    told = _sentence(one.series, one.judged.percent, low, high)
    return Effect(one.series, told, css_class(one.judged.verdict), one.judged.verdict)


def _sentence(
    series: NamedSeries, percent: float | None, low: float | None, high: float | None
) -> str:
    return finding_sentence(
        percent=percent, low=low, high=high, better=series.better, unit=series.metric.unit
    )


def headline(detected: Detected, judged: Mapping[int, PointVerdict]) -> Headline:
    """The verdict of the findings that begin here and pass the gate, else what one build a side
    shows; without any, that of the cells.
    """
    told = measured_first([one.finding for one in detected.let_through])
    findings = [row for row in told if row.state != Finding.State.ONE_BUILD]
    if told and not findings:
        return _of_single_builds(told, judged)
    if findings:
        verdicts = Counter(Verdict(finding.verdict) for finding in findings)
        return Headline(_text(verdicts), _marks(verdicts), _states(findings))
    together = together_of(judged)
    if not together.verdicts:
        return Headline("not compared", "", "")
    verdicts = Counter(together.verdicts)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in together.counts.items())
    differ = sum(one.builds_differ for one in judged.values())
    builds = f"; besides, {single_builds(differ)}" if differ else ""
    alone = f"against the revision tested before alone ({counts}; {together.text}{builds})"
    source = f"{alone}; {_rest(detected)}"
    return Headline(_text(verdicts), _marks(verdicts), source)


def _of_single_builds(found: Sequence[FindingAt], judged: Mapping[int, PointVerdict]) -> Headline:
    """Losses on one build a side, and what the cells of other series prove beside them."""
    own = {row.series.pk for row in found}
    beside = zip(judged, together_of(judged).verdicts, strict=True)
    proven = [verdict for pk, verdict in beside if verdict in ORDER[:2] and pk not in own]
    if not proven:
        return Headline("one build a side", MARKS[Verdict.CANNOT_TELL], "not confirmed")
    verdicts = Counter([*proven, *(Verdict(row.verdict) for row in found)])
    names = ", ".join(row.series.subject for row in found)
    rest = "the rest against the revision tested before alone"
    source = f"{names}: one build a side, not confirmed; {rest}"
    return Headline(_text(verdicts), _marks(verdicts), source)


def measured_first(findings: list[FindingAt]) -> list[FindingAt]:
    """Those of what was measured; of what options cost, which repeats it, only where nothing else
    is found.
    """
    return [row for row in findings if not row.series.is_cost] or findings


def single_builds(count: int) -> str:
    """How many cells hold one build a side that differ, of which no more can be told."""
    return (
        f"{count} pair of single builds differs"
        if count == 1
        else f"{count} pairs of single builds differ"
    )


def together_of(judged: Mapping[int, PointVerdict]) -> Together:
    """What the cells may be said to show together."""
    return headline_of([one.look for one in judged.values()])


def proven(points: Iterable[CommitPoint], judged: Mapping[int, PointVerdict]) -> list[Proven]:
    """What of the cells passes the gate: the worse first and the largest of each first."""
    verdicts = dict(zip(judged, together_of(judged).verdicts, strict=True))
    found = (
        Proven(one.series, judged[one.series_id])
        for one in points
        if verdicts.get(one.series_id) in (ORDER[0], ORDER[1])
    )
    return sorted(found, key=Proven.rank)


def _rest(detected: Detected) -> str:
    """What the detector says where none of its findings passes."""
    if not detected.begun:
        return "the detector reports nothing"
    found = _states([one.finding for one in detected.begun])
    return f"{found}, which the gate over {detected.received} series does not let through"


def _text(verdicts: Counter[Verdict]) -> str:
    worse, better = verdicts[Verdict.WORSE], verdicts[Verdict.BETTER]
    if worse and better:
        return "mixed"
    if worse or better:
        return "regression" if worse else "improvement"
    if verdicts[Verdict.CANNOT_TELL]:
        return "cannot tell"
    return "equivalent"


def _marks(verdicts: Counter[Verdict]) -> str:
    proven = [one for one in (Verdict.WORSE, Verdict.BETTER) if verdicts[one]]
    rest = [one for one in (Verdict.CANNOT_TELL, Verdict.EQUIVALENT) if verdicts[one]]
    return "".join(MARKS[one] for one in proven or rest[:1])


def _states(findings: list[FindingAt]) -> str:
    states = Counter(finding.state for finding in findings)
    counts = " and ".join(
        f"{states[state]} {state.label}"
        for state in (*Finding.PROVEN, Finding.State.ONE_BUILD, Finding.State.CANDIDATE)
        if states[state]
    )
    return f"found by the detector: {counts}"
