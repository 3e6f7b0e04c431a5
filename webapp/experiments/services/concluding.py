"""What people say of an experiment: notes, what counts as equivalent, and how it ended."""

from math import isfinite

from django.db import transaction

from webapp.accounts.models import User
from webapp.experiments.models import Experiment, ExperimentEvent
from webapp.results.services import Problem, Unprocessable

Kind = ExperimentEvent.Kind
LARGEST_MARGIN_PCT = 100.0


def add_note(*, experiment: Experiment, actor: User, text: str) -> None:
    """A line of the log; nothing else changes."""
    ExperimentEvent.objects.create(experiment=experiment, kind=Kind.NOTE, actor=actor, text=text)


@transaction.atomic
def set_margin(*, experiment: Experiment, actor: User, margin_pct: float) -> None:
    """Judge every cell by this margin from now on; the log says by which before.

    Raises:
        Unprocessable: it is no percentage between 0 and 100.
    """
    if not (isfinite(margin_pct) and 0 < margin_pct <= LARGEST_MARGIN_PCT):
        message = f"more than 0 and at most {LARGEST_MARGIN_PCT:g} percent, for example 2"
        raise Unprocessable([Problem("margin", message)])
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    before = sorted({locked.margin_pct, *locked.cells.values_list("margin_pct", flat=True)})
    if before == [margin_pct]:
        return
    locked.cells.update(margin_pct=margin_pct)
    locked.margin_pct = margin_pct
    locked.save(update_fields=["margin_pct"])
    old = ", ".join(f"{one:g}" for one in before)
    text = f"{old} % → {margin_pct:g} %"
    ExperimentEvent.objects.create(experiment=locked, kind=Kind.MARGIN, actor=actor, text=text)


def conclude(*, experiment: Experiment, actor: User, text: str) -> None:
    """Decide an experiment: ``text`` says what people conclude."""
    _end(experiment, actor, Experiment.State.DECIDED, Kind.CONCLUDED, text)


def give_up(*, experiment: Experiment, actor: User, text: str) -> None:
    """Nobody goes on with it, and ``text`` says why."""
    _end(experiment, actor, Experiment.State.GIVEN_UP, Kind.GIVEN_UP, text)


@transaction.atomic
def _end(
    experiment: Experiment, actor: User, state: Experiment.State, kind: Kind, text: str
) -> None:
    experiment.state = state
    experiment.conclusion = text
    experiment.save(update_fields=["state", "conclusion"])
    ExperimentEvent.objects.create(experiment=experiment, kind=kind, actor=actor, text=text)
