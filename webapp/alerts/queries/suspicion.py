"""Which commits a change may have begun at, whether one of them may be named, and whether an alert
looks like the lab's rather than a commit's.

One rule for mails, pages, feeds, webhooks, the API and subscriptions. The chance of a finding is
that of the step between two measured revisions; the commits between them, measured by nobody, share
it. A commit is named, and with it its author, only when it holds at least 80 % alone; commits are
counted only where all of them are known (`Revision.objects.spans`).

Hints at the lab: a canary of the hardware (a series that no commit should move) moved at the same
commits; one that was measured on both sides and stayed speaks against. Many series that change on
one hardware alone count only where there is a witness: the same mode and metric on other hardware,
measured on both sides, that did not move although it would have shown a change of that size. An
event between the two measured revisions of a finding, or a canary that left its limits there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from webapp.alerts.models import Alert
from webapp.alerts.queries.commit_findings import FindingAt, LargestFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.events.queries import Disturbance, Window, disturbances
from webapp.results.models import Hardware, Point, Revision, Series, Span
from webapp.results.queries import REVISION_NAMES, revision_from, rows_of
from webapp.stats.several_series import Location, common_location

SURE = 0.8
"""What one commit must hold before it is named: the smallest chance at which four in five who are
notified that it was their commit are notified rightly.
"""
INTERVAL = 0.95
"""What the suspects of a finding or an alert hold together."""
NARROWEST = f"""
SELECT DISTINCT ON (alert.id) alert.id, finding.here,
       {", ".join(f"previous.{name}" for name in REVISION_NAMES)}
  FROM alerts_alert AS alert
  JOIN alerts_alertfinding AS membership ON membership.alert_id = alert.id
  JOIN analysis_finding AS finding ON finding.id = membership.finding_id
       AND finding.revision_id = alert.likeliest_id
  JOIN results_revision AS previous ON previous.id = finding.previous_id
 WHERE alert.id = ANY(%s) AND finding.here >= %s AND finding.state = ANY(%s)
 ORDER BY alert.id, previous.position DESC, finding.here DESC
"""  # noqa: S608 (names of columns; no value of a request is in this text)
FEWEST_SERIES = 2

MANY = 3
"""Series from which on a change of one hardware is no longer one workload's matter."""


WITNESSES_NAMED = 3
LOOK = "Look at the machine before the commit."


class Suspicion(NamedTuple):
    """A change began after ``after``, at the latest in ``last``, with ``chance`` given that it is
    real. ``commits`` is how many share that chance; None where others than the ``known`` revisions
    may lie between. ``is_one_build``: it rests on one build a side, and names nobody's commit.
    ``is_slow``: it went on from ``after`` to ``last``, and no commit is to blame. ``is_excursion``:
    a machine was off at ``last`` alone, and none is either.
    """

    after: Revision
    last: Revision
    chance: float
    commits: int | None = None
    known: int = 0
    is_one_build: bool = False
    is_slow: bool = False
    is_excursion: bool = False

    @property
    def blames_none(self) -> bool:
        """Whether no commit is to blame, by what kind of alert it is."""
        return self.is_slow or self.is_excursion

    @property
    def has_gaps(self) -> bool:
        """Whether commits that are not known here may be to blame as well."""
        return self.commits is None and not self.blames_none

    @property
    def gap_text(self) -> str:
        """``9 revisions known``, where others may lie between several; else empty."""
        return f"{self.known:,} revisions known" if self.has_gaps and self.known > 1 else ""

    @property
    def commit(self) -> Revision | None:
        """The one that may be named; None while several share the suspicion."""
        is_sure = self.commits == 1 and self.chance >= SURE
        names_none = self.is_one_build or self.blames_none
        return self.last if is_sure and not names_none else None


@dataclass(frozen=True, slots=True)
class SharperInterval:
    """The commits later than ``after`` up to ``last``, by name, hold the beginning of the changes
    of ``series`` series on ``machines`` machines with 95 %, if it is one; ``likeliest`` is the
    likeliest first revision at the new levels, with the chance ``here``. ``alone`` is what the
    clearest of them shows by itself.
    """

    after: str
    likeliest: str
    last: str
    here: float
    series: int
    machines: int
    alone: Finding


def suspicion_of(alert: Alert) -> Suspicion:
    """Which commits ``alert`` suspects, in two queries; see `suspicions_of`."""
    return suspicions_of([alert])[alert.pk]


def suspicions_of(alerts: Iterable[Alert]) -> Mapping[int, Suspicion]:
    """Which commits each alert (by id) suspects, in two queries; needs their revisions loaded.

    The commit that a bisect measured and named comes first; then the narrowest step that a finding
    of the likeliest revision is sure of; else the whole interval of suspects.
    """
    rows = list(alerts)
    narrowest = _narrowest(rows)
    found = {
        row.pk: _of_alert(row, narrowest.get(row.pk))._replace(is_one_build=row.one_build)
        for row in rows
    }
    return _counted(found, bisected={row.pk for row in rows if _is_bisected(row)})


def suspicions_of_findings(
    findings: Iterable[Finding | FindingAt | LargestFinding],
) -> Mapping[int, Suspicion]:
    """Which commits each finding (by id) suspects, in one query; needs their revisions loaded."""
    return _counted({row.pk: _of_finding(row) for row in findings})


def sharper_interval(findings: Sequence[Finding]) -> SharperInterval | None:
    """What findings of one alert, read with builds and revisions, show together of their place;
    None where that is no sharper than the clearest of them alone.
    """
    rows = [row for row in findings if row.locations and row.state in Finding.PROVEN]
    if len({row.series_id for row in rows}) < FEWEST_SERIES:
        return None
    found = common_location([_location(row) for row in rows])
    clearest = max(rows, key=lambda row: (row.score, -row.pk))
    if not _is_sharper((found.after, found.last), clearest):
        return None
    names = {position: name for row in rows for position, name, _ in row.locations}
    return SharperInterval(
        names[found.after],
        names[found.likeliest],
        names[found.last],
        found.here,
        len({row.series_id for row in rows}),
        len({row.series.hardware_id for row in rows}),
        clearest,
    )


def _narrowest(alerts: Sequence[Alert]) -> Mapping[int, tuple[float, Revision]]:
    """Of the findings of each alert that are sure of its likeliest revision, the chance and the
    revision before of the one with the narrowest step.
    """
    if not alerts:
        return {}
    rows = rows_of(NARROWEST, [[row.pk for row in alerts], SURE, list(Finding.ALERTED)])
    return {pk: (here, revision_from(previous)) for pk, here, *previous in rows}


def _is_bisected(alert: Alert) -> bool:
    is_named = alert.named_id is not None and alert.named_id == alert.likeliest_id
    return is_named and (alert.named_probability or 0.0) >= SURE


def _of_alert(alert: Alert, narrowest: tuple[float, Revision] | None) -> Suspicion:
    if alert.is_slow:
        return Suspicion(alert.after, alert.revision, 1.0, is_slow=True)
    if alert.is_excursion:
        return Suspicion(alert.after, alert.revision, 1.0, is_excursion=True)
    if _is_bisected(alert):
        return Suspicion(alert.after, alert.likeliest, alert.named_probability or 0.0)
    if narrowest is None:
        return Suspicion(alert.after, alert.revision, INTERVAL)
    here, after = narrowest
    if after.position < alert.after.position < alert.likeliest.position:
        after = alert.after
    return Suspicion(after, alert.likeliest, here)


def _of_finding(row: Finding | FindingAt | LargestFinding) -> Suspicion:
    is_step = (row.after.pk, row.last.pk) == (row.previous.pk, row.revision.pk)
    if row.here >= SURE or is_step:
        is_one_build = row.state == Finding.State.ONE_BUILD
        return Suspicion(row.previous, row.revision, row.here, is_one_build=is_one_build)
    return Suspicion(row.after, row.last, INTERVAL)


def _counted(
    found: Mapping[int, Suspicion], bisected: Collection[int] = ()
) -> Mapping[int, Suspicion]:
    """With the number of commits of each: one where a bisect measured its neighbours. Findings at
    one commit share their steps: each is counted once.
    """
    steps = {
        pk: (one.last.tree_id, one.after.position, one.last.position) for pk, one in found.items()
    }
    ranges = list(dict.fromkeys(steps.values()))
    spans = dict(zip(ranges, Revision.objects.spans(ranges), strict=True))
    return {
        pk: one._replace(
            commits=1 if pk in bisected else _shared(spans[steps[pk]]), known=spans[steps[pk]].known
        )
        for pk, one in found.items()
    }


def _shared(span: Span) -> int | None:
    return span.known if span.is_whole else None


def _location(row: Finding) -> Location:
    positions, _, masses = zip(*row.locations, strict=True)
    return Location(row.series.hardware_id, positions, masses, getattr(row, "build", None) or "")


def _is_sharper(found: tuple[int, int], alone: Finding) -> bool:
    """Inside the interval of the clearest, and shorter."""
    after, last = found
    ends = alone.after.position, alone.last.position
    return ends[0] <= after < last <= ends[1] and (after, last) != ends


@dataclass(frozen=True, slots=True)
class LabHint:
    """What is known of the machines. ``hardware`` is the one that all findings are on, if any;
    ``witnesses`` are other hardware's series that stayed, where many moved on that one alone;
    ``moved`` and ``stayed`` are canaries of the hardware that the findings are on; ``disturbances``
    are what was recorded of it between the measurements on either side.
    """

    hardware: Hardware | None
    witnesses: Sequence[Series]
    moved: Sequence[Series]
    stayed: Sequence[Series]
    disturbances: Sequence[Disturbance] = ()

    @property
    def smells(self) -> bool:
        """Whether anything speaks for the lab rather than the commit."""
        return bool(self.witnesses or self.moved or self.disturbances)

    @property
    def sentences(self) -> list[str]:
        """The same as text, as the alert's page has it with links."""
        found = []
        if self.moved:
            found.append(
                f"The canary {_named(self.moved)} moved at the same commits, and no commit should "
                f"ever move it. {LOOK}"
            )
        if self.witnesses:
            more = " and more" if len(self.witnesses) > WITNESSES_NAMED else ""
            look = "" if self.stayed or self.moved else f" {LOOK}"
            found.append(
                f"Every finding is on {self.hardware}, and on other hardware the same was measured "
                "before and after and did not move: "
                f"{_named(self.witnesses[:WITNESSES_NAMED])}{more}.{look}"
            )
        found += [one.sentence for one in self.disturbances]
        if self.stayed:
            found.append(
                f"{'But the' if self.smells else 'The'} canary {_named(self.stayed)} was measured "
                "before and after and did not move: that speaks against the lab."
            )
        return found


def _named(series: Sequence[Series]) -> str:
    return ", ".join(f"{one.mode} on {one.hardware}" for one in series)


def lab_hint(
    alert: Alert, findings: Sequence[Finding], *, canaries: bool = True, recorded: bool = True
) -> LabHint | None:
    """The hint about an alert and all its ``findings`` (with subjects), in eight queries at most.

    None when neither witness nor canary nor event is evidence. Nobody looks for canaries among
    the series, nor for what was recorded of the lab, where the caller knows that there are none
    (`facts_beside`).
    """
    machines = {row.series.hardware_id: row.series.hardware for row in findings}
    if not machines:
        return None
    only = next(iter(machines.values())) if len(machines) == 1 else None
    many = only is not None and len({row.series_id for row in findings}) >= MANY
    others = list(_stayed(alert).exclude(hardware=only)) if many else []
    chosen = _canaries(alert, machines)
    watched = {row.pk for row in chosen} if canaries else set()
    moved = list(chosen.filter(Exists(_overlapping(alert, Finding.PROVEN)))) if watched else []
    still = list(_stayed(alert).filter(pk__in=watched)) if watched else []
    smallest = _smallest([*others, *still]) if others or still else {}
    hint = LabHint(
        hardware=only,
        witnesses=_able(others, smallest, _sizes(findings)),
        moved=moved,
        stayed=[
            row
            for row in still
            if smallest.get(row.pk, float("inf")) <= _largest(findings, row.hardware)
        ],
        disturbances=disturbances([_window(row) for row in findings]) if recorded else (),
    )
    return hint if hint.smells or hint.stayed else None


def _window(finding: Finding) -> Window:
    """Where a finding may have begun: between the revisions around its suspects."""
    return Window(
        hardware=finding.series.hardware,
        before=finding.after,
        after=finding.last,
        low=finding.after.position,
        high=finding.last.position,
    )


def _canaries(alert: Alert, machines: Collection[int]) -> QuerySet[Series]:
    found = Series.objects.named().filter(settings__is_canary=True, tree=alert.tree_id)
    return found.filter(hardware__in=machines).order_by("hardware__name", "mode__name")


def _overlapping(alert: Alert, states: Iterable[str]) -> QuerySet[Finding]:
    """Findings of a series that suspect a commit that the alert suspects."""
    return Finding.objects.filter(
        series=OuterRef("pk"),
        state__in=states,
        after__position__lt=alert.revision.position,
        last__position__gt=alert.after.position,
    )


def _stayed(alert: Alert) -> QuerySet[Series]:
    """Series with points on both sides and no finding that suspects the same."""
    points = Point.objects.filter(series=OuterRef("pk"))
    return (
        Series.objects.named()
        .plain()
        .filter(
            ~Exists(_overlapping(alert, Finding.LIVE)),
            Exists(points.filter(position__lte=alert.after.position)),
            Exists(points.filter(position__gte=alert.revision.position)),
            tree=alert.tree_id,
        )
        .order_by("hardware__name", "mode__name")
    )


Sizes = dict[tuple[int, int], float]  # (mode, metric) → percent


def _sizes(findings: Sequence[Finding]) -> Sizes:
    return {
        (row.series.mode_id, row.series.metric_id): abs(row.change_pct)
        for row in findings
        if row.change_pct is not None
    }


def _able(series: Sequence[Series], smallest: dict[int, float], sizes: Sizes) -> list[Series]:
    """Those that would have shown a change as large as that of the same mode and metric."""
    return [
        row
        for row in series
        if smallest.get(row.pk, float("inf")) <= sizes.get((row.mode_id, row.metric_id), 0.0)
    ]


def _largest(findings: Sequence[Finding], machine: Hardware) -> float:
    """The largest change on ``machine``, in percent; one beyond the double range is infinite."""
    its = [row.change_pct for row in findings if row.series.hardware_id == machine.pk]
    return max((float("inf") if one is None else abs(one) for one in its), default=0.0)


def _smallest(series: Sequence[Series]) -> dict[int, float]:
    """The smallest change that the history of each could prove, in percent, where it is known."""
    rows = SeriesAnalysis.objects.filter(series__in=series).values_list("series_id", "summary")
    found = {pk: (summary.get("smallest") or {}).get("pct") for pk, summary in rows}
    return {pk: percent for pk, percent in found.items() if percent is not None}
