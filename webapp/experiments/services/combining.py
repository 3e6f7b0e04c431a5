"""Directories that lie beside one another (`X` and `X.D58513`, RSS and no RSS), as one report."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from webapp.experiments.models import SOURCE_MAX, Experiment
from webapp.experiments.services import importing
from webapp.labs.models import Lab
from webapp.results.models import Run
from webapp.results.services import Problem, Unprocessable

MOST_EXTRA = 2
"""Parts that a name may have more than that of the directory beside it."""

TOGETHER = " + "
"""Between the names of two directories in that of the report of both."""

_PART_ENDS = re.compile(r"[._-]")


@dataclass(frozen=True, slots=True)
class Beside:
    """A directory beside that of a report, and the report of both; None: it may be made."""

    sibling: Experiment
    both: Experiment | None


def beside(experiment: Experiment) -> list[Beside]:
    """The reports of directories that can be joined with that of ``experiment``. Needs
    `with_subjects`."""
    parent, slash, name = experiment.source.rpartition("/")
    if not slash or experiment.lab is None:
        return []
    found = (
        Experiment.objects.filter(lab=experiment.lab, source__startswith=f"{parent}/")
        .exclude(pk=experiment.pk)
        .with_subjects()
    )
    siblings = [one for one in found if are_beside(name, one.source.removeprefix(f"{parent}/"))]
    made = {one.source: one for one in found}
    return [
        Beside(one, both)
        for one in siblings
        if (both := made.get(_source(experiment, one))) or _can_be_joined(experiment, one)
    ]


def combine(*, experiment: Experiment, sibling: Experiment, now: datetime) -> Experiment:
    """One report of both directories, with the README of the longer name. Both need
    `with_subjects`.

    Raises:
        Unprocessable: they do not lie beside one another, or are no two sides together.
    """
    if experiment.lab is None or sibling.pk not in {one.sibling.pk for one in beside(experiment)}:
        raise Unprocessable([Problem("sibling", "these directories cannot be one report")])
    _, longer = _ordered(experiment, sibling)
    runs = _runs(experiment.lab, (experiment, sibling))
    directory = importing.Directory(_source(experiment, sibling), longer.readme, runs)
    return importing.import_directory(lab=experiment.lab, directory=directory, now=now)[0]


def are_beside(one: str, other: str) -> bool:
    """Whether one name is the other with a part or two more, or with ``no`` before a part."""
    a, b = ([part.lower() for part in _PART_ENDS.split(name)] for name in (one, other))
    more_a, more_b = [part for part in a if part not in b], [part for part in b if part not in a]
    if not (more_a and more_b):
        return 1 <= len(more_a) + len(more_b) <= MOST_EXTRA
    is_one_each = len(more_a) == len(more_b) == 1
    return is_one_each and (f"no{more_a[0]}" == more_b[0] or f"no{more_b[0]}" == more_a[0])


def _ordered(one: Experiment, other: Experiment) -> tuple[Experiment, Experiment]:
    first, second = sorted((one, other), key=lambda each: (len(each.source), each.source))
    return first, second


def _source(one: Experiment, other: Experiment) -> str:
    first, second = _ordered(one, other)
    return f"{first.source}{TOGETHER}{second.source.rpartition('/')[2]}"[-SOURCE_MAX:]


def _can_be_joined(one: Experiment, other: Experiment) -> bool:
    assert one.lab is not None
    try:
        sides = importing.arranged(importing.sides_measured(one.lab, _runs(one.lab, (one, other))))
    except Unprocessable:
        return False
    own = {str(side.compared) for each in (one, other) for side in each.sides.all()}
    return bool({str(side) for side in sides} - own)


def _runs(lab: Lab, experiments: Sequence[Experiment]) -> list[UUID]:
    """Those of the directories."""
    where = Q()
    for one in experiments:
        where |= Q(evidence__directory=one.source)
        where |= Q(evidence__directory__startswith=f"{one.source}/")
    revisions = {side.revision_id for one in experiments for side in one.sides.all()}
    machines = {cell.hardware_id for one in experiments for cell in one.cells.all()}
    found = Run.objects.current().filter(
        where, agent__lab=lab, revision__in=revisions, hardware__in=machines
    )
    return list(found.order_by("pk").values_list("uuid", flat=True))
