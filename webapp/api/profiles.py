"""Profiles of runs: send one, list them; what functions cost over the revisions of a tree; and the
bodies of these requests and answers.
"""

from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import numpy as np
from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field, model_validator

from webapp.analysis import queries
from webapp.api.requests import AgentToken, same
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Line, Strict, Text
from webapp.labs.models import Token
from webapp.outbox.services import absolute
from webapp.results import services
from webapp.results.models import FUNCTION_MAX, PROFILE_NAME_MAX, Profile, Run
from webapp.stats.changes import Change
from webapp.stats.profiles.calls import Calls, Function
from webapp.stats.profiles.function_series import FunctionSeries

MOST_NODES, MOST_FUNCTIONS, MOST_SECTIONS, DEEPEST = 200_000, 50_000, 64, 256
MOST_CELLS = 4_000_000
"""Nodes times CPUs: counts of a call tree in 32 MB. The largest real ones have 200,000."""

MOST_SAMPLES = 2**31 - 1
MOST_WARNINGS = 50
LARGEST_PPS = 1e12
LARGEST_EVENT_RATE = 1e18

Named = Annotated[Line, Field(max_length=PROFILE_NAME_MAX)]
FunctionName = Annotated[Line, Field(max_length=FUNCTION_MAX)]
Node = Annotated[int, Field(strict=True, ge=-1, lt=MOST_NODES)]
Index = Annotated[int, Field(strict=True, ge=0, lt=MOST_NODES)]
Samples = Annotated[int, Field(strict=True, ge=0, le=MOST_SAMPLES)]
Nodes = Annotated[list[Node], Field(min_length=1, max_length=MOST_NODES)]
Indices = Annotated[list[Index], Field(max_length=MOST_NODES * 2)]

router = Router(tags=["profiles"])
functions_router = Router(tags=["profiles"])


class ProfileIn(Strict):
    """The call tree of one boot of a run, in columns.

    Node i is a call of `functions[function[i]]` from node `parent[i]` (-1: nothing called it), and
    parents come first. `count[j]` samples ended at node `node[j]` on CPU `section[j]`.
    """

    name: Annotated[Named, Field(min_length=1)]
    format: Literal["pmcstat", "folded", "perf", "bpftrace", "btrace", "pprof"]
    event: Named = ""
    iteration: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] | None = None
    boot: Named | None = None
    expected: Annotated[
        list[Samples | None],
        Field(
            min_length=1, max_length=MOST_SECTIONS, description="What the profiler announced a CPU."
        ),
    ]
    truncated: bool = False
    unsymbolized: Samples = 0
    pps: Annotated[float, Field(gt=0, le=LARGEST_PPS, allow_inf_nan=False)] | None = None
    cores: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    event_rate: (
        Annotated[
            float,
            Field(
                gt=0,
                le=LARGEST_EVENT_RATE,
                allow_inf_nan=False,
                description="How often the event happened on all CPUs (1/s), by its periods.",
            ),
        ]
        | None
    ) = None
    warnings: Annotated[list[Annotated[Text, Field(max_length=500)]], Field(max_length=50)] = []
    functions: Annotated[
        list[tuple[Annotated[FunctionName, Field(min_length=1)], FunctionName]],
        Field(min_length=1, max_length=MOST_FUNCTIONS),
    ]
    parent: Nodes
    function: Indices
    node: Annotated[Indices, Field(min_length=1)]
    section: Indices
    count: Annotated[
        list[Annotated[int, Field(strict=True, ge=1, le=MOST_SAMPLES)]],
        Field(max_length=MOST_NODES * 2),
    ]

    @model_validator(mode="after")
    def is_a_tree(self) -> Self:
        """Refuse columns that are no call tree."""
        for fault in _faults(self):
            raise ValueError(fault)
        return self

    def document(self) -> services.ProfileDocument:
        """The profile as the services take it."""
        functions = tuple(Function(name, module) for name, module in self.functions)
        counts = np.zeros((len(self.expected), len(self.parent)), np.int64)
        np.add.at(counts, (self.section, self.node), self.count)
        return services.ProfileDocument(
            name=self.name,
            format=self.format,
            event=self.event,
            iteration=self.iteration,
            boot=self.boot or "",
            expected=self.expected,
            is_truncated=self.truncated,
            unsymbolized=self.unsymbolized,
            pps=self.pps,
            cores=self.cores,
            event_rate=self.event_rate,
            warnings=self.warnings,
            calls=Calls(functions, np.array(self.parent), np.array(self.function), counts),
        )


def _faults(sent: ProfileIn) -> list[str]:
    """What is wrong with the columns, the first fault of each; empty: they are a call tree."""
    if len(sent.function) != len(sent.parent):
        return [f"function has {len(sent.function)} entries and parent {len(sent.parent)}"]
    if not len(sent.node) == len(sent.section) == len(sent.count):
        lengths = f"{len(sent.node)}, {len(sent.section)} and {len(sent.count)}"
        return [f"node, section and count have {lengths} entries; send as many of each"]
    if len(sent.parent) * len(sent.expected) > MOST_CELLS:
        return [f"{len(sent.parent)} nodes on {len(sent.expected)} CPUs; send fewer of either"]
    parent, function = np.array(sent.parent), np.array(sent.function)
    late = np.flatnonzero(parent >= np.arange(len(parent)))
    faults = [f"parent[{late[0]}] does not come before its node"] if len(late) else []
    faults += _beyond("function", sent.function, len(sent.functions), "functions")
    faults += _beyond("node", sent.node, len(parent), "nodes")
    faults += _beyond("section", sent.section, len(sent.expected), "entries in expected")
    if len(set(sent.functions)) < len(sent.functions):
        faults.append("functions names one twice; send each once")
    if not faults and len(np.unique(parent * len(sent.functions) + function)) < len(parent):
        faults.append("two nodes are the same function of the same parent; send one")
    if not faults and (deepest := _depth(sent.parent)) > DEEPEST:
        faults.append(f"a stack has {deepest} frames; at most {DEEPEST} are stored")
    return faults


def _beyond(column: str, values: Sequence[int], count: int, what: str) -> list[str]:
    most = max(values, default=0)
    return [f"{column} holds {most}, and there are {count} {what}"] if most >= count else []


def _depth(parents: Sequence[int]) -> int:
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return max(depths)


class ProfileOut(Schema):
    """A stored profile without its call tree; `folded` is the address of that."""

    id: int
    run: UUID
    name: str
    format: str
    event: str
    iteration: int | None
    boot: str
    samples: int
    announced: int | None = Field(description="The samples that the profiler announced.")
    truncated: bool
    unsymbolized: int
    pps: float | None
    cores: int | None
    event_rate: float | None
    warnings: list[str]
    received_at: datetime
    url: str
    folded: str


class ProfileStored(Schema):
    """What became of a profile that was sent."""

    status: Literal["stored", "known"]
    profile: ProfileOut


class ProfileList(Schema):
    """The profiles of a run."""

    profiles: list[ProfileOut]


class FunctionChange(Schema):
    """A change in the level of a function's cost. The suspects are the commits after ``after`` up
    to ``last``.
    """

    revision: str
    previous: str
    after: str
    first: str
    last: str
    state: str
    verdict: Literal["dearer", "cheaper"]
    here: float
    probability: float
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    level_before: float
    level: float


class FunctionSeriesOut(Schema):
    """A function's cost at each revision: the mean of its boots with a 95 % interval."""

    name: str
    module: str
    boots: list[int]
    mean: list[float]
    mean_low: list[float | None]
    mean_high: list[float | None]
    changes: list[FunctionChange]


class NotClaimed(Schema):
    """A revision of which no cost is claimed."""

    revision: str
    why: str


class FunctionsOut(Schema):
    """What functions cost per packet on one machine in one mode along a tree, in ``unit``."""

    tree: str
    hardware: str
    mode: str
    variant: str
    with_calls: bool
    unit: str
    revision: list[str]
    position: list[int]
    left_out: list[NotClaimed]
    functions: list[FunctionSeriesOut]


class Costs(Schema):
    """Of which functions, and where."""

    tree: Asked
    hardware: Asked
    mode: Asked
    variant: Asked = ""
    fn: list[Asked] = Field(
        [], description="`name@module`, or `name`. Without any: those that changed."
    )
    calls: bool = Field(False, description="With all that a function calls.")


@router.post(
    "/{uuid}/profiles",
    auth=AgentToken(),
    response={200: ProfileStored, 201: ProfileStored, 400: ErrorOut, 404: ErrorOut, **REFUSALS},
    summary="Store a profile of a run",
)
def upload_profile(request: HttpRequest, uuid: UUID, profile: ProfileIn) -> Any:
    """201: it was stored. 200: this call tree of this event is there already. Idempotent."""
    token: Token = request.auth  # type: ignore[attr-defined]
    stored, is_new = services.store_profile(
        agent=token.agent, uuid=uuid, document=profile.document()
    )
    status = "stored" if is_new else "known"
    return Status(201 if is_new else 200, {"status": status, "profile": profile_out(stored, uuid)})


@router.get(
    "/{uuid}/profiles",
    response={200: ProfileList, 404: ErrorOut, 422: ErrorOut},
    summary="The profiles of a run",
)
def list_profiles(request: HttpRequest, uuid: UUID) -> Any:
    """In the order of their iterations, without their call trees."""
    run = Run.objects.current().filter(uuid=uuid).first()
    if run is None:
        raise Http404(f"no run {uuid} is stored")
    found = Profile.objects.filter(run=run).without_calls()
    return {"profiles": [profile_out(one, uuid) for one in found]}


def profile_out(profile: Profile, run: UUID) -> dict[str, Any]:
    """A profile of run ``run`` without its call tree."""
    return {
        "id": profile.pk,
        "run": run,
        "truncated": profile.is_truncated,
        "url": absolute(profile.get_absolute_url()),
        "folded": absolute(reverse("profile_folded", args=[profile.pk])),
        **same(profile, "name", "format", "event", "iteration", "boot", "samples", "announced"),
        **same(profile, "unsymbolized", "pps", "cores", "event_rate", "warnings", "received_at"),
    }


@functions_router.get(
    "/profiles/functions",
    response={200: FunctionsOut, 422: ErrorOut},
    summary="What functions cost per packet over the revisions of a tree",
)
def list_functions(request: HttpRequest, costs: Query[Costs]) -> Any:
    """Columns along the tree, an entry each revision of which a cost can be claimed."""
    functions = tuple(dict.fromkeys(costs.fn))
    asked = queries.AskedFunctions(
        costs.tree, costs.hardware, costs.mode, costs.variant, functions, costs.calls
    )
    return functions_out(queries.function_history(asked, queries.stored_profiles(asked)))


def functions_out(history: queries.FunctionHistory) -> dict[str, Any]:
    """The series of functions as the API shows them."""
    asked, costs = history.asked, history.costs
    return {
        **same(asked, "tree", "hardware", "mode", "variant", "with_calls"),
        "unit": history.unit,
        "revision": costs.labels,
        "position": costs.positions,
        "left_out": [{"revision": one.name, "why": one.why} for one in costs.left_out],
        "functions": [_function_out(one) for one in history.series],
    }


def _function_out(one: FunctionSeries) -> dict[str, Any]:
    ends = [each or (None, None) for each in one.intervals]
    return {
        "name": one.function.name,
        "module": one.function.module,
        "boots": [len(each.samples) for each in one.points],
        "mean": one.means,
        "mean_low": [low for low, _ in ends],
        "mean_high": [high for _, high in ends],
        "changes": [_change_out(each) for each in one.changes],
    }


def _change_out(one: Change) -> dict[str, Any]:
    revisions = ("revision", "previous", "after", "first", "last")
    percent = (one.change_pct, one.low_pct, one.high_pct)
    change, low, high = (each if isfinite(each) else None for each in percent)
    return {
        **{name: getattr(one, name).label for name in revisions},
        **same(one, "state", "here", "probability"),
        "verdict": "dearer" if one.verdict == "worse" else "cheaper",
        "change_percent": change,
        "low_percent": low,
        "high_percent": high,
        "level_before": one.before,
        "level": one.level,
    }
