"""`/profiles/functions/`: what functions cost per packet over the revisions of a tree."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis import queries
from webapp.analysis.models import Finding
from webapp.analysis.services import Other, as_rows
from webapp.charts.svg import style_of
from webapp.charts.text import half_width, with_minus
from webapp.charts.trend import NARROW, Found, Level, Revisions, Trend, TrendSeries, draw, figure
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.links import diff_link, functions_link, side_link
from webapp.pages.profiles.profile import name_of
from webapp.results.models import Run
from webapp.stats.changes import Change, recoveries, what_helps, why_flagged, why_not
from webapp.stats.profiles.function_series import FEWEST_REVISIONS, FunctionSeries

COLUMNS = 4
"""Functions whose costs stand in the table of revisions."""

SHOWN: Cache[dict[str, Any]] = Cache(most=32, seconds=60.0)
"""Pages by their profiles. Rates of runs and events are not in the key: a minute late at most."""

VERDICTS = {"worse": "dearer", "better": "cheaper"}


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A change of a function's cost, and the difference of the profiles on both sides of it."""

    function: str
    found: Found
    revision: Run
    difference: str

    @property
    def verdict(self) -> str:
        """Dearer or cheaper."""
        return VERDICTS[self.found.verdict]

    @property
    def is_proven_step(self) -> bool:
        """Whether it is a change of level that is proven."""
        return self.found.kind == Finding.Kind.LEVEL and self.found.is_confirmed

    @property
    def kind(self) -> str:
        """What it is where it is no change of level."""
        return "" if self.found.kind == Finding.Kind.LEVEL else Finding.Kind(self.found.kind).label


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """A profiled revision, with the means and 95 % intervals of `COLUMNS` functions; ``why`` it
    does not take part, else the ``difference`` from the one before.
    """

    run: Run
    link: str
    boots: int = 0
    costs: Sequence[tuple[float, tuple[float, float] | None]] = ()
    difference: str = ""
    why: str = ""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The chart of the functions, what changed, and each revision."""
    try:
        asked = asked_of(request)
        profiles = queries.stored_profiles(asked)
        key = asked, tuple(one.pk for one in profiles)
        context = SHOWN.get(key, lambda: _context(queries.function_history(asked, profiles)))
    except queries.SideError as error:
        context = {"text": "", "problem": str(error)}
        return render(request, "pages/profiles/unknown.html", context, status=404)
    return render(request, "pages/profiles/functions.html", context)


def asked_of(request: HttpRequest) -> queries.AskedFunctions:
    """What the address asks for. Raises SideError for too little, and for too much."""
    given = {name: [one.replace("\0", "") for one in its] for name, its in request.GET.lists()}
    tree, hardware, mode, variant = (
        given.get(one, [""])[-1] for one in ("tree", "hardware", "mode", "variant")
    )
    functions = tuple(dict.fromkeys(filter(None, given.get("fn", ()))))
    with_calls = given.get("calls", [""])[-1] == "1"
    return queries.AskedFunctions(tree, hardware, mode, variant, functions, with_calls)


def _context(history: queries.FunctionHistory) -> dict[str, Any]:
    series, asked = history.series, history.asked
    newest = next(iter(history.runs.values()))
    here = functions_link(newest, asked.functions, with_calls=asked.with_calls)
    changes, taking_part = _changes(history), len(history.costs.revisions)
    return {  # kept: nothing of the call trees
        "asked": asked,
        "count": taking_part,
        "boots": history.boots,
        "unit": history.unit,
        "is_plain": history.costs.is_plain,
        "newest": history.profiles if history.is_cut else 0,
        "changed": history.changed,
        "shown": [one.function.name for one in series],
        "keys": [(one.function.name, style_of(mode_id=at)) for at, one in enumerate(series)],
        "run": newest,
        "headline": _headline(history, changes),
        "columns": min(len(series), COLUMNS),
        "fewest": FEWEST_REVISIONS,
        "toggles": [
            (text, functions_link(newest, asked.functions, with_calls=on), on == asked.with_calls)
            for text, on in (("Itself", False), ("With all it calls", True))
        ],
        **_drawn(history),
        "changes": changes,
        "unproven": [(one.function.name, _why_not(one)) for one in series if not one.changes],
        "revisions": list(_revisions(history)),
        "held_to": history.costs.labels[-1] if taking_part and history.costs.left_out else "",
        "others": [
            (named, functions_link(newest, [named], with_calls=asked.with_calls), one)
            for one in history.others
            for named in [name_of(*one)]
        ],
        "drawn": {name_of(*one.function) for one in series},
        "changed_link": functions_link(newest, with_calls=asked.with_calls),
        "json": f"{reverse('api:list_functions')}?{here.partition('?')[2]}",
    }


def _headline(history: queries.FunctionHistory, changes: Sequence[ChangeLine]) -> str:
    """The newest proven change of one function, how many changed, or what is asked."""
    series, proven = history.series, [one for one in changes if one.is_proven_step]
    functions = {one.function for one in proven}
    if len(functions) == 1:
        last = proven[0]
        return (
            f"{last.function} became {half_width(abs(last.found.percent or 0.0))} % "
            f"{last.verdict} per packet at {last.revision.revision.name}"
        )
    if functions:
        return f"{history.changed or len(functions)} functions changed what they cost per packet"
    named = series[0].function.name if len(series) == 1 else "functions"
    return f"What {named} costs per packet" if named != "functions" else "Costs per packet"


def _changes(history: queries.FunctionHistory) -> list[ChangeLine]:
    """Proven ones first, then the newest; then what is no change of level."""
    positions = history.costs.positions
    lines = [
        _line(history, one, found, change.previous.label)
        for one in history.series
        for change, found in zip(one.changes, _found(one, positions), strict=True)
    ]
    lines.sort(key=lambda one: (not one.found.is_confirmed, -one.found.index))
    marks = [
        _line(history, one, found, found.suspects[0])
        for one in history.series
        for found in _marks(one, positions)
    ]
    return lines + sorted(marks, key=lambda one: -one.found.index)


def _line(
    history: queries.FunctionHistory, series: FunctionSeries, found: Found, before: str
) -> ChangeLine:
    label = history.costs.labels[found.index]
    difference = _difference(history, before, label)
    return ChangeLine(series.function.name, found, history.runs[label], difference)


def _difference(history: queries.FunctionHistory, a: str, b: str) -> str:
    return diff_link(*(queries.address_of(history.runs[one]) for one in (a, b)))


def _found(series: FunctionSeries, positions: Sequence[int]) -> list[Found]:
    """The changes of a series as the chart draws them."""
    return [
        _mark(series, change, recovery is not None, positions)
        for change, recovery in zip(series.changes, recoveries(series.changes), strict=True)
    ]


def _mark(
    series: FunctionSeries, change: Change, is_recovered: bool, positions: Sequence[int]
) -> Found:
    at, after, last = (
        bisect_right(positions, one.position) - 1
        for one in (change.revision, change.after, change.last)
    )
    return Found(
        at=at,
        index=at,
        after=after,
        last=last,
        state="recovered" if is_recovered else change.state,
        verdict=change.verdict,
        percent=change.change_pct,
        low=change.low_pct,
        high=change.high_pct,
        probability=change.probability,
        suspects=(change.after.label, change.last.label),
        before=change.before,
        since=change.level,
        why=with_minus(why_flagged(change, series.analysis)) if series.analysis else "",
    )


def _marks(series: FunctionSeries, positions: Sequence[int]) -> list[Found]:
    """The findings of a series that are no change of level, as the chart draws them."""
    return [_other(one, positions) for one in as_rows(series.others, "less")]


def _other(one: Other, positions: Sequence[int]) -> Found:
    row = one.fields({position: index for index, position in enumerate(positions)})
    shares = [row["details"].get(name) for name in ("share_before", "share_after")]
    return Found(
        at=row["revision_id"],
        index=row["revision_id"],
        after=row["after_id"],
        last=row["last_id"],
        state=row["state"],
        verdict=row["verdict"],
        percent=row["change_pct"],
        low=row["low_pct"],
        high=row["high_pct"],
        probability=row["probability"],
        suspects=(one.previous.label, one.revision.label),
        before=row["level_before"],
        since=row["level"],
        why=with_minus(one.why),
        kind=one.kind,
        ratio=row["details"].get("ratio"),
        shares=None if None in shares else (100 * shares[0], 100 * shares[1]),
    )


def _levels(series: FunctionSeries, positions: Sequence[int]) -> list[Level]:
    drawn = (
        Level.within(
            positions,
            (one.first.position, one.last.position),
            (one.level, one.end_level),
            (one.low, one.high),
        )
        for one in series.levels
    )
    return [one for one in drawn if one is not None]


def trend_of(history: queries.FunctionHistory) -> Trend:
    """The series as the chart of trends draws them; a function stands where a mode does there."""
    runs = [history.runs[one] for one in history.costs.labels]
    times = [run.revision.committed_at for run in runs]
    positions = history.costs.positions
    ends = [[each or (None, None) for each in one.intervals] for one in history.series]
    return Trend(
        tree=history.asked.tree,
        metric="cost per packet",
        unit=history.unit,
        better="less",
        revisions=Revisions(
            [run.revision.name for run in runs],
            [run.revision.subject for run in runs],
            [None if one is None else int(one.timestamp() * 1000) for one in times],
            authors=[run.revision.author_name for run in runs],
        ),
        series=[
            TrendSeries(
                id=at,
                hardware=history.asked.hardware,
                machine=str(runs[-1].hardware),
                mode=one.function.name,
                style=style_of(mode_id=at),
                indices=range(len(runs)),
                counts=[len(each.samples) for each in one.points],
                centres=one.means,
                lows=[low for low, _ in ends[at]],
                highs=[high for _, high in ends[at]],
                levels=_levels(one, positions),
                found=_found(one, positions),
                marks=_marks(one, positions),
                better="less",
            )
            for at, one in enumerate(history.series)
        ],
    )


def _drawn(history: queries.FunctionHistory) -> dict[str, str]:
    """The chart wide and narrow; nothing where there is one revision at most."""
    if len(history.costs.revisions) < 2 or not history.series:
        return {}
    trend = trend_of(history)
    described = f"{trend.y_title} by revision of {trend.tree}"
    return {
        "image": draw(figure(trend), described=described),
        "narrow": draw(figure(trend, NARROW), described=described),
        "caption": trend.caption,
    }


def _why_not(series: FunctionSeries) -> str:
    """Why no change is found."""
    if series.analysis is None:
        return "Reaches 0.2 % of the samples at no revision: nothing is looked for."
    return with_minus(f"{why_not(series.analysis)} {what_helps(series.analysis)}")


def _revisions(history: queries.FunctionHistory) -> Iterator[RevisionLine]:
    """Every profiled revision, the newest first."""
    names = history.costs.labels
    index = {name: at for at, name in enumerate(names)}
    reasons = {one.name: one.why for one in history.costs.left_out}
    for name, run in history.runs.items():
        link, at = side_link(queries.address_of(run)), index.get(name)
        if at is None:
            why = reasons.get(name, "Measured after an event that begins an epoch.")
            yield RevisionLine(run, link, why=why)
            continue
        yield RevisionLine(
            run,
            link,
            len(history.costs.revisions[at].samples),
            [(one.means[at], one.intervals[at]) for one in history.series[:COLUMNS]],
            _difference(history, names[at - 1], name) if at else "",
        )
