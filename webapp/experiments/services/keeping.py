"""An experiment from what a page compares."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from webapp.accounts.models import User
from webapp.analysis.queries import Side, SideError, compare_sides
from webapp.experiments.models import QUESTION_MAX, Experiment, ExperimentEvent
from webapp.experiments.services.freezing import TypedCell, add_parts
from webapp.stats.limits import MARGIN_PCT


@transaction.atomic
def keep_comparison(
    *, sides: Sequence[Side], asof: datetime, owner: User | None, question: str = ""
) -> Experiment:
    """Keep what two to seven sides show at ``asof`` as a draft.

    Raises:
        SideError: a side cannot be found, or nothing was measured on every one.
    """
    table = compare_sides(sides, asof)
    if table.rows and any(row.metric.is_cost for row in table.rows):
        raise SideError(
            "what an option costs is computed from two series and changes with either: keep the "
            "comparison of the mode with and without the option instead"
        )
    if not table.rows:
        raise SideError("nothing was measured on every side: there is nothing to keep")
    experiment = Experiment.objects.create(
        question=(question.strip() or title_of(sides))[:QUESTION_MAX],
        is_typed=bool(question.strip()),
        tree=table.revisions[0].tree,
        owner=owner,
        margin_pct=MARGIN_PCT,
        asof=asof,
    )
    add_parts(experiment, table, [TypedCell(row) for row in table.rows])
    ExperimentEvent.objects.create(
        experiment=experiment, kind=ExperimentEvent.Kind.KEPT, actor=owner
    )
    return experiment


def title_of(sides: Sequence[Side]) -> str:
    """``r303643 against r303642``: a question nobody typed."""
    base, *others = map(short, sides)
    return f"{', '.join(others)} against {base}"


def short(side: Side) -> str:
    """``r303643+VIMAGE``, ``r303643 pf``: kernel and mode."""
    mode = str(side.workload or side.mode)
    return side.kernel + (mode if side.options else f" {mode}" if mode else "")
