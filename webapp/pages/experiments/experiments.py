"""`/experiments/`: the questions that were asked, with their sides, and where they stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import signed_in_user, triager_required
from webapp.analysis.queries import MOST_SIDES, Side, SideError, compare_link, moment_of
from webapp.experiments.models import QUESTION_MAX, Experiment
from webapp.experiments.services import TOGETHER, are_beside, keep_comparison
from webapp.pages.compare.answer import titles_of
from webapp.pages.parts.links import read_number, with_query
from webapp.results.models import Tree

ROWS = 50
TEXT_MAX = 300
PARTS = ("state", "tree", "hardware")


@dataclass(frozen=True, slots=True)
class Line:
    """One experiment of the list: what its sides are called, unless its question names them, and
    its machines, and the reports of directories beside its own."""

    experiment: Experiment
    sides: str
    machines: list[str]
    beside: Sequence[Experiment]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Experiments by state, tree and hardware, the newest first."""
    wanted = {part: request.GET.get(part, "")[:TEXT_MAX].replace("\0", "") for part in PARTS}
    before = read_number(request.GET.get("before", ""))
    found = Experiment.objects.about(**wanted).with_subjects().order_by("-pk")
    rows = list((found.filter(pk__lt=before) if before else found)[: ROWS + 1])
    older = [("before", str(rows[ROWS - 1].pk))] if len(rows) > ROWS else []
    pairs = [*((part, text) for part, text in wanted.items() if text), *older]
    context = {
        "count": found.count(),
        "lines": [_line(row, _beside(row, rows[:ROWS])) for row in rows[:ROWS]],
        "wanted": wanted,
        "states": Experiment.State.choices,
        "trees": Tree.objects.all(),
        "older": with_query(reverse("experiments"), pairs) if older else "",
    }
    return render(request, "pages/experiments/experiments.html", context)


def _beside(experiment: Experiment, listed: Sequence[Experiment]) -> list[Experiment]:
    """Experiments of the list, of which one report with it may be made, by the names of
    directories.
    """
    parent, slash, name = experiment.source.rpartition("/")
    return [
        one
        for one in listed
        if slash
        and one.pk != experiment.pk
        and TOGETHER not in one.source + experiment.source
        and one.lab_id == experiment.lab_id
        and one.source.rpartition("/")[0] == parent
        and are_beside(name, one.source.removeprefix(f"{parent}/"))
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
    texts = [text.replace("\0", "") for text in request.POST.getlist("side")[: MOST_SIDES + 1]]
    sides = []
    try:
        sides = [Side.parse(text) for text in texts]
        kept = keep_comparison(
            sides=sides,
            asof=moment_of(request.POST.get("asof", "")) or timezone.now(),
            owner=signed_in_user(request),
            question=request.POST.get("question", "").replace("\0", "")[:QUESTION_MAX],
        )
    except SideError as error:
        messages.error(request, str(error))
        return redirect(compare_link(*sides) if sides else reverse("compare"))
    return redirect(kept)
