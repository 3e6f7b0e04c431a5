"""What to do next about an alert: at most three steps, each with what it costs."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil, log2
from urllib.parse import quote

from django.urls import reverse

from webapp.alerts.queries import Elsewhere, Listed, machine_elsewhere
from webapp.analysis.models import Finding, Verdict
from webapp.analysis.queries import compare_link, sides_of
from webapp.charts.text import half_width
from webapp.jobs.models import Job
from webapp.jobs.queries import Durations
from webapp.pages.alerts.texts import headline, moved
from webapp.pages.parts.job_offers import A_FEW, Ask, Offer, builds_ask, offers
from webapp.pages.parts.links import with_query
from webapp.results.models import Hardware, Mode, Revision
from webapp.stats.compare import MORE_BUILDS

MOST = 3

SPREAD = 4
"""Revisions between the ends of a slow loss that are offered to be measured: its quarters."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. ``cost`` is machine time, empty where it takes none. ``link`` goes to where
    it is done; ``ask`` is the job that agents are asked for, and ``offer`` its form, where an agent
    serves it; else ``command`` uploads what was measured by hand.
    """

    title: str
    text: str
    cost: str = ""
    link: tuple[str, str] | None = None
    ask: Ask | None = None
    offer: Offer | None = None
    command: str = ""


def steps_of(one: Listed, *, signed_in: bool) -> list[Step]:
    """The steps about an alert, in six statements at most; none where it is closed."""
    worst = one.members.worst
    if worst is None or not one.alert.is_open or not one.alert.is_active:
        return []
    if one.alert.is_slow:
        return [_compare_ends(worst), *_with_offers([_spread_boots(one, worst)])]
    if one.alert.is_excursion:
        return [_look_at_runs(worst), *_with_offers([_measure_again(one, worst)])]
    elsewhere = None if one.alert.one_build else machine_elsewhere(one.alert, worst.series)
    machines = [worst.series.hardware_id, *([elsewhere.hardware.pk] if elsewhere else [])]
    times = Durations.of(machines)
    found = [
        _more_builds(one, worst, times),
        _ask_author(one, worst, signed_in=signed_in),
        _bisect(one, worst, times),
        _measure_elsewhere(one, worst, elsewhere, times),
    ]
    return _with_offers([step for step in found if step is not None][:MOST])


def _compare_ends(worst: Finding) -> Step:
    text = f"{worst.previous} against {worst.revision}, with every sample."
    link = (compare_link(*sides_of(worst)), "Compare the ends")
    return Step("Look at what was lost in all.", text, link=link)


def _look_at_runs(worst: Finding) -> Step:
    text = f"{worst.previous} against {worst.revision}, with every sample."
    link = (compare_link(*sides_of(worst)), "Compare with the revision before")
    return Step("Look at the runs.", text, link=link)


def _measure_again(one: Listed, worst: Finding) -> Step:
    """Another boot says whether the build was odd, or the boot."""
    series = worst.series
    ask = _ask([one.alert.revision], series.hardware, series.mode)
    text = "Another boot tells the build's trouble from that of the boot."
    cost = _cost(Durations.of([series.hardware_id]), series.hardware_id, series.mode_id, A_FEW)
    return Step(f"Measure {one.alert.revision} again.", text, cost, ask=ask)


def _spread_boots(one: Listed, worst: Finding) -> Step:
    """Boots of revisions between the ends: what no one saw may have had parts."""
    series = worst.series
    between = Revision.objects.between(one.alert.after, one.alert.revision).order_by("position")
    chosen = between[:: max(between.count() // SPREAD, 1)][:SPREAD]
    ask = _ask([one.alert.after, *chosen, one.alert.revision], series.hardware, series.mode)
    text = "More builds between the ends show whether it went evenly or in parts."
    cost = _cost(Durations.of([series.hardware_id]), series.hardware_id, series.mode_id, A_FEW * 6)
    return Step("Spread boots over the window.", text, cost, ask=ask)


def _more_builds(one: Listed, worst: Finding, times: Durations) -> Step | None:
    if not one.alert.one_build:
        return None
    ask = builds_ask(
        [one.suspicion.after, one.suspicion.last], worst.series.hardware, worst.series.mode
    )
    boots = 2 * MORE_BUILDS * ask.boots
    text = "More boots of the same builds do not settle it; other builds do."
    cost = _cost(times, worst.series.hardware_id, worst.series.mode_id, boots)
    return Step(f"Measure {MORE_BUILDS} more builds a side.", text, cost, ask=ask)


def _ask_author(one: Listed, worst: Finding, *, signed_in: bool) -> Step | None:
    commit = one.suspicion.commit
    if commit is None or not commit.author_name or worst.verdict != Verdict.WORSE:
        return None
    gains = [row for row in one.members.findings if row.verdict == Verdict.BETTER]
    text = f"The same commit: {gains[0].series.mode} {moved(gains[0])}." if gains else ""
    title = f"Ask {commit.author_name} whether {worst.series.mode.workload} may lose."
    link = None
    if signed_in and commit.author_email:
        subject = quote(f"{headline(one)}: alert {one.alert.pk}")
        address = f"mailto:{quote(commit.author_email, safe='@')}?subject={subject}"
        link = (address, f"Write to {commit.author_name}")
    return Step(title, text, link=link)


def _bisect(one: Listed, worst: Finding, times: Durations) -> Step | None:
    """A search halves the commits in question; noise may ask for more boots than that."""
    commits = one.suspicion.commits
    if one.suspicion.commit is not None or one.alert.one_build or one.suspicion.is_one_build:
        return None
    candidates = one.suspicion.known if commits is None else commits
    if candidates < 2:
        return None
    boots = A_FEW * ceil(log2(candidates))
    cost = _cost(times, worst.series.hardware_id, worst.series.mode_id, boots)
    address = with_query(reverse("bisect_new"), [("alert", str(one.alert.pk))])
    if commits is None:
        title = "Narrow it down."
        text = (
            f"{candidates:,} known revisions are in question, and other commits may lie between: "
            "import the history of the tree to search all."
        )
    else:
        title = "Find the commit."
        text = f"{commits:,} commits are in question, and no one of them may be named yet."
    return Step(title, text, cost, link=(address, "Bisect"))


def _measure_elsewhere(
    one: Listed, worst: Finding, elsewhere: Elsewhere | None, times: Durations
) -> Step | None:
    if elsewhere is None:
        return None
    hardware, mode, likeliest = elsewhere.hardware, worst.series.mode, one.alert.likeliest
    verb = "lose" if worst.verdict == Verdict.WORSE else "gain"
    text = (
        f"{hardware} has not measured {likeliest}; it detects "
        f"{half_width(elsewhere.detects)} % in {mode}."
    )
    ask = _ask([one.alert.after, likeliest], hardware, mode)
    cost = _cost(times, hardware.pk, mode.pk, 2 * A_FEW)
    return Step(f"See if other machines {verb} too.", text, cost, ask=ask)


def _ask(revisions: Sequence[Revision], hardware: Hardware, mode: Mode) -> Ask:
    return Ask(Job.Purpose.FILL_GAP, revisions, hardware, mode, A_FEW)


def _cost(times: Durations, hardware: int, mode: int, boots: int) -> str:
    """``about 10 boots, 50 min``; a guess until a job has run there, and said to be one."""
    seconds = times.estimate(hardware=hardware, mode=mode, boots=boots)
    is_known = any(at == hardware for at, _ in times.of_modes)
    length = timedelta(seconds=seconds)
    hours = length.total_seconds() / 3600
    took = f"{hours:.0f} h" if hours >= 2 else f"{max(hours * 60, 1):.0f} min"
    return f"about {boots} boots, {took}" + ("" if is_known else " (guess)")


def _with_offers(steps: Sequence[Step]) -> list[Step]:
    """With the forms of those that agents can do, else with the command to copy."""
    asks = [step.ask for step in steps if step.ask is not None]
    found = iter(offers(asks) if asks else ())
    return [step if step.ask is None else _with_offer(step, next(found)) for step in steps]


def _with_offer(step: Step, offer: Offer) -> Step:
    if offer.is_served or offer.already_queued:
        return replace(step, offer=offer)
    ask = offer.ask
    names = {"tree": ask.revisions[0].tree, "hardware": ask.hardware.name, "mode": ask.mode}
    given = " ".join(f"--{part} {shlex.quote(str(name))}" for part, name in names.items())
    return replace(step, command=f"labagent upload {given} DIR")
