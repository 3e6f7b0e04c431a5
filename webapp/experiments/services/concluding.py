"""What people say of an experiment: notes, and how it ended."""

from django.db import transaction

from webapp.accounts.models import User
from webapp.experiments.models import Experiment, ExperimentEvent

Kind = ExperimentEvent.Kind


def add_note(*, experiment: Experiment, actor: User, text: str) -> None:
    """A line of the log; nothing else changes."""
    ExperimentEvent.objects.create(experiment=experiment, kind=Kind.NOTE, actor=actor, text=text)


def conclude(*, experiment: Experiment, actor: User, text: str) -> None:
    """It is decided, and ``text`` says what people conclude."""
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
