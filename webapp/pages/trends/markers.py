"""What is drawn beside the points of a trend chart: events of labs, releases and branch points, and
findings that are no change of level."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from django.urls import reverse

from webapp.analysis.models import Finding
from webapp.charts.text import with_minus
from webapp.charts.trend import Marker, MarkerKind
from webapp.events.models import LabEvent, Release
from webapp.events.queries import LocatedEvent, events_along
from webapp.pages.parts.conclusions import FindingRow
from webapp.results.models import Series, Tree

TEXT_LENGTH = 200


def markers_along(
    tree: Tree,
    *,
    hardware: Collection[int],
    revisions: Collection[int],
    positions: Sequence[int],
    findings: Iterable[tuple[Series, FindingRow]] = (),
) -> list[Marker]:
    """The markers of a chart that shows ``revisions`` (ids) at ``positions`` of what was measured
    on ``hardware`` (ids), along the tree, in two queries; ``findings`` are read already.
    """
    if not positions:
        return []
    events = events_along(tree, hardware=hardware, revisions=revisions)
    releases = Release.objects.of_tree(tree).filter(
        revision__position__range=(positions[0], positions[-1])
    )
    found = [
        *_of_events(events, positions),
        *_of_releases(releases, positions),
        *_of_findings(tree, findings, positions),
    ]
    return sorted(found, key=lambda one: (one.at, one.short))


def _of_events(events: Iterable[LocatedEvent], positions: Sequence[int]) -> Iterator[Marker]:
    """Before the first revision shown that each shows at; none outside what is shown."""
    for one in events:
        is_past = one.until is not None and one.until < positions[0]
        is_ahead = one.until is not None and one.after >= positions[-1]
        if not is_past and not is_ahead:
            yield _of_event(one, bisect_right(positions, one.after) - 0.5)


def _of_event(located: LocatedEvent, at: float) -> Marker:
    event = located.event
    return Marker(
        kind=_kind(event),
        at=at,
        text=event.text.split("\n", 1)[0][:TEXT_LENGTH],
        short=f"e{event.pk}",
        what=_what(event),
        when=located.when,
        subject=located.subject,
        href=event.get_absolute_url(),
    )


def _kind(event: LabEvent) -> MarkerKind:
    if event.kind == LabEvent.Kind.NOTE:
        return "note"
    return "epoch" if event.begins_epoch else "event"


def _what(event: LabEvent) -> str:
    kind = event.get_kind_display()
    return f"{kind}, begins an epoch" if event.begins_epoch else kind


def _of_releases(releases: Iterable[Release], positions: Sequence[int]) -> Iterator[Marker]:
    """At their revision, or before the next one shown."""
    for one in releases:
        position = one.revision.position
        at = bisect_left(positions, position)
        yield Marker(
            kind="release",
            at=at if positions[at] == position else at - 0.5,
            text=one.name,
            short=one.name[:12],
            what=one.get_kind_display(),
            when=one.revision.name,
            subject=one.revision.tree.name,
            href=one.get_absolute_url(),
        )


def _of_findings(
    tree: Tree, findings: Iterable[tuple[Series, FindingRow]], positions: Sequence[int]
) -> Iterator[Marker]:
    """At their revision; what goes on slowly where it begins, or at the edge."""
    for series, row in findings:
        is_slow = row.kind == Finding.Kind.SLOW
        alert, begin = row.membership__alert_id, row.after__position if is_slow else row.position
        commit = reverse("commit", args=[tree.name, row.revision__name])
        yield Marker(
            kind="finding",
            at=min(bisect_left(positions, begin), len(positions) - 1),
            text=f"{series.subject}: {with_minus(row.why)}"[:TEXT_LENGTH],
            short=row.kind,
            what=Finding.Kind(row.kind).label,
            when=f"{row.after__name} to {row.revision__name}" if is_slow else row.revision__name,
            subject=str(series.hardware),
            href=reverse("alert", args=[alert]) if alert else commit,
        )
