"""Whether an alert smells of the lab rather than of a commit.

A canary is a series that no commit should move. Where the canary of the hardware moved at the same
commits, the machine changed; where it was measured on both sides and stayed, that speaks against.

Many series that change on one hardware alone may mean the machine as well. It is said only where
there is a witness: the same mode and metric on other hardware, measured on both sides, that did not
move although it would have shown a change of that size. Without a witness a commit that matters to
that hardware only looks the same, so nothing is said.

What was recorded of the lab is said too: an event between the two measured revisions of a finding,
or a canary (a fixed kernel, `webapp.events`) that left its limits between them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.events.queries import Disturbance, Window, disturbances
from webapp.results.models import Hardware, Point, Series

MANY = 3
"""Series from which on a change of one hardware is no longer one workload's matter."""


WITNESSES_NAMED = 3
LOOK = "Look at the machine before the commit."


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

    None when neither witness nor canary nor event says anything. Nobody looks for canaries among
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
