"""The commits that an alert suspects, as bars of probability and as a list, and what to do next
about the alert: at most three steps, each with what it costs.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from math import ceil, log2
from urllib.parse import quote

from django.urls import reverse

from webapp.alerts.models import Alert
from webapp.alerts.queries import Elsewhere, Listed, machine_elsewhere
from webapp.analysis.models import Finding, Verdict
from webapp.analysis.queries import compare_link, sides_of
from webapp.charts.text import half_width
from webapp.jobs.models import Job
from webapp.jobs.queries import Durations
from webapp.pages.alerts.cards import headline, moved, sure
from webapp.pages.parts.job_offers import A_FEW, Ask, Offer, builds_ask, offers
from webapp.pages.parts.links import source_url, with_query
from webapp.results.models import Hardware, Mode, Revision
from webapp.results.queries import commits_between
from webapp.stats.compare import MORE_BUILDS

LISTED = 20
BARS = 5
LEAST = 0.005
"""A probability that is worth a bar."""

MOST = 3

SPREAD = 4
"""Revisions between the ends of a slow loss that are offered to be measured: its quarters."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A measured revision and the probability that the change began at it, or among the untested
    commits between ``after`` and it (empty: there are none).
    """

    name: str
    address: str
    probability: float
    subject: str
    author: str
    after: str
    source: str

    @property
    def text(self) -> str:
        """``99 %``."""
        return sure(self.probability).replace("under", "<").replace("over", ">")

    @property
    def width(self) -> str:
        """Of 100."""
        return f"{100 * self.probability:.1f}"


@dataclass(frozen=True, slots=True)
class Suspects:
    """``bars`` by probability, as the series of ``by`` gives them (None: a bisect named one).
    ``shown`` are the commits in question in order: the first ones, the likeliest and the last;
    ``more`` lie between.
    """

    bars: Sequence[Bar]
    by: Finding | None
    shown: Sequence[Revision]
    more: int

    @property
    def total(self) -> int:
        """How many commits are in question, as far as history is known here."""
        return len(self.shown) + self.more


def suspects_of(one: Listed) -> Suspects:
    """The suspects of an alert, in two statements at most."""
    alert = one.alert
    shown, more = _shown(alert)
    named = alert.named is not None and alert.named_id == alert.likeliest_id
    by = None if named else _clearest(one)
    known = {row.position: row for row in (*shown, alert.likeliest, alert.revision)}
    bars = _named_bar(alert) if named else _bars(one, by, known)
    return Suspects([_with_author(bar, one) for bar in bars], by, shown, more)


def _with_author(bar: Bar, one: Listed) -> Bar:
    """Of several suspects none is called somebody's; of one that is sure no other is named."""
    commit = one.suspicion.commit
    if commit is None or commit.name != bar.name:
        return bar
    return replace(bar, author=commit.author_name, after="")


def _clearest(one: Listed) -> Finding | None:
    """The finding with most evidence on where the change began, of those that name its commit."""
    rows = [row for row in one.members.findings if row.revision_id == one.alert.likeliest_id]
    return max(rows or one.members.findings, key=lambda row: (row.here, row.score), default=None)


def _named_bar(alert: Alert) -> list[Bar]:
    probability = alert.named_probability or 0.0
    return [_bar(alert, alert.likeliest.name, probability, alert.likeliest, after="")]


def _bars(one: Listed, by: Finding | None, known: dict[int, Revision]) -> list[Bar]:
    if by is None:
        return []
    alert, is_alone = one.alert, one.suspicion.commits == 1
    places = by.locations or [(by.position, by.revision.name, by.here)]
    ordered = sorted(places)
    earlier = {place[0]: before[1] for before, place in pairwise(ordered)}
    likely = sorted(ordered, key=lambda place: -place[2])[:BARS]
    return [
        _bar(
            alert,
            name,
            probability,
            known.get(position),
            after=_after(by, position, earlier.get(position, ""), is_alone=is_alone),
        )
        for position, name, probability in likely
        if probability >= LEAST
    ]


def _after(by: Finding, position: int, earlier: str, *, is_alone: bool) -> str:
    """The measured revision before; empty where the finding's own commit ``is_alone`` between."""
    if position == by.position:
        return "" if is_alone else by.previous.name
    return earlier


def _bar(alert: Alert, name: str, probability: float, known: Revision | None, *, after: str) -> Bar:
    return Bar(
        name=name,
        address=reverse("commit", args=[alert.tree.name, name]),
        probability=min(max(probability, 0.0), 1.0),
        subject=known.subject if known else "",
        author="",
        after=after,
        source=source_url(known) if known else "",
    )


def _shown(alert: Alert) -> tuple[list[Revision], int]:
    first = commits_between(alert.after, alert.revision, most=LISTED + 1)
    found = [*first[:LISTED], alert.revision]
    if alert.likeliest not in found:
        found.insert(-1, alert.likeliest)
    for revision in found:
        revision.tree = alert.tree
    if len(first) <= LISTED:
        return found, 0
    return found, Revision.objects.between(alert.after, alert.revision).count() - len(found) + 1


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
    """Another boot shows whether the build was off, or the boot."""
    series = worst.series
    ask = _ask([one.alert.revision], series.hardware, series.mode)
    text = "Another boot distinguishes trouble of the build from that of the boot."
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
    if not worst.level:
        text = "Build the middle one, and go on with the half that begins above 0 and ends at 0."
        return Step(f"Halve the {candidates:,} commits in question.", text, cost)
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
    """``about 10 boots, 50 min``; a guess until a job has run there, and marked as one."""
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
