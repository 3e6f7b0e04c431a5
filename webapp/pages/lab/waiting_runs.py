"""`/runs/waiting/`: runs whose kernel and names state two commits, and where they belong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import signed_in_user, triager_required
from webapp.results.models import Choice, Revision, Run, WaitingRun
from webapp.results.queries import called
from webapp.results.services import Unprocessable, decide_waiting, reopen_waiting

GROUPS_SHOWN = 30
RUNS_SHOWN = 100
"""Of one directory, to be ticked one by one."""

REVISIONS_SHOWN = 50
MOST_CHOSEN = 5000
DECIDED_SHOWN, DECIDED_LOOKED_AT = 10, 500


@dataclass(frozen=True, slots=True)
class Group:
    """``count`` runs of one directory on one ``hardware``, which people call ``machine``, that wait
    for the same decision; the first of them, each with its mode, are ``runs``.
    """

    tree: str
    hardware: str
    machine: str
    label: str
    candidates: Sequence[Mapping[str, str]]
    count: int
    since: datetime
    runs: Sequence[tuple[UUID, str]]

    @property
    def example(self) -> UUID:
        """The run that names the group in a form."""
        return self.runs[0][0]

    @property
    def more(self) -> int:
        """How many are not listed."""
        return self.count - len(self.runs)


@dataclass(frozen=True, slots=True)
class Decided:
    """Runs of one directory (``label``) that one decision was about."""

    label: str
    rows: Sequence[WaitingRun]

    @property
    def first(self) -> WaitingRun:
        """One of them: what was decided, by whom and when is the same for all."""
        return self.rows[0]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """What waits, directory by directory, and revisions that wait for their place."""
    pages = Paginator(WaitingRun.objects.open().alike(), GROUPS_SHOWN)
    shown = pages.get_page(request.GET.get("page"))
    machines = called({row["run__hardware__name"] for row in shown})
    revisions = Revision.objects.waiting().select_related("tree", "proposed_by__lab")
    far = list(revisions.prefetch_related("proposals__agent__lab")[: REVISIONS_SHOWN + 1])
    context = {
        "page": shown,
        "groups": [_group(row, machines) for row in shown],
        "total": WaitingRun.objects.open().count(),
        "placeless": Run.objects.placeless().count(),
        "decided": _decided(),
        "revisions": far[:REVISIONS_SHOWN],
        "more_revisions": len(far) > REVISIONS_SHOWN,
    }
    return render(request, "pages/lab/waiting_runs.html", context)


@require_POST
@triager_required
def act(request: HttpRequest) -> HttpResponse:
    """File runs at a commit or leave them out; come back to what still waits."""
    choice = request.POST.get("choice", "")[:64]
    if request.POST.get("act") == "reopen":
        return _reopen(request)
    runs = _meant(request)
    if not runs:
        messages.error(request, "No waiting run was chosen, or somebody decided meanwhile.")
        return redirect("waiting_runs")
    try:
        count = decide_waiting(runs=runs, choice=choice, by=signed_in_user(request))
    except Unprocessable as error:
        for problem in error.problems:
            messages.error(request, problem.message)
    else:
        what = _done(choice)
        messages.success(request, f"{count} {'run' if count == 1 else 'runs'} {what}.")
    return redirect("waiting_runs")


def _done(choice: str) -> str:
    if choice == Choice.NONE:
        return "left out"
    return "filed by the kernel" if choice == Choice.KERNEL else f"filed: {choice}"


def _reopen(request: HttpRequest) -> HttpResponse:
    given = request.POST.getlist("run")[:MOST_CHOSEN]
    runs = [uuid for text in given if (uuid := _uuid(text))]
    count = reopen_waiting(runs=runs, by=signed_in_user(request))
    messages.success(request, f"{count} {'run waits' if count == 1 else 'runs wait'} again.")
    return redirect("waiting_runs")


def _decided() -> list[Decided]:
    """What was decided last: runs of one directory that were decided together."""
    rows = WaitingRun.objects.decided().filter(run__superseded_by__isnull=True)
    named = rows.select_related("run", "decided_by", "chosen")[:DECIDED_LOOKED_AT]
    found = [
        Decided(label, list(group))
        for (label, *_), group in groupby(
            named, key=lambda row: (row.label, row.decided_at, row.chosen_id)
        )
    ]
    return found[:DECIDED_SHOWN]


def _meant(request: HttpRequest) -> list[UUID]:
    """The runs that the form means: those ticked, the whole directory, all alike, or simply all."""
    which = request.POST.get("which", "")
    if which == "all":
        return list(WaitingRun.objects.open().order_by("pk").values_list("run__uuid", flat=True))
    if which == "ticked":
        return [uuid for text in request.POST.getlist("run")[:MOST_CHOSEN] if (uuid := _uuid(text))]
    example = _uuid(request.POST.get("example", ""))
    if example is None or which not in ("directory", "alike"):
        return []
    row = WaitingRun.objects.open().with_subjects().filter(run__uuid=example).first()
    if row is None:
        return []
    found = WaitingRun.objects.open().as_one(row, in_its_directory=which == "directory")
    return list(found.order_by("pk").values_list("run__uuid", flat=True))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _group(row: Mapping[str, Any], machines: Mapping[str, str]) -> Group:
    return Group(
        tree=row["run__revision__tree__name"],
        hardware=row["run__hardware__name"],
        machine=machines[row["run__hardware__name"]],
        label=row["label"],
        candidates=row["candidates"],
        count=row["count"],
        since=row["first"],
        runs=list(zip(row["uuids"][:RUNS_SHOWN], row["modes"], strict=False)),
    )
