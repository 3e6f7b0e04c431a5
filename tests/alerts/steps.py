"""What tests of alerts do again and again: runs of many series, and a look."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from tests.documents import run_document
from tests.results.steps import an_agent, analyse
from webapp.alerts.models import Alert
from webapp.analysis import services
from webapp.api.schemas.runs import RunIn

LEVEL = 1_000_000.0
Place = tuple[str, str]  # hardware, workload
Steps = Mapping[int, float]  # index of a revision → factor of the level from there on


def runs_of(
    places: Mapping[Place, Steps], *, count: int = 30, first: int = 100, seed: int = 5
) -> list[dict[str, Any]]:
    """Runs of ``count`` revisions in each place, revision by revision, with its steps."""
    noise = np.random.default_rng(seed)
    documents = []
    for i in range(count):
        for (hardware, workload), steps in places.items():
            level = LEVEL * float(np.prod([by for at, by in steps.items() if at <= i]))
            # From side to side, so that no short series looks as if it remembered
            level *= np.exp((-1) ** i * noise.uniform(0.001, 0.004))
            documents.append(
                run_document(
                    uuid=str(uuid4()),
                    revision=f"r{first + i}",
                    hardware=hardware,
                    mode={"workload": workload, "traffic": None, "options": []},
                    samples=(level * np.exp(noise.normal(0, 0.004, 5))).tolist(),
                )
            )
    return documents


def arrive(documents: Sequence[dict[str, Any]], *, history: bool = False) -> None:
    """The runs are uploaded and analysed."""
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=an_agent(), runs=runs, register=True, history=history)
    analyse()


def revision_of(document: dict[str, Any]) -> int:
    return int(document["revision"][1:])


def open_alerts() -> list[tuple[str, str, str, list[str]]]:
    """Suspect, verdict, state and series of each alert that is not resolved, by commit."""
    rows = Alert.objects.exclude(state=Alert.State.RESOLVED).order_by("revision__position")
    return [
        (row.revision.name, row.verdict, row.state, series_of(row))
        for row in rows.select_related("revision")
    ]


def series_of(alert: Alert) -> list[str]:
    held = alert.findings.select_related("series__hardware", "series__mode")
    return sorted(f"{row.series.hardware.name} {row.series.mode} {row.verdict}" for row in held)


def log(alert: Alert) -> list[str]:
    return list(alert.events.values_list("kind", flat=True))
