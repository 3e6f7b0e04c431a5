"""What happened to machines between two measurements: events, canaries that left their limits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Q
from django.db.models.functions import Coalesce
from django.utils.dateformat import format as date_format
from django.utils.text import Truncator
from django.utils.timezone import localtime

from webapp.events.models import Canary, LabEvent
from webapp.events.queries.canaries import WatchedCanary, watch
from webapp.results.models import Hardware, Revision, Run

TEXT_SHOWN = 200
"""Characters of the text of an event."""


@dataclass(frozen=True, slots=True)
class Window:
    """Two measured revisions of a tree on one machine, between which something changed: ``before``
    and ``after`` were measured, the commit lies later than ``low`` up to ``high`` (positions).
    """

    hardware: Hardware
    before: Revision
    after: Revision
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Disturbance:
    """``event`` lies between the two measurements on ``hardware``, or its ``canary`` left its
    limits (or came back, ``returned``) between them: ``at`` says when that was seen.
    """

    hardware: Hardware
    event: LabEvent | None = None
    canary: Canary | None = None
    at: datetime | None = None
    returned: bool = False

    @property
    def sentence(self) -> str:
        """The disturbance as text, as the pages of alerts have it with links."""
        if self.event is not None:
            one = self.event
            when = _moment(one.happened_at) or f"{one.first} to {one.last}"
            text = Truncator(one.text).chars(TEXT_SHOWN)
            return f"An event nearby: {text} ({one.get_kind_display()}, {one.subject}, {when})."
        if self.returned:
            return (
                f"The canary of {self.hardware} came back within its limits on {_moment(self.at)}."
            )
        return (
            f"The canary of {self.hardware} left its limits on {_moment(self.at)}: the machine "
            "itself changed between the two measurements."
        )


def _moment(at: datetime | None) -> str:
    return date_format(localtime(at), "Y-m-d H:i e") if at else ""


Times = tuple[datetime, datetime]  # of the first and of the last run
Span = tuple[datetime, datetime]  # later than the one, up to the other


def disturbances(windows: Sequence[Window]) -> list[Disturbance]:
    """What lies in any of ``windows``, each thing once, in five queries, and in two where nothing
    is recorded and no canary watches. Their machines have their labs loaded.
    """
    if not windows:
        return []
    machines = {one.hardware.pk: one.hardware for one in windows}
    watched = list(Canary.objects.filter(hardware__in=machines).named())
    if not watched and not LabEvent.objects.in_force().exists():
        return []
    times = _times(windows)
    spans = [(one, _between(times, one)) for one in windows]
    events = _candidates(spans)
    canaries = watch(watched)
    found = [*_events_in(spans, events), *_canaries_in(spans, canaries)]
    return list(dict.fromkeys(found))


def _times(windows: Sequence[Window]) -> dict[tuple[int, int], Times]:
    """When each revision was measured on each machine, from the first run to the last."""
    at = Coalesce("measured_at", "received_at")
    rows = (
        Run.objects.counted()
        .plain()
        .filter(
            hardware__in={one.hardware.pk for one in windows},
            revision__in={one.pk for window in windows for one in (window.before, window.after)},
        )
        .order_by()
        .values_list("hardware_id", "revision_id")
        .annotate(first=Min(at), last=Max(at))
    )
    return {(hardware, revision): (first, last) for hardware, revision, first, last in rows}


def _between(times: dict[tuple[int, int], Times], window: Window) -> Span | None:
    """From the last run of the revision measured first to the first run of the other. None where
    either was not measured, or they were measured in turn: nothing that happened between explains
    a difference then.
    """
    before = times.get((window.hardware.pk, window.before.pk))
    after = times.get((window.hardware.pk, window.after.pk))
    if before is None or after is None:
        return None
    if before[1] < after[0]:
        return before[1], after[0]
    return (after[1], before[0]) if after[1] < before[0] else None


def _candidates(spans: Sequence[tuple[Window, Span | None]]) -> list[LabEvent]:
    """Events about any of the machines and trees, in the stretch of time or of a tree that all
    windows lie in: which one each lies in is for `_lies_in`.
    """
    windows = [window for window, _ in spans]
    whole_tree = Q(hardware__isnull=True, lab__isnull=True)
    about = whole_tree | Q(hardware__in={one.hardware.pk for one in windows})
    about |= Q(lab__in={one.hardware.lab_id for one in windows})
    trees = {one.after.tree_id for one in windows}
    when = Q(
        first__position__lte=max(one.high for one in windows),
        last__position__gt=min(one.low for one in windows),
    )
    if known := [span for _, span in spans if span is not None]:
        when |= Q(
            happened_at__gt=min(start for start, _ in known),
            happened_at__lte=max(end for _, end in known),
        )
    of_tree = Q(tree__isnull=True) | Q(tree__in=trees)
    return list(LabEvent.objects.in_force().named().filter(about, of_tree, when).order_by("pk"))


def _events_in(
    spans: Sequence[tuple[Window, Span | None]], events: Sequence[LabEvent]
) -> Iterator[Disturbance]:
    for window, span in spans:
        for event in events:
            if _concerns(event, window) and _lies_in(event, window, span):
                yield Disturbance(window.hardware, event=event)


def _concerns(event: LabEvent, window: Window) -> bool:
    return (
        event.hardware_id in (None, window.hardware.pk)
        and event.lab_id in (None, window.hardware.lab_id)
        and event.tree_id in (None, window.after.tree_id)
    )


def _lies_in(event: LabEvent, window: Window, span: Span | None) -> bool:
    if event.first is not None and event.last is not None:
        return event.first.position <= window.high and event.last.position > window.low
    at = event.happened_at
    return span is not None and at is not None and span[0] < at <= span[1]


def _canaries_in(
    spans: Sequence[tuple[Window, Span | None]], canaries: Sequence[WatchedCanary]
) -> Iterator[Disturbance]:
    of: dict[int, list[WatchedCanary]] = defaultdict(list)
    for one in canaries:
        of[one.canary.hardware_id].append(one)
    for window, span in spans:
        for one in of[window.hardware.pk]:
            for changed, at, returned in _changes(one):
                if span is not None and changed[0] < span[1] and span[0] < changed[1]:
                    yield Disturbance(window.hardware, canary=one.canary, at=at, returned=returned)


def _changes(one: WatchedCanary) -> Iterator[tuple[Span, datetime, bool]]:
    """When the machine changed, as far as its canary tells (between the last boot on the one side
    and the first on the other), when that was seen, and whether it came back by it.
    """
    boots, sides = one.boots, one.chart.sides
    for excursion in one.chart.excursions:
        first = excursion.inside + 1
        yield (boots[excursion.inside].at, boots[first].at), boots[excursion.left].at, False
        if excursion.returned is not None:
            back = excursion.returned - 1
            last = max(at for at in range(back) if sides[at])
            yield (boots[last].at, boots[back].at), boots[excursion.returned].at, True
