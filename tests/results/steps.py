"""What tests of operators' work do again and again: upload, analyse, look."""

from typing import Any

from tests import make
from tests.documents import run_document
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis import services
from webapp.api.schemas.runs import RunIn
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.notifications.services import notify_events
from webapp.results.documents import Recorded
from webapp.results.models import Point, RevisionAlias

FLAT = [100.0, 101.0, 99.0, 100.5, 99.5]


def an_agent(lab: str = "netlab") -> Agent:
    return labs.create_agent(name="control", lab_name=lab)


def upload(
    *documents: dict[str, Any], lab: str = "netlab", register: bool = True, **flags: bool
) -> Recorded:
    runs = [RunIn.model_validate(document).document() for document in documents]
    return services.store_runs(agent=an_agent(lab), runs=runs, register=register, **flags)


def measured(revision: str, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    """A run of ``revision`` whose samples are ``factor`` times the usual."""
    samples = [value * factor for value in FLAT]
    return run_document(revision=revision, samples=samples, **changes)


def mode(workload: str, *options: str) -> dict[str, Any]:
    return {"workload": workload, "traffic": None, "options": list(options)}


def analyse() -> None:
    """As the worker does it: analyse what is dirty, and notify whom it concerns."""
    while analyse_dirty_series().finished:
        pass
    notify_events()


def ministat_verdicts() -> dict[str, str]:
    """Revision → what ministat finds for it, in the order of positions (of one series)."""
    return {row.revision: row.verdict for row in make.compared()}


def places() -> list[tuple[str, int]]:
    """(revision, position) of every point; the two copies of a position must agree."""
    points = list(Point.objects.select_related("revision").order_by("position"))
    assert all(point.position == point.revision.position for point in points)
    return [(point.revision.name, point.position) for point in points]


def names_of(revision: str) -> set[str]:
    """Everything the revision of this name answers to."""
    aliases = RevisionAlias.objects.filter(revision__name=revision)
    return set(aliases.values_list("name", flat=True))


def apart(revision: str, *factors: float, **changes: Any) -> Point:
    """The point of a revision that was uploaded once for each factor, each of its own build."""
    for number, factor in enumerate(factors):
        upload(measured(revision, 1000 * factor, build_id=f"build {number}", **changes))
    return Point.objects.select_related("revision__tree").get(revision__name=revision)
