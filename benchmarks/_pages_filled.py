"""What `benchmarks.pages` fills an instance with: one machine by way of the models, the others as
copies of its rows in SQL."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

from django.db import connection
from django.db.models import Field, Model, UUIDField
from django.utils import timezone

from benchmarks.pages import MODES
from tests import make
from webapp.alerts.models import AlertFinding
from webapp.analysis.models import Finding, NotedPoint, SeriesAnalysis
from webapp.results.models import Hardware, Measurement, Point, Revision, Run, Series

SEED = 2
APART = 1_000_000
"""A copy's ids are so much larger than those of what it copies."""

LATELY = timedelta(days=13)
"""All runs were measured within these days up to now, as a lab's nightly runs are: pages that count
what was measured lately count each."""

CPU_NAME = "Atom_C2758"
COPIED: tuple[type[Model], ...] = (
    *(Hardware, Series, Run, Measurement, Point, NotedPoint, SeriesAnalysis, Finding),
)
WHY = (
    "Confirmed: 24 revisions from r363457 on lie -7.9 % [-8.3, -7.5] from the 92 revisions "
    "before, 12.0 standard deviations by what is known now (3.3 were needed when r363655 came "
    "in; revisions here scatter by 0.93 %); it began after r363211 and by r363457."
)
"""A sentence as long as the detector's."""


def fill(
    *, series: int, revisions: int, modes: int = MODES, singles: int = 0
) -> tuple[Revision, Revision]:
    """``series`` series of ``revisions`` revisions, ``modes`` a machine, and on each machine
    ``singles`` modes of one revision, as archives have; the two commits around the loss of the
    first machine."""
    along = make.revisions(revisions)
    modes = min(modes, series)
    noise = Random(SEED)
    for number in range(modes):
        _series(f"mode-{number:02}", along, 1e6 * (1 + number / 10), noise)
    for number in range(singles):
        make.history(make.series(in_mode=f"once-{number:02}+option"), along[-1:], [1e6])
    for machine in range(1, max(series // modes, 1)):
        _copy_machine(machine)
    step = _step(along)
    _alerts(along[step - 1], along[step])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return along[step - 1], along[step]


def _step(along: list[Revision]) -> int:
    return len(along) * 3 // 5


def _series(mode: str, along: list[Revision], level: float, noise: Random) -> None:
    """One series of the first machine: runs, points, and what the detector would find in them."""
    step = _step(along)
    steps = [level] * step + [level * 0.9] * (len(along) - step)
    levels = [height * noise.gauss(1, 0.01) for height in steps]
    one = make.series(in_mode=mode)
    make.history(one, along, levels)
    now, apart = timezone.now(), LATELY / len(along)
    for index, (revision, height) in enumerate(zip(along, levels, strict=True)):
        at = now - apart * (len(along) - 1 - index)
        samples = [height * (1 + k / 1000) for k in range(5)]
        make.run(revision, in_mode=mode, samples=samples, measured_at=at, received_at=at)
    before, after = along[step - 1], along[step]
    make.finding(one, before, after, change_pct=-10.0, why=WHY)
    make.analysis(
        one,
        count=len(along),
        segments=[
            make.segment(along[0], before, level),
            make.segment(after, along[-1], level * 0.9),
        ],
        noise=make.noise(revision_pct=1.0, run_pct=0.8, build_pct=0.9),
        smallest={"pct": 3.2, "later_pct": 1.6, "more_runs_pct": 3.0, "helps": "revisions"},
        newest={"revision": {"position": along[-1].position, "label": along[-1].name}},
        why_not=WHY,
        what_helps=WHY,
    )


def _copy_machine(number: int) -> None:
    """The first machine once more, with all that hangs on it, under another name."""
    with connection.cursor() as cursor:
        for model in COPIED:
            columns = [str(field.column) for field in _fields(model)]
            values = [_value(field, number) for field in _fields(model)]
            table = model._meta.db_table  # noqa: SLF001
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608
                f"SELECT {', '.join(values)} FROM {table} WHERE {_own(model)} < {APART}"
            )


def _fields(model: type[Model]) -> Iterator["Field[object, object]"]:
    for field in model._meta.concrete_fields:  # noqa: SLF001
        if field.column and not getattr(field, "generated", False):
            yield field


def _own(model: type[Model]) -> str:
    return str(model._meta.pk_fields[-1].column)  # noqa: SLF001 (of a point: its series)


def _value(field: "Field[object, object]", number: int) -> str:
    """The SQL of a copy's column."""
    if field.primary_key or field.related_model in COPIED:
        return f"{field.column} + {number * APART}"
    if isinstance(field, UUIDField):
        return "gen_random_uuid()"
    if field.model is Hardware and field.name == "name":
        return f"'{CPU_NAME}-{number:02}/T540-CR'"
    return str(field.column)


def _alerts(before: Revision, after: Revision) -> None:
    """An alert with the findings of the machines: one commit did it."""
    alert = make.alert(after, after=before)
    AlertFinding.objects.bulk_create(
        AlertFinding(finding_id=pk, alert=alert)
        for pk in Finding.objects.values_list("pk", flat=True)
    )
