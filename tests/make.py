"""Plain functions that put rows into the database. Tests name only what matters to them."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, NotedPoint, SeriesAnalysis, Verdict
from webapp.analysis.queries.previous import Compared, compared_at, noted_since
from webapp.labs.models import Agent, Lab
from webapp.notifications.models import Subscription
from webapp.results.models import (
    Hardware,
    Kernel,
    Measurement,
    Metric,
    Mode,
    Point,
    Revision,
    RevisionAlias,
    Run,
    Series,
    Tree,
)
from webapp.results.services.points import moments, of_runs
from webapp.results.spellings import ModeName, position_of
from webapp.stats.changes.explain import TOO_FEW

DAY_ONE = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIVE_SAMPLES = (100.0, 101.0, 99.0, 100.5, 99.5)


def user(name: str = "ada", **fields: Any) -> User:
    """Somebody who signs in with *a long password*."""
    made: User = User.objects.create_user(name, password="a long password", **fields)
    return made


def lab(name: str = "orange-lab", *, simulated: bool = False) -> Lab:
    return Lab.objects.get_or_create(name=name, defaults={"simulated": simulated})[0]


def agent(name: str = "bench-1", *, of: Lab | None = None) -> Agent:
    return Agent.objects.get_or_create(lab=of or lab(), name=name)[0]


def tree(name: str = "freebsd-head") -> Tree:
    return Tree.objects.get_or_create(name=name)[0]


def revision(name: str, *, of: Tree | None = None, **fields: Any) -> Revision:
    """A revision with its own name as an alias; ``position`` follows from r123 and n123."""
    of = of or tree()
    fields.setdefault("position", position_of(name))
    made, new = Revision.objects.get_or_create(tree=of, name=name, defaults=fields)
    if new:
        RevisionAlias.objects.create(tree=of, revision=made, name=name)
    return made


def revisions(count: int, *, of: Tree | None = None, first: int = 300_000) -> list[Revision]:
    """``count`` revisions a day apart, every third number, without gaps; two statements."""
    of = of or tree()
    rows = [
        Revision(
            tree=of,
            name=f"r{first + 3 * index}",
            position=first + 3 * index,
            author_name="A. Committer",
            subject=f"Change number {index}",
            committed_at=DAY_ONE + timedelta(days=index),
            parent_known=index > 0,
        )
        for index in range(count)
    ]
    made = Revision.objects.bulk_create(rows)
    RevisionAlias.objects.bulk_create(
        RevisionAlias(tree=of, revision=each, name=each.name) for each in made
    )
    return made


def hardware(name: str = "Atom_C2758/T540-CR", *, of: Lab | None = None) -> Hardware:
    return Hardware.objects.get_or_create(name=name, defaults={"lab": of or lab()})[0]


def mode(name: str = "forwarding") -> Mode:
    found = Mode.objects.filter(name=name).first()
    if found is None:
        found = Mode.from_name(ModeName.parse(name))
        found.save()
    return found


def metric(name: str = "pps", *, unit: str = "packets/s", better: str = "more") -> Metric:
    defaults = {"unit": unit, "better": better}
    return Metric.objects.get_or_create(name=name, defaults=defaults)[0]


def series(
    *,
    of: Tree | None = None,
    on: Hardware | None = None,
    in_mode: Mode | str = "forwarding",
    of_metric: Metric | None = None,
) -> Series:
    return Series.objects.get_or_create(
        tree=of or tree(),
        hardware=on or hardware(),
        mode=mode(in_mode) if isinstance(in_mode, str) else in_mode,
        metric=of_metric or metric(),
    )[0]


def unsaved_point(of: Series, at: Revision, samples: Sequence[float]) -> Point:
    return Point(
        series=of,
        revision=at,
        position=at.position,
        runs=1,
        **(of_runs([(samples, None, f"build of {at}")]) | {"builds": 1}),
        **moments(list(samples))._asdict(),
    )


def point(of: Series, at: Revision, samples: Sequence[float] = FIVE_SAMPLES) -> Point:
    made = unsaved_point(of, at, samples)
    made.save()
    return made


def pair(of: Series, before: Revision, after: Revision, *, percent: float = -11.4) -> None:
    """Two points, the second ``percent`` off the first, which ministat finds beyond 1 %."""
    point(of, before)
    point(of, after, [one * (1 + percent / 100) for one in FIVE_SAMPLES])
    note(of)


def compared(at: str = "") -> list[Compared]:
    """Every point against the one before it along the tree, or those at a revision of that name."""
    revisions = Revision.objects.filter(name=at) if at else Revision.objects.all()
    return compared_at(list(revisions))


def note(of: Series) -> None:
    """Note the points of a series as the analysis does."""
    NotedPoint.objects.filter(series=of).delete()
    NotedPoint.objects.bulk_create(NotedPoint(**row) for row in noted_since({of.pk: 0}))


def finding(of: Series, previous: Revision, at: Revision, **fields: Any) -> Finding:
    """A confirmed loss of 11.4 % at ``at`` that cannot be elsewhere, unless ``fields`` differ, and
    ``alert`` is who holds it.
    """
    alert = fields.pop("alert", None)
    percent = fields.setdefault("change_pct", -11.4)
    defaults = {
        "state": Finding.State.CONFIRMED,
        "verdict": Verdict.BETTER if percent > 0 else Verdict.WORSE,
        "after": previous,
        "first": at,
        "last": at,
        "position": at.position,
        "here": 0.97,
        "low_pct": percent - 0.9,
        "high_pct": percent + 0.9,
        "level_before": 100.0,
        "level": 100.0 + percent,
        "revisions_before": 10,
        "revisions_after": 5,
        "score": 8.1,
        "needed": 3.3,
        "p_value": 1e-9,
        "probability": 0.995,
        "why": "Confirmed: 5 revisions lie lower.",
        "detector": 1,
        "first_detected_at": DAY_ONE,
        "updated_at": DAY_ONE,
    }
    made = Finding.objects.create(
        series=of, previous=previous, revision=at, **{**defaults, **fields}
    )
    if alert is not None:
        AlertFinding.objects.create(finding=made, alert=alert)
    return made


def alert(at: Revision, *, after: Revision, **fields: Any) -> Alert:
    """One of a regression by ``at`` or a commit between ``after`` and it, that stands; nobody
    triaged it, and it holds nothing.
    """
    times = {"opened_at": DAY_ONE, "updated_at": DAY_ONE}
    defaults = {"likeliest": at, "verdict": "regression", **times}
    return Alert.objects.create(tree=at.tree, revision=at, after=after, **{**defaults, **fields})


def analysis(of: Series, **summary: Any) -> SeriesAnalysis:
    """What the detector finds of a series as a whole: nothing, unless ``summary`` has it."""
    nothing = {
        "count": 0,
        "segments": [],
        "noise": None,
        "smallest": None,
        "newest": None,
        "is_bimodal": False,
        "is_drifting": False,
        "left_out": [],
        "why_not": TOO_FEW,
        "what_helps": "Nothing is known yet.",
        "why_retracted": [],
    }
    defaults = {"summary": nothing | summary}
    return SeriesAnalysis.objects.update_or_create(series=of, defaults=defaults)[0]


def known_builds(of: Series) -> SeriesAnalysis:
    """A history that shows how builds scatter: not at all."""
    return analysis(of, noise=noise(build_pct=0.0))


def noise(**figures: float | None) -> dict[str, float | None]:
    """The noise of a summary; what ``figures`` leave out is not known."""
    unknown = dict.fromkeys(("revision_pct", "within_pct", "run_pct", "boot_pct", "build_pct"))
    measured = {"measured_build_pct": figures.get("build_pct"), "measured_freedom": 20.0}
    return {**unknown, "memory": 0.0, "freedom": 20.0, **measured, **figures}


def segment(first: Revision, last: Revision, level: float) -> dict[str, Any]:
    """A level of a summary, from one revision to another."""
    ends = {
        name: {"position": at.position, "label": at.name}
        for name, at in (("first", first), ("last", last))
    }
    figures = {"count": 2, "level": level, "low": level, "high": level, "end_level": level}
    return {**ends, **figures, "drift_pct": 0.0}


def run(
    at: Revision,
    *,
    on: Hardware | None = None,
    in_mode: Mode | str = "forwarding",
    samples: Sequence[float] = FIVE_SAMPLES,
    of_metric: Metric | None = None,
    **fields: Any,
) -> Run:
    """A run with one measurement. Its series is made; its point is not."""
    its_series = series(of=at.tree, on=on, in_mode=in_mode, of_metric=of_metric)
    made = Run.objects.create(
        **{
            "uuid": uuid.uuid4(),
            "agent": agent(),
            "hardware": its_series.hardware,
            "revision": at,
            "mode": its_series.mode,
            "digest": "0" * 64,
            "kernel": Kernel.objects.get_or_create(build_id=f"build of {at.name}", ident="")[0],
            "measured_at": DAY_ONE,
            "received_at": DAY_ONE,
            **fields,
        }
    )
    Measurement.objects.create(run=made, series=its_series, samples=list(samples))
    return made


def history(
    of: Series, along: Iterable[Revision], levels: Sequence[float], *, spread: float = 0.004
) -> None:
    """A point at each revision around its level, noted as the analysis does."""
    points = [
        unsaved_point(of, at, _around(level, spread, index))
        for index, (at, level) in enumerate(zip(along, levels, strict=True))
    ]
    Point.objects.bulk_create(points)
    note(of)


def _around(level: float, spread: float, index: int) -> list[float]:
    """Five samples around ``level``; what looks like noise is the same in every test run."""
    wobble = ((index * 7919) % 13 - 6) / 6
    offsets = (0, -1, 1, -0.4, 0.5)
    return [level * (1 + spread * (wobble + offset)) for offset in offsets]


def subscription(of: User | None = None, name: str = "everything", **fields: Any) -> Subscription:
    """One that asks for everything at once, unless ``fields`` differ."""
    of = of or user(email="ada@example.org")
    return Subscription.objects.create(user=of, name=name, **{"changed_at": DAY_ONE, **fields})
