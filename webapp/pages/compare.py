"""`/compare/?a=…&b=…`: A against B along one axis, over everything both have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.analysis.queries import (
    BUILDS_DIFFER,
    MOST_SIDES,
    PARTS,
    RUNS_DISAGREE,
    ComparedRow,
    ComparedSet,
    ComparedTable,
    Side,
    SideError,
    compare_sides,
)
from webapp.charts import strip
from webapp.charts.strip import Strip
from webapp.jobs.models import Job
from webapp.pages import compare_report
from webapp.pages.compare_power import boots_to_ask_for, power_line
from webapp.pages.compare_verdict import compared_sentence
from webapp.pages.job_offers import Ask, Offer, builds_ask, offers
from webapp.pages.links import compare_link, with_query
from webapp.results.models import Revision
from webapp.stats.compare import Comparison

CONFIDENCE = 95.0
ROWS_SHOWN = 300
ROWS_WITH_POWER = 40
"""Looking through all plans takes 3 ms a row; of a longer table, a row alone says its power."""

PROVEN = frozenset({"better", "worse", "equivalent"})
BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Judged:
    """One set against the base; ``power`` says what it would take to prove a small change.

    ``boots`` is how many to ask an agent for, 0 where that was not looked at.
    """

    set: ComparedSet
    comparison: Comparison
    sentence: str
    reason: str
    power: str
    boots: int

    @property
    def mean(self) -> float:
        """The mean of the samples, in the metric's unit."""
        return _mean(self.set)

    @property
    def verdict(self) -> str:
        """The verdict against the base."""
        return self.comparison.verdict.value

    @property
    def label(self) -> str:
        """What the page calls it: the verdict, or why nothing can be told where that has a name."""
        if self.comparison.runs_disagree:
            return RUNS_DISAGREE
        return BUILDS_DIFFER if self.comparison.builds_differ else self.verdict

    @property
    def percent(self) -> float | None:
        """The change in percent of the base; None where there is no such figure."""
        return self.comparison.change.percent

    @property
    def low(self) -> float | None:
        """The lower end of the change's interval, in percent of the base."""
        return self.comparison.change.low

    @property
    def high(self) -> float | None:
        """The upper end of the change's interval, in percent of the base."""
        return self.comparison.change.high


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the page: the base, the sets held against it, and its evidence. ``block`` is the
    address of ministat's block of these very sessions; empty where a set holds several.
    """

    row: ComparedRow
    label: str
    others: Sequence[Judged]
    link: str
    block: str

    @property
    def base_mean(self) -> float:
        """The mean of the base, in the metric's unit."""
        return _mean(self.row.sets[0])

    @property
    def is_proven(self) -> bool:
        """Whether any set is proven better, worse or equivalent."""
        return any(other.verdict in PROVEN for other in self.others)

    @property
    def size(self) -> float:
        """The largest proven change in percent, for the order of the rows."""
        proven = (other for other in self.others if other.verdict in PROVEN)
        return max((abs(other.percent or 0.0) for other in proven), default=0.0)

    @property
    def builds_differ(self) -> int:
        """How many sets differ from the base for sure, as one build from another."""
        return sum(other.comparison.builds_differ for other in self.others)

    @property
    def is_in_question(self) -> bool:
        """Whether runs of one revision disagree in it."""
        return any(other.comparison.runs_disagree for other in self.others)

    @property
    def ministat(self) -> str:
        """ministat's block; empty where a set has too few samples."""
        return self.row.ministat_text() if self.row.can_render else ""

    @property
    def image(self) -> str:
        """The samples of each set as an SVG of strips."""
        return strip.draw([_strip(one) for one in self.row.sets], unit=self.row.metric.unit)

    @property
    def simulated(self) -> bool:
        """Whether any of it was measured on a simulated machine."""
        return any(one.hardware.lab.simulated for one in self.row.sets)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Two to seven sides compared; 400 and the reason where a side cannot be read."""
    texts = _texts(request)
    if not texts:
        return render(request, "pages/compare.html", {"sides": _examples()})
    try:
        table = _compare(texts)
    except SideError as error:
        context = {"error": str(error), "sides": _form(texts)}
        return render(request, "pages/compare.html", context, status=BAD_REQUEST)
    return render(request, "pages/compare.html", _context(request, table, texts))


@require_safe
def text(request: HttpRequest) -> HttpResponse:
    """The ministat block of every row, as plain text."""
    return _report(request, compare_report.as_text, "text/plain")


@require_safe
def markdown(request: HttpRequest) -> HttpResponse:
    """The comparison as a report in Markdown."""
    return _report(request, compare_report.as_markdown, "text/markdown")


def _report(request: HttpRequest, write: compare_report.Writer, content_type: str) -> HttpResponse:
    content_type = f"{content_type}; charset=utf-8"
    try:
        table = _compare(_texts(request))
    except SideError as error:
        return HttpResponse(f"{error}\n", content_type=content_type, status=BAD_REQUEST)
    return HttpResponse(write(table), content_type=content_type)


def _texts(request: HttpRequest) -> list[str]:
    given = [*request.GET.getlist("a")[:1], *request.GET.getlist("b")]
    return [text.strip().replace("\0", "") for text in given if text.strip()]


def _compare(texts: Sequence[str]) -> ComparedTable:
    return compare_sides([Side.parse(text) for text in texts])


def _context(request: HttpRequest, table: ComparedTable, texts: Sequence[str]) -> dict[str, object]:
    with_power = len(table.rows) <= ROWS_WITH_POWER
    rows = (_line(table, row, with_power=with_power) for row in table.rows)
    together = table.headline
    lines = sorted(
        rows, key=lambda line: (-line.size, not line.is_in_question, -line.builds_differ)
    )
    proven = [line for line in lines if line.is_proven]
    unproven = [line for line in lines if not line.is_proven]
    query = [("a", texts[0]), *(("b", text) for text in texts[1:])]
    return {
        "table": table,
        "sides": _form(texts),
        "titles": _titles(table.sides),
        "common": _common(table.sides),
        "metrics": sorted({line.row.metric.name for line in lines}),
        "counts": {verdict.value: count for verdict, count in together.counts.items()},
        "together": together,
        "builds_differ": sum(line.builds_differ for line in lines),
        "in_question": sum(line.is_in_question for line in lines),
        "proven": proven[:ROWS_SHOWN],
        "unproven": unproven[:ROWS_SHOWN],
        "unproven_count": len(unproven),
        "left_out": max(len(proven), len(unproven)) > ROWS_SHOWN,
        "is_single": len(lines) == 1,
        "offers": _offers(lines[0]) if len(lines) == 1 and is_triager(request.user) else [],
        "back": request.get_full_path(),
        "simulated": any(line.simulated for line in lines),
        "text_link": with_query(reverse("compare_text"), query),
        "markdown_link": with_query(reverse("compare_markdown"), query),
        "data_link": with_query(reverse("api:compare"), query),
        "swapped": compare_link(*reversed(table.sides)) if len(texts) == 2 else "",
    }


def _offers(line: Line) -> list[Offer]:
    """More runs of each set, as many boots as the power planner names; of the base, the most. More
    builds of both sides where one of each cannot tell.
    """
    most = max(other.boots for other in line.others)
    boots = [most, *(other.boots for other in line.others)]
    asks = [
        Ask(Job.Purpose.MORE_RUNS, [one.revision], one.hardware, one.mode, number)
        for one, number in zip(line.row.sets, boots, strict=True)
    ]
    base = line.row.sets[0]
    builds = [
        builds_ask([base.revision, other.set.revision], base.hardware, base.mode)
        for other in line.others
        if other.comparison.builds_differ and other.set.series_id == base.series_id
    ]
    return offers([*builds, *asks])


def _titles(sides: Sequence[Side]) -> list[str]:
    """Each side by what tells it apart from the others."""
    differing = [part for part in PARTS if len({getattr(side, part) for side in sides}) > 1]
    return [" ".join(getattr(side, part) for part in differing) or str(side) for side in sides]


def _common(sides: Sequence[Side]) -> str:
    """What all sides say alike, the particular before the general."""
    values = {part: {getattr(side, part) for side in sides} for part in reversed(PARTS)}
    return " · ".join(alike.pop() for alike in values.values() if len(alike) == 1 and alike != {""})


def _line(table: ComparedTable, row: ComparedRow, *, with_power: bool) -> Line:
    others = [
        _judged(
            row, one, comparison, reason, with_power=with_power, with_boots=len(table.rows) == 1
        )
        for one, comparison, reason in zip(row.sets[1:], row.judged, row.reasons, strict=True)
    ]
    sides = _sides_of_row(table, row)
    return Line(row, _label(table, row), others, compare_link(*sides), _block(sides, row))


def _block(sides: Sequence[Side], row: ComparedRow) -> str:
    """Of one session a side: a session that is measured later does not change it."""
    if any(len(one.sessions) != 1 for one in row.sets):
        return ""
    pinned = [
        replace(side, session=one.sessions[0]) for side, one in zip(sides, row.sets, strict=True)
    ]
    return compare_link(*pinned, page="compare_text")


def _label(table: ComparedTable, row: ComparedRow) -> str:
    """The parts of the row that the sides left open; all sides fixed means one row, the metric."""
    side, base = table.sides[0], row.sets[0]
    open_parts = [
        base.mode.name if not side.mode else "",
        base.hardware.name if not side.hardware else "",
    ]
    return " · ".join(filter(None, open_parts)) or row.metric.name


def _judged(
    row: ComparedRow,
    one: ComparedSet,
    comparison: Comparison,
    reason: str,
    *,
    with_power: bool,
    with_boots: bool,
) -> Judged:
    sentence = compared_sentence(comparison, better=row.better, unit=row.metric.unit)
    power = power_line(row.sets[0], one, comparison) if with_power else ""
    boots = boots_to_ask_for(row.sets[0], one, comparison) if with_boots else 0
    return Judged(one, comparison, sentence, reason, power, boots)


def _sides_of_row(table: ComparedTable, row: ComparedRow) -> list[Side]:
    """The sides that mean this row alone: its own address."""
    return [
        replace(side, hardware=one.hardware.name, mode=one.mode.name, metric=row.metric.name)
        for side, one in zip(table.sides, row.sets, strict=True)
    ]


def _strip(one: ComparedSet) -> Strip:
    return Strip(one.label, one.samples, _mean(one), _interval(one))


def _mean(one: ComparedSet) -> float:
    return one.summary.mean if one.summary else sum(one.samples) / len(one.samples)


def _interval(one: ComparedSet) -> tuple[float, float] | None:
    """The 95 % interval of the mean by the set's own units, Student's t; None where unknown."""
    return one.units.interval(CONFIDENCE)


def _form(texts: Sequence[str]) -> list[str]:
    """The fields of the form: what was given, and an empty one while there is room."""
    return [*texts, ""] if len(texts) < MOST_SIDES else list(texts)


def _examples() -> list[str]:
    """Two sides that are there, to show how they are written."""
    newest = Revision.objects.tested().select_related("tree").order_by("-tree", "-position")[:2]
    return [str(Side(revision.tree.name, revision.name)) for revision in reversed(newest)]
