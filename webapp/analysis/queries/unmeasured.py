"""Why nothing is measured for a side of a comparison, and what to name in its place."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any

from webapp.analysis.queries.sides import Side
from webapp.results.models import ModeName, Point, Revision, Run, Series

OFFERED = 5
"""Names that a message offers."""

REPEATED = 80
"""Characters of a name that a message repeats."""


def unmeasured(side: Side, revision: Revision) -> str:
    """The message: which part of ``side`` is no name of anything measured on its tree, else as
    which variants, else at which revisions nearest to this one there is something.
    """
    unknown = next(filter(None, _unknown(side, revision)), "")
    remedy = unknown or _as_variants(side, revision) or _nearest(side, revision)
    return f"nothing is measured for {side}{remedy}"


def _unknown(side: Side, revision: Revision) -> Iterator[str]:
    """Of each part what is wrong with its name; empty: it is known."""
    series = Series.objects.filter(tree=revision.tree)
    for part in ("hardware", "mode", "metric"):
        wanted = side.mode_name if part == "mode" else getattr(side, part)
        if wanted:
            yield _no_name(part, [wanted], set(series.values_list(f"{part}__name", flat=True)))
    if side.options:
        modes = map(ModeName.parse, series.values_list("mode__name", flat=True).distinct())
        yield _no_name("option", side.options, {one for mode in modes for one in mode.options})
    if side.session:
        runs = Run.objects.filter(revision=revision).exclude(session="")
        yield _no_name("session", side.sessions, set(runs.values_list("session", flat=True)))


def _no_name(part: str, wanted: Collection[str], known: Collection[str]) -> str:
    """``: no hardware 'Atm': Atom/T540 is known``; empty where one of those wanted is known."""
    if set(wanted) & set(known):
        return ""
    name = next(iter(wanted))[:REPEATED]
    near = get_close_matches(name, known, OFFERED) or sorted(known)[:OFFERED]
    offered = f", as {' or '.join(near)}" if near else ""
    return f": no {part} is called {name!r} there{offered}"


def _as_variants(side: Side, revision: Revision) -> str:
    """Where the revision was measured as another variant only."""
    found = (
        Point.objects.of_revision(revision)
        .of_variants()
        .exclude(series__variant__name=side.variant)
    )
    names = sorted(set(found.values_list("series__variant__name", flat=True)))
    if not names:
        return ""
    written = [str(Side(side.tree, side.revision, variant=name)) for name in names]
    more = ", …" if len(written) > OFFERED else ""
    return f"; variants are measured there: {', '.join(written[:OFFERED])}{more}"


def _nearest(side: Side, revision: Revision) -> str:
    """Where other revisions were measured so: those before and after."""
    named: dict[str, Any] = {"hardware": side.hardware, "mode": side.mode_name}
    named |= {"metric": side.metric, "variant": side.variant}
    wanted = {f"series__{part}__name": name for part, name in named.items() if name}
    points = Point.objects.filter(series__tree=revision.tree, **wanted)
    if not side.variant:
        points = points.filter(series__variant=None)
    both = (
        points.filter(position__lt=revision.position).order_by("-position"),
        points.filter(position__gt=revision.position).order_by("position"),
    )
    names = [one.revision.name for its in both for one in its.select_related("revision")[:1]]
    if not names:
        return ""
    are = "revisions are" if len(names) > 1 else "revision is"
    return f"; the nearest measured {are} {' and '.join(names)}"
