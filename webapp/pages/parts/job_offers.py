"""What it would take to prove a small change between two sets, as a sentence, and the jobs that a
page offers to ask for: what, how many boots, and whether it is asked already.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, sqrt
from statistics import fmean, variance
from typing import Any

from django.utils import timezone

from webapp.alerts.models import Alert
from webapp.alerts.queries import MinEffects
from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.queries import ComparedSet, build_noise_of
from webapp.charts.text import half_width
from webapp.jobs.models import Job, Worker
from webapp.jobs.queries import Capability, takes
from webapp.results.models import Hardware, Mode, Point, Revision, Series
from webapp.stats.compare import MORE_BUILDS, Comparison, Level
from webapp.stats.metrics import is_sample, worth_telling
from webapp.stats.power import NoiseLevels, Plan, Requirement, plan_for

TARGET_PERCENT = 1.0
A_FEW, MOST_ASKED = 5, 50
"""Boots asked for where nothing is known of the scatter, and of one job at most."""

MOST = Plan(builds=10, boots=20, runs=1)
MOST_OF_ONE_KIND = Plan(builds=1, boots=200, runs=1)
"""More than anybody would measure for one comparison. The second is for sides that hold several
builds, each a unit that carries all its noise, and for those where nothing is known of the noise
between builds, so that what more builds would bring is unknown.
"""

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


def power_line(base: ComparedSet, other: ComparedSet, judged: Comparison) -> str:
    """How many builds and boots a side would prove 1 % in 80 of 100 cases; empty without scatter.

    The scatter is that of the units the comparison rests on; between builds it is the history's.
    """
    unit, history = judged.change.unit, judged.change.history
    found = _needed(base, other, judged)
    if found is None:
        return ""
    needed, most = found
    is_counted = history is not None or unit == Level.BUILD
    counted = "" if is_counted else ", not counting the noise between builds"
    aim = f"To prove {TARGET_PERCENT:g} % here in 80 of 100 cases{counted}"
    if needed.plan is not None:
        return f"{aim}: {planned(needed, unit)}."
    most_told = worth_telling(needed.provable)
    provable = f"only {half_width(most_told)} %" if most_told else "nothing"
    return f"{aim}: not by {measured(most, unit)}, which would prove {provable}."


def planned(needed: Requirement, unit: Level) -> str:
    """A plan in words, as a range where the scatter is an estimate."""
    least, most = needed.least, needed.plan
    if least is None or most is None:
        return ""
    if least == most:
        return measured(most, unit)
    same = least.builds == most.builds
    text = measured(most, unit, least if same else None)
    if not same:
        text = f"{measured(least, unit)}, to {text}"
    return f"{text}, by the lower and the upper 80 % bound of the scatter"


def boots_to_ask_for(base: ComparedSet, other: ComparedSet, judged: Comparison) -> int:
    """How many boots of one side to ask for next: what the plan has in a build, else a few."""
    found = _needed(base, other, judged)
    plan = found[0].plan if found else None
    return A_FEW if plan is None else min(max(plan.boots, 1), MOST_ASKED)


def _needed(
    base: ComparedSet, other: ComparedSet, judged: Comparison
) -> tuple[Requirement, Plan] | None:
    """What would prove `TARGET_PERCENT`, and the most that was looked at; None without scatter."""
    unit, history = judged.change.unit, judged.change.history
    scatter = _scatter([_units(one, unit) for one in (base, other)])
    if scatter is None:
        return None
    noise, most = NoiseLevels(run=0.0, boot=scatter[0], df=scatter[1]), MOST_OF_ONE_KIND
    if history is not None:
        noise, most = replace(noise, build=history.percent, build_df=history.df), MOST
    return plan_for(TARGET_PERCENT, noise, most=most), most


def measured(plan: Plan, unit: Level, least: Plan | None = None) -> str:
    """A plan in words; with ``least``, of as many builds, as a range from that one on."""
    boots = f"{plan.boots}" if least is None else f"{least.boots} to {plan.boots}"
    units = f"{boots} {unit.value}{'' if plan.boots == 1 else 's'}"
    if plan.builds == 1:
        return f"{units} a side"
    return f"{plan.builds} builds a side, {units} of each"


def _units(one: ComparedSet, unit: Level) -> list[float]:
    """The mean of each unit of the comparison."""
    of_unit: dict[Hashable, list[float]] = defaultdict(list)
    keys: Sequence[Hashable] = range(len(one.samples))
    if unit == Level.BUILD:
        keys = one.levels.build_codes
    elif unit == Level.BOOT and one.levels.boot_codes is not None:
        keys = one.levels.boot_codes
    for key, value in zip(keys, one.samples, strict=True):
        of_unit[key].append(value)
    return [fmean(values) for values in of_unit.values()]


def _scatter(sides: Sequence[Sequence[float]]) -> tuple[float, int] | None:
    """Pooled standard deviation of units in percent of their means, and its degrees of freedom;
    None where there is none.

    What was stored before samples had bounds is left out: its squares leave the range of a double.
    """
    bounded = [side for side in sides if len(side) > 1 and all(map(is_sample, side))]
    usable = [side for side in bounded if fmean(side) > 0]
    freedom = sum(len(side) - 1 for side in usable)
    if not freedom:
        return None
    squares = sum(variance(side) * (len(side) - 1) / fmean(side) ** 2 for side in usable)
    scatter = 100 * sqrt(squares / freedom)
    return (scatter, freedom) if 0 < scatter < inf else None


@dataclass(frozen=True, slots=True)
class BootsPlan:
    """``boots`` of one build to ask for, and in ``text`` what they are enough for.

    ``knows_builds``: the history of the series shows how builds scatter.
    """

    boots: int
    text: str
    knows_builds: bool


def boots_plan(series: Series) -> BootsPlan:
    """What would prove the smallest effect worth an alert of ``series``: three queries.

    Where nothing is known of the scatter, or no plan proves it, a few are proposed.
    """
    analysis = SeriesAnalysis.objects.filter(series=series).values_list("summary", flat=True)
    summary: dict[str, Any] = analysis.first() or {}
    least = MinEffects.of([series.pk], tree=series.tree_id).for_series(series).percent
    aim = f"a change of {half_width(least)} %, the smallest worth an alert here"
    noise, knows_builds = _noise(summary), build_noise_of(summary) is not None
    if noise is None:
        text = "How much this series scatters is not known yet: a few boots are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    most = MOST if noise.build else MOST_OF_ONE_KIND
    needed = plan_for(least, noise, most=most)
    if needed.plan is None:
        text = f"Not even {measured(most, Level.BOOT)} would prove {aim}: a few are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    several = "; a job measures one build" if needed.plan.builds > 1 else ""
    text = f"To prove {aim}, in 80 of 100 cases: {planned(needed, Level.BOOT)}{several}."
    return BootsPlan(min(needed.plan.boots, MOST_ASKED), text, knows_builds)


def _noise(summary: dict[str, Any]) -> NoiseLevels | None:
    """Of boots with one run each, as jobs have them; None where the data does not show it."""
    noise = summary.get("noise") or {}
    run, boot, within = (noise.get(f"{name}_pct") for name in ("run", "boot", "within"))
    scatter = within if run is None or boot is None else hypot(run, boot)
    if not scatter:
        return None
    # What was analysed before the freedom was stored has that of revisions, which is less.
    df = max(noise.get("within_freedom") or noise.get("freedom") or 1.0, 1.0)
    build = build_noise_of(summary)
    if build is None:
        return NoiseLevels(run=0.0, boot=scatter, df=df)
    return NoiseLevels(run=0.0, boot=scatter, df=df, build=build.percent, build_df=build.df)


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
        """The label of the button."""
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
    for more of them would show no more of how builds scatter.
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
