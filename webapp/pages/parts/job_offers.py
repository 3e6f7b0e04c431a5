"""The jobs that a page offers to ask for: what, how many boots, and whether it is asked already."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from webapp.alerts.models import Alert
from webapp.jobs.models import Job, Worker
from webapp.jobs.queries import Capability, takes
from webapp.pages.parts.power import A_FEW, BootsPlan, boots_plan
from webapp.results.models import Hardware, Mode, Point, Revision, Series
from webapp.stats.compare import MORE_BUILDS

MORE_RUNS, FILL_GAP, CONFIRM, PROFILE = (
    Job.Purpose.MORE_RUNS,
    Job.Purpose.FILL_GAP,
    Job.Purpose.CONFIRM,
    Job.Purpose.PROFILE,
)
PROFILED_BOOTS = 5
"""Boots of each side that a profile asks for: .5 points in a function of 1 % show with them."""

TEXTS = {
    MORE_RUNS: "More runs of this point",
    FILL_GAP: "Fill this gap",
    CONFIRM: "Confirm this candidate",
    PROFILE: "Profile both sides",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """Jobs that a form proposes: one of ``boots`` boots for each of ``revisions``; or, with
    ``builds``, so many for each, every one of a build of its own.
    """

    purpose: Job.Purpose
    revisions: Sequence[Revision]
    hardware: Hardware
    mode: Mode
    boots: int
    note: str = ""
    builds: int = 0


@dataclass(slots=True)
class _Wanted:
    """What of a job matters to a worker."""

    hardware_id: int
    mode_id: int
    tree_id: int
    rebuild: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A form: what it asks for, the jobs that stand for the same, and whether any worker can.

    ``revisions`` are those that nobody asked for yet; without any there is no form.
    """

    ask: Ask
    already_queued: Sequence[Job]
    is_served: bool

    @property
    def text(self) -> str:
        """What the button says."""
        if self.ask.builds:
            return f"{self.ask.builds} more builds a side"
        return TEXTS[self.ask.purpose]

    @property
    def revisions(self) -> list[Revision]:
        """The revisions that no job was asked for yet."""
        asked = Counter(job.revision_id for job in self.already_queued)
        wanted = max(self.ask.builds, 1)
        return [revision for revision in self.ask.revisions if asked[revision.pk] < wanted]


@dataclass(frozen=True, slots=True)
class Offers:
    """The forms about one series, and what the proposed number of boots is enough for."""

    series: Series
    forms: Sequence[Offer]
    plan: BootsPlan

    @property
    def is_starved(self) -> bool:
        """Whether no worker that could do any of it has spoken lately."""
        return not any(form.is_served for form in self.forms)


def offers_at_point(series: Series, point: Point) -> Offers:
    """More runs of ``point`` (with its revision), and the gaps on either side of it."""
    plan = boots_plan(series)
    others = Point.objects.of_series(series).select_related("revision")
    before = others.filter(position__lt=point.position).last()
    after = others.filter(position__gt=point.position).first()
    ends = [
        (before.revision if before else None, point.revision),
        (point.revision, after.revision if after else None),
    ]
    gaps = (_gap(series, *pair, plan=plan) for pair in ends)
    asks = [_ask(MORE_RUNS, [point.revision], series, plan), *filter(None, gaps)]
    if before and min(before.builds, point.builds) == 1 and not plan.knows_builds:
        asks.append(_builds([before.revision, point.revision], series))
    return Offers(series, offers(asks), plan)


def offers_at_alert(alert: Alert, series: Series) -> Offers:
    """The likeliest candidate with its parent, the middle of the suspects, more of the old end.

    Of one build a side more builds of both, because more boots of the same ones settle nothing.
    """
    if alert.one_build:
        asks = [_builds([alert.after, alert.likeliest], series)]
        return Offers(series, offers(asks), BootsPlan(A_FEW, "", knows_builds=False))
    plan = boots_plan(series)
    parent = Revision.objects.before(alert.likeliest).first()
    pair = [alert.likeliest] if parent is None else [parent, alert.likeliest]
    note = "" if parent is None else f"The candidate and the commit before it, {parent}."
    gap = _gap(series, alert.after, alert.revision, plan=plan)
    asks = [
        _ask(CONFIRM, pair, series, plan, note),
        *filter(None, [gap]),
        _ask(MORE_RUNS, [alert.after], series, plan, "The last one at the old level."),
    ]
    if parent is not None:
        note = "Which functions became dearer; boots for profiles alone."
        asks.append(Ask(PROFILE, pair, series.hardware, series.mode, PROFILED_BOOTS, note))
    return Offers(series, offers(asks), plan)


def offers(asks: Sequence[Ask]) -> list[Offer]:
    """The forms of ``asks``: two queries, however many."""
    jobs = list(
        Job.objects.asked_for(revision for ask in asks for revision in ask.revisions)
        .select_related("revision")
        .order_by("pk")
    )
    workers = Worker.objects.alive(timezone.now())
    hands = [capability for worker in workers for capability in worker.capabilities]
    return [_offer(ask, jobs, hands) for ask in asks]


def _offer(ask: Ask, jobs: Sequence[Job], hands: Sequence[Capability]) -> Offer:
    wanted = {revision.pk for revision in ask.revisions}
    same = [
        job
        for job in jobs
        if job.revision_id in wanted
        and (job.hardware_id, job.mode_id, job.metric_id) == (ask.hardware.pk, ask.mode.pk, None)
    ]
    if ask.purpose == PROFILE:
        same = [job for job in same if job.purpose == PROFILE]
    rebuild = bool(ask.builds)
    queued = [job for job in same if job.rebuild] if rebuild else _first_of_each_revision(same)
    needs = _Wanted(ask.hardware.pk, ask.mode.pk, ask.revisions[0].tree_id, rebuild)
    return Offer(ask, queued, takes(hands, needs))


def _first_of_each_revision(jobs: Sequence[Job]) -> list[Job]:
    return list({job.revision_id: job for job in reversed(jobs)}.values())


def builds_ask(revisions: Sequence[Revision], hardware: Hardware, mode: Mode) -> Ask:
    """What settles whether two revisions differ, or only their builds: a few boots of each build,
    for more of them would tell no more of how builds scatter.
    """
    note = "Builds of equal code differ too; how much is not known here."
    return Ask(MORE_RUNS, revisions, hardware, mode, A_FEW, note, builds=MORE_BUILDS)


def _builds(revisions: Sequence[Revision], series: Series) -> Ask:
    for revision in revisions:
        revision.tree = series.tree
    return builds_ask(revisions, series.hardware, series.mode)


def _ask(
    purpose: Job.Purpose,
    revisions: Sequence[Revision],
    series: Series,
    plan: BootsPlan,
    note: str = "",
) -> Ask:
    for revision in revisions:
        revision.tree = series.tree
    return Ask(purpose, revisions, series.hardware, series.mode, plan.boots, note)


def _gap(
    series: Series, earlier: Revision | None, later: Revision | None, *, plan: BootsPlan
) -> Ask | None:
    """The middle of the commits between two that the series does not hold, if there are any."""
    if earlier is None or later is None:
        return None
    unmeasured = Revision.objects.between(earlier, later).unmeasured_in(series.pk)
    count = unmeasured.count()
    if not count:
        return None
    middle = unmeasured[(count - 1) // 2]
    commits = "1 commit" if count == 1 else f"{count} commits"
    verb = "is" if count == 1 else "are"
    which = "" if count == 1 else f"; {middle} is the middle one"
    note = f"{commits} between {earlier} and {later} {verb} not measured{which}."
    return _ask(FILL_GAP, [middle], series, plan, note)
