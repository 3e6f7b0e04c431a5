"""Experiments: made of a directory by agents, of a comparison by operators, read by anybody."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field, model_validator

from webapp.accounts.models import User
from webapp.analysis.queries import MOST_SIDES, Side, as_points
from webapp.api.compare import headline_out, row_out
from webapp.api.requests import AgentToken, OperatorSession, Page, bounded, newest, same
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Line, Strict, Text
from webapp.experiments.models import QUESTION_MAX, SOURCE_MAX, Experiment
from webapp.experiments.queries import contradictions, frozen_table
from webapp.experiments.services import Directory, beside, import_directory, keep_comparison
from webapp.merging.services import settle_counts
from webapp.results.services import Problem, Unprocessable

MOST_RUNS = 10_000
BASELINE_MAX = 300
README_MAX = 65_536
"""Characters: what an agent reads of one at most."""


class ExperimentIn(Strict):
    """A directory of an archive (`source`, `readme` and its `runs`), or `sides` as `/compare` takes
    them. `question` is its title where no README has one, `baseline` what its side that others are
    compared with is called: a revision, an option, a workload or a word of one."""

    question: Annotated[Line, Field(max_length=QUESTION_MAX)] = ""
    baseline: Annotated[Line, Field(max_length=BASELINE_MAX)] = ""
    source: Annotated[Line, Field(max_length=SOURCE_MAX)] = ""
    readme: Annotated[Text, Field(max_length=README_MAX)] = ""
    runs: Annotated[list[UUID], Field(max_length=MOST_RUNS)] = []
    sides: Annotated[
        list[Annotated[Line, Field(min_length=1, max_length=1000)]], Field(max_length=MOST_SIDES)
    ] = []

    @model_validator(mode="after")
    def is_one_or_the_other(self) -> Self:
        """Refuse what is neither a directory nor a comparison, and what is both."""
        if bool(self.runs) == bool(self.sides):
            raise ValueError("send runs with their source, or sides")
        if self.runs and not self.source:
            raise ValueError("send source, the name of the directory that the runs lie in")
        return self


class ExperimentOut(Schema):
    """An experiment; `sides` as `/compare` takes them, the baseline first, as of `asof`."""

    number: int
    url: str
    question: str
    tree: str
    state: str
    asof: datetime
    source: str
    lab: str | None
    owner: str | None
    sides: list[str]
    labels: list[str]
    bullets: list[str]
    conclusion: str
    cells: int


class BesideOut(Schema):
    """The report of a directory beside (``source``), of which one with it may be made, or is made:
    ``both``.
    """

    source: str
    url: str
    both: str | None


class MadeExperiment(ExperimentOut):
    """A report as it was made, and those of directories beside its own."""

    beside: list[BesideOut]


class ExperimentList(Schema):
    """The newest first; `next` is the `before` of the next page, null on the last."""

    experiments: list[ExperimentOut]
    next: int | None


class ExperimentDetail(ExperimentOut):
    """With its rows as `/compare` gives them, as of `asof`, where typed and measured differ, and
    the cells whose measurements count no more."""

    headline: dict[str, Any]
    rows: list[dict[str, Any]]
    contradictions: list[str]
    lost: list[str]


router = Router(tags=["experiments"])


class Wanted(Page):
    """Which experiments; a part left out means all."""

    state: Asked = Field("", description="draft, imported, decided, given up")
    tree: Asked = ""
    hardware: Asked = ""


@router.get(
    "/experiments",
    response={200: ExperimentList, 422: ErrorOut},
    summary="Reports, the newest first",
)
def list_experiments(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Experiment.objects.about(
        state=wanted.state, tree=wanted.tree, hardware=wanted.hardware
    ).with_subjects()
    shown, following = newest(found, wanted)
    return {"experiments": [experiment_out(row) for row in shown], "next": following}


@router.get(
    "/experiments/{number}",
    response={200: ExperimentDetail, 404: ErrorOut, 422: ErrorOut},
    summary="One report, with what it compares",
)
def one_experiment(request: HttpRequest, number: int) -> Any:
    """The blocks are printed by the ministat of each cell, as its report does."""
    found = get_object_or_404(Experiment.objects.with_subjects(), pk=bounded(number))
    frozen = frozen_table(found)
    table = frozen.table
    return experiment_out(found) | {
        "headline": headline_out(as_points(table)),
        "rows": [row_out(row) for row in table.rows],
        "contradictions": contradictions(found),
        "lost": [f"{one.hardware.name} {one.mode} {one.metric}" for one in frozen.lost],
    }


@router.post(
    "/experiments",
    auth=[AgentToken(), OperatorSession()],
    response={200: MadeExperiment, 201: MadeExperiment, 400: ErrorOut, **REFUSALS},
    summary="Make a report",
)
def add_experiment(request: HttpRequest, asked: ExperimentIn) -> Any:
    """Of `runs` with an agent's token, those of its lab; 200: this `source` was sent before, and
    the answer is what is stored, with the `baseline` that is named now. Of `sides` by either. 422
    where the runs are no two sides, or none is called as the baseline.
    """
    who = request.auth  # type: ignore[attr-defined]
    made, is_new = _of_sides(asked, who) if asked.sides else _of_runs(asked, who)
    stored = Experiment.objects.with_subjects().get(pk=made.pk)
    return Status(201 if is_new else 200, experiment_out(stored) | {"beside": _beside(stored)})


def _beside(experiment: Experiment) -> list[dict[str, str | None]]:
    return [
        {
            "source": one.sibling.source,
            "url": one.sibling.get_absolute_url(),
            "both": one.both.get_absolute_url() if one.both else None,
        }
        for one in beside(experiment)
    ]


def _of_sides(asked: ExperimentIn, who: Any) -> tuple[Experiment, bool]:
    kept = keep_comparison(
        sides=[Side.parse(text) for text in asked.sides],
        asof=timezone.now(),
        owner=who if isinstance(who, User) else None,
        question=asked.question,
    )
    return kept, True


def _of_runs(asked: ExperimentIn, who: Any) -> tuple[Experiment, bool]:
    if isinstance(who, User):
        message = "only an agent's token names runs; give the sides of a comparison"
        raise Unprocessable([Problem("runs", message)])
    settle_counts()  # what came with the same upload may give the places of its runs
    directory = Directory(asked.source, asked.readme, asked.runs, asked.question, asked.baseline)
    return import_directory(lab=who.agent.lab, directory=directory, now=timezone.now())


def experiment_out(experiment: Experiment) -> dict[str, Any]:
    """An experiment as the API shows it. Needs `with_subjects`."""
    sides = list(experiment.sides.all())
    return {
        "number": experiment.pk,
        "url": experiment.get_absolute_url(),
        "tree": experiment.tree.name,
        "lab": str(experiment.lab) if experiment.lab else None,
        "owner": str(experiment.owner) if experiment.owner else None,
        "sides": [str(side.compared) for side in sides],
        "labels": [side.label for side in sides],
        "cells": len(experiment.cells.all()),
        **same(experiment, "question", "state", "asof", "source", "bullets", "conclusion"),
    }
