"""Experiments, as they are made and as they are shown."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from ninja import Schema
from pydantic import Field, model_validator

from webapp.analysis.queries import MOST_SIDES
from webapp.api.schemas.types import Line, Strict, Text
from webapp.experiments.models import QUESTION_MAX, SOURCE_MAX

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
