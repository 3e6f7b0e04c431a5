"""`/experiments/`: the questions that were asked, with their sides, and where they stand.
`/experiments/N/`: the report that a lab publishes, the product's sentence beside its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.analysis import queries
from webapp.charts import forest
from webapp.experiments import services
from webapp.experiments.models import QUESTION_MAX, Experiment, Side
from webapp.pages.compare.answer import Cell, titles_of
from webapp.pages.compare.rows import Drawing, lines_of, rows_html
from webapp.pages.experiments.files import as_markdown, as_zip
from webapp.pages.experiments.report import Report, answer_of, as_text, report_of, shown_of
from webapp.pages.parts import links
from webapp.pages.pictures import NoPicture, picture_of
from webapp.results.models import Revision, Tree
from webapp.results.services import Unprocessable
from webapp.stats.compare import Verdict

ROWS = 50
PARTS = ("state", "tree", "hardware")
ROWS_SHOWN = 60
"""Rows on the page; its text has all."""

TEXT_MAX = 2000

GONE = 409
"""The status of a report whose data is gone."""

BAD_REQUEST = 400

Form = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One experiment of the list; ``sides`` is empty where its question names them."""

    experiment: Experiment
    sides: str
    machines: list[str]
    beside: Sequence[Experiment]


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """Experiments by state, tree and hardware, the newest first."""
    wanted = {part: links.read_text(request.GET, part) for part in PARTS}
    found = Experiment.objects.about(**wanted).with_subjects()
    rows, before = links.newest(found, request, ROWS)
    older = links.with_parts(reverse("experiments"), wanted | {"before": before}) if before else ""
    context = {
        "count": found.count(),
        "lines": [_line(row, _beside(row, rows)) for row in rows],
        "wanted": wanted,
        "states": Experiment.State.choices,
        "trees": Tree.objects.all(),
        "older": older,
    }
    return render(request, "pages/experiments/experiments.html", context)


def _beside(experiment: Experiment, listed: Sequence[Experiment]) -> list[Experiment]:
    """Listed experiments of which, by their directories, one report with it may be made."""
    parent, slash, name = experiment.source.rpartition("/")
    return [
        one
        for one in listed
        if slash
        and one.pk != experiment.pk
        and services.TOGETHER not in one.source + experiment.source
        and one.lab_id == experiment.lab_id
        and one.source.rpartition("/")[0] == parent
        and services.are_beside(name, one.source.removeprefix(f"{parent}/"))
    ]


def _line(experiment: Experiment, beside: Sequence[Experiment]) -> Line:
    sides = list(experiment.sides.all())
    own = titles_of([side.compared for side in sides])
    titles = [side.label or title for side, title in zip(sides, own, strict=True)]
    machines = dict.fromkeys(str(cell.hardware) for cell in experiment.cells.all())
    text = " against ".join([", ".join(titles[1:]), titles[0]])
    return Line(experiment, "" if text == experiment.question else text, list(machines), beside)


@triager_required
@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep a comparison: its sides (`side`), as of `asof` or now."""
    texts = [
        text.replace("\0", "") for text in request.POST.getlist("side")[: queries.MOST_SIDES + 1]
    ]
    sides = []
    try:
        sides = [queries.Side.parse(text) for text in texts]
        kept = services.keep_comparison(
            sides=sides,
            asof=queries.moment_of(request.POST.get("asof", "")) or timezone.now(),
            owner=signed_in_user(request),
            question=links.read_text(request.POST, "question", QUESTION_MAX),
        )
    except queries.SideError as error:
        messages.error(request, str(error))
        return redirect(queries.compare_link(*sides) if sides else reverse("compare"))
    return redirect(kept)


@dataclass(frozen=True, slots=True)
class Box:
    """One side above the report: its name, what the lab calls it, and where its runs are."""

    name: str
    title: str
    side: Side
    runs: str


@require_safe
@vary_on_headers("HX-Request")
def page(request: HttpRequest, number: int) -> HttpResponse:
    """The report; where its data is gone, what was typed and why. With ``part=answer`` htmx gets
    its sentence alone, for the list."""
    experiment = _experiment(number)
    if request.GET.get("part") == "answer" and request.headers.get("HX-Request") == "true":
        return render(request, "pages/experiments/_answer.html", {"answer": _answer(experiment)})
    context: dict[str, Any] = {
        "experiment": experiment,
        "events": experiment.events.select_related("actor"),
        "can_act": is_triager(request.user),
        "asof": _clock(experiment.asof),
        "beside": services.beside(experiment),
    }
    try:
        options, is_flavour_asked = _options(request)
        report = shown_of(experiment, options, is_flavour_asked=is_flavour_asked)
    except queries.SideError as error:
        return render(request, "pages/experiments/experiment.html", context | {"gone": str(error)})
    return render(request, "pages/experiments/experiment.html", context | _context(report))


@require_safe
def markdown(request: HttpRequest, number: int) -> HttpResponse:
    """The report as a README, as the zip has it, with its picture beside it."""
    return _text(request, number, as_markdown, "text/markdown")


@require_safe
def text(request: HttpRequest, number: int) -> HttpResponse:
    """The blocks of a report, as plain text."""
    return _text(request, number, as_text, "text/plain")


@require_safe
def packed(request: HttpRequest, number: int) -> HttpResponse:
    """README, text and pictures in one file."""
    try:
        content = as_zip(_report(request, _experiment(number)))
    except queries.SideError as error:
        return _refused(error)
    response = HttpResponse(content, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="experiment-{number}.zip"'
    return response


@require_safe
def picture(request: HttpRequest, number: int, form: str) -> HttpResponse:
    """Medians and whiskers of every side; `theme` and `width`."""
    return picture_of(request, form, lambda: _picture(number))


@triager_required
@require_POST
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Add a note, conclude or give up, with a text; set the margin or the baseline; or make one
    report of this directory and the one beside it."""
    experiment = _experiment(number)
    if request.POST.get("act") in SETTINGS:
        return SETTINGS[request.POST["act"]](request, experiment)
    do = ACTS.get(request.POST.get("act", ""))
    note = links.read_text(request.POST, "text", TEXT_MAX).strip()
    if do is None or not note:
        messages.error(request, "Choose what to do, and write a text.")
    else:
        do(experiment=experiment, actor=signed_in_user(request), text=note)
    return redirect(experiment)


def _margin(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    try:
        margin = float(request.POST.get("margin", ""))
        services.set_margin(experiment=experiment, actor=signed_in_user(request), margin_pct=margin)
    except (ValueError, Unprocessable):
        messages.error(request, "The margin is more than 0 and at most 100 percent.")
    return redirect(experiment)


def _baseline(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    order = links.read_number(request.POST.get("baseline", "")) - 1
    actor = signed_in_user(request)
    try:
        services.set_baseline(experiment=experiment, actor=actor, order=order)
    except (queries.SideError, Unprocessable) as error:
        messages.error(request, f"The baseline stays as it is: {error}")
    return redirect(experiment)


def _combine(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    sibling = _experiment(links.read_number(request.POST.get("sibling", "")))
    try:
        both = services.combine(experiment=experiment, sibling=sibling, now=timezone.now())
    except (queries.SideError, Unprocessable) as error:
        messages.error(request, f"No report of both: {error}")
        return redirect(experiment)
    return redirect(both)


SETTINGS: Mapping[str, Callable[[HttpRequest, Experiment], HttpResponse]] = {
    "margin": _margin,
    "baseline": _baseline,
    "combine": _combine,
}


ACTS = {
    "note": services.add_note,
    "conclude": services.conclude,
    "give up": services.give_up,
}


def _clock(at: datetime) -> str:
    """``11:48 UTC``, before today with the day."""
    is_today = at.date() == timezone.now().date()
    return f"{at:%H:%M} UTC" if is_today else f"{at:%Y-%m-%d %H:%M} UTC"


def _answer(experiment: Experiment) -> str:
    try:
        return answer_of(experiment)
    except queries.SideError as error:
        return f"The data of this report is gone: {error}"


def _experiment(number: int) -> Experiment:
    return get_object_or_404(Experiment.objects.with_subjects(), pk=min(number, links.NUMBER_MAX))


def _report(request: HttpRequest, experiment: Experiment) -> Report:
    options, is_flavour_asked = _options(request)
    return report_of(experiment, options, is_flavour_asked=is_flavour_asked)


def _options(request: HttpRequest) -> tuple[queries.BlockOptions, bool]:
    """The options of blocks, and whether a flavour was asked for."""
    return queries.BlockOptions.read(request.GET.dict()), bool(request.GET.get("flavour"))


def _text(
    request: HttpRequest, number: int, write: Callable[[Report], str], content_type: str
) -> HttpResponse:
    try:
        written = write(_report(request, _experiment(number)))
    except queries.SideError as error:
        return _refused(error)
    return HttpResponse(written, content_type=f"{content_type}; charset=utf-8")


def _refused(error: queries.SideError) -> HttpResponse:
    return HttpResponse(f"{error}\n", content_type="text/plain; charset=utf-8", status=GONE)


def _picture(number: int) -> str:
    try:
        picture = shown_of(_experiment(number)).picture
    except queries.SideError as error:
        raise NoPicture(f"Nothing is drawn: {error}", GONE) from error
    if not picture:
        raise NoPicture("Nothing is drawn: no cell has data.")
    return picture


def _context(report: Report) -> dict[str, Any]:
    experiment = report.experiment
    drawing = _drawing(report)
    lines = lines_of(report.cells)
    number = [experiment.pk]
    options = report.parts[0].options if report.parts else queries.PLAIN_BLOCK
    return {
        "report": report,
        "block_ignores": queries.BLOCK_IGNORES,
        "boxes": _boxes(report),
        "definitions": forest.definitions(drawing.reach),
        "axis": forest.axis(drawing.reach, less="muted:less", more="muted:more"),
        "margin": f"{experiment.margin_pct:g}",
        "rows": rows_html(lines[:ROWS_SHOWN], drawing),
        "rows_more": max(len(lines) - ROWS_SHOWN, 0),
        "parts": report.parts,
        "blocks_more": len(report.points.rows) - len(report.parts),
        "flavours": queries.FLAVOURS,
        "flavour": options.flavour,
        "picture": report.picture,
        "bisect_link": _bisect_link(report),
        "compare_link": report.today,
        **{
            f"{name}_link": reverse(f"experiment_{name}", args=number)
            for name in ("markdown", "text", "zip", "svg", "png")
        },
    }


def _drawing(report: Report) -> Drawing:
    intervals = [(one.judged.low, one.judged.high) for one in report.cells]
    return Drawing(
        table=report.points,
        titles=report.titles,
        reach=forest.reach_of(intervals, margin=report.experiment.margin_pct),
        with_metric=report.with_metric,
        more=[("asof", report.experiment.asof.isoformat())],
    )


def _boxes(report: Report) -> list[Box]:
    sides = report.experiment.sides.all()
    return [
        Box(name, title, side, side.revision.get_absolute_url())
        for name, title, side in zip("ABCDEFG", report.titles, sides, strict=False)
    ]


def _bisect_link(report: Report) -> str:
    """Where a bisect of the largest proven loss between two commits begins; empty: none is."""
    base, *others = report.points.revisions
    if len(others) != 1 or base.tree_id != others[0].tree_id or base.pk == others[0].pk:
        return ""
    worse = [one for one in report.cells if one.gated == Verdict.WORSE and _is_plain(one)]
    if not worse or not Revision.objects.between(base, others[0]).exists():
        return ""
    worst = max(worse, key=lambda one: abs(one.judged.percent or 0.0))
    most = worst.row
    parts = {
        "tree": base.tree.name,
        "hardware": most.base.hardware.name,
        "mode": most.base.mode,
        "metric": most.base.metric,
        "good": base.name,
        "bad": others[0].name,
        "effect": f"{worst.judged.percent:.3g}" if worst.judged.percent else "",
    }
    return links.with_query(reverse("bisect_new"), parts.items())


def _is_plain(cell: Cell) -> bool:
    return not any(point.variant for point in cell.row.points)
