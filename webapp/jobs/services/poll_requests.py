"""What a poll says, from names to rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from webapp.jobs.capability import Capability
from webapp.labs.models import Agent
from webapp.results.models import Hardware, Mode, ModeAlias, Tree
from webapp.results.services import (
    Forbidden,
    Unprocessable,
    foreign_hardware,
    hardware_named,
    unknown_hardware,
)


@dataclass(frozen=True, slots=True)
class Serves:
    """What a worker says it can measure, by name; None: every mode, every tree."""

    hardware: str
    modes: Sequence[str] | None = None
    trees: Sequence[str] | None = None
    rebuilds: bool = False


@dataclass(frozen=True, slots=True)
class PollRequest:
    """A worker that asks for a job."""

    agent: Agent
    worker: str
    serves: Sequence[Serves]
    version: str = ""
    draining: bool = False


def capabilities_of(request: PollRequest) -> list[Capability]:
    """What the worker says it can measure, by ids; modes and trees not known here are left out.

    Raises:
        Unprocessable: hardware that is not registered.
        Forbidden: hardware of another lab.
    """
    hardware = _hardware(request)
    modes = _ids(Mode, [each.modes for each in request.serves])
    modes |= _alias_ids([each.modes for each in request.serves], known=modes)
    trees = _ids(Tree, [each.trees for each in request.serves])
    return [
        Capability(
            hardware=hardware[each.hardware].pk,
            modes=_known(each.modes, modes),
            trees=_known(each.trees, trees),
            rebuilds=each.rebuilds,
        )
        for each in request.serves
    ]


def _hardware(request: PollRequest) -> dict[str, Hardware]:
    named = [(f"serves[{i}].hardware", each.hardware) for i, each in enumerate(request.serves)]
    found = hardware_named(name for _, name in named)
    if unknown := unknown_hardware(named, found):
        raise Unprocessable(unknown)
    if foreign := foreign_hardware(named, found, request.agent.lab_id):
        raise Forbidden(foreign)
    return found


def _ids(model: type[Model], names: Iterable[Sequence[str] | None]) -> dict[str, int]:
    wanted = {name for some in names for name in some or ()}
    if not wanted:
        return {}
    rows: Any = model._default_manager.filter(name__in=wanted)  # noqa: SLF001 (its objects)
    return dict(rows.values_list("name", "pk"))


def _alias_ids(names: Iterable[Sequence[str] | None], *, known: dict[str, int]) -> dict[str, int]:
    wanted = {name for some in names for name in some or ()} - known.keys()
    if not wanted:
        return {}
    return dict(ModeAlias.objects.filter(name__in=wanted).values_list("name", "mode_id"))


def _known(names: Sequence[str] | None, ids: dict[str, int]) -> frozenset[int] | None:
    return None if names is None else frozenset(ids[name] for name in names if name in ids)
