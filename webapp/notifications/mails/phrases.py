"""What a mail about an alert shows, its sentences, which match those of the pages, and the message
of a kind of mail from its three templates.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.template.loader import render_to_string

from webapp.alerts import queries
from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis import queries as analysis
from webapp.analysis.models import Finding, Verdict
from webapp.charts.text import (
    MINUS,
    POINTS,
    chance,
    cost_points,
    cost_sentence,
    finding_sentence,
    largest_parts,
    percent,
)
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target
from webapp.outbox.services import Message
from webapp.results.models import Point, Revision

SUSPECTS_READ = 100
TOO_FEW = "A side has fewer than 3 samples: ministat refuses it."

PREFIX = "[driftline]"
QUOTE_MAX = 48
SERIES_MAX = 60
SUBJECT_MAX = 250
OF_THE_MACHINE = (
    "Several modes agree. Measured in one boot they share its trouble: this concerns this machine "
    "at this revision, and blames no commit."
)
NOT_PRINTED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Other:
    """A series measured on both sides of the commit that no finding of the alert is about."""

    point: Point
    before: float
    """The mean at the revision before, in the metric's unit."""
    judged: analysis.PointVerdict


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """An alert, its ``findings`` (the weightiest first; of a retracted one those that left), the
    ``suspects`` in order as far as known here, the ``earlier`` ones of which are only counted, the
    ``suspicion`` among which of them it began, and ``block``: what ministat prints for the worst.
    ``left_out`` are the points beside the findings that lack samples of their runs, and ``lab``
    what speaks for a change of the machine, or against.
    """

    alert: Alert
    findings: Sequence[Finding]
    others: Sequence[Other]
    suspects: Sequence[Revision]
    suspicion: queries.Suspicion
    left_out: Sequence[Point] = ()
    earlier: int = 0
    block: str = ""
    lab: Sequence[str] = ()

    @property
    def worst(self) -> Finding | None:
        """The finding that stands for the alert: of those that name its commit, the weightiest."""
        naming = (row for row in self.findings if row.revision_id == self.alert.likeliest_id)
        return next(naming, self.findings[0] if self.findings else None)


def gather(number: int) -> AlertFacts:
    """Everything about alert ``number``, in a fixed number of queries.

    Raises Alert.DoesNotExist.
    """
    alert = Alert.objects.with_revisions().get(pk=number)
    findings = _findings(alert)
    others, suspects = _others(alert, findings), _suspects(alert)
    left_out = queries.left_out_beside(findings)
    facts = AlertFacts(alert, findings, others, suspects, queries.suspicion_of(alert), left_out)
    block = ministat_block(facts.worst) if facts.worst else ""
    hint = queries.lab_hint(alert, findings)
    lab = hint.sentences if hint else ()
    return replace(facts, block=block, earlier=_earlier(facts), lab=lab)


def ministat_block(finding: Finding) -> str:
    """What ministat prints for the two points around ``finding``, or why it prints nothing."""
    try:
        rows = analysis.compare_sides(analysis.sides_of(finding)).rows
    except analysis.SideError as error:
        return f"No samples to show: {error}."
    if not rows:
        return "No samples to show: they were withdrawn."
    return rows[0].ministat_text().rstrip("\n") if rows[0].can_render else TOO_FEW


def _findings(alert: Alert) -> list[Finding]:
    members = queries.findings_of([alert]).with_subjects().with_revisions().with_today()
    return list(members) or _that_left(alert)


def _that_left(alert: Alert) -> list[Finding]:
    """The findings that a retracted alert lost last."""
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    gone = Finding.all_kinds.filter(pk__in=left.findings if left else [])
    return list(gone.with_subjects().with_revisions().order_by("pk"))


def _others(alert: Alert, findings: Sequence[Finding]) -> list[Other]:
    covered = {row.series_id for row in findings}
    comparisons = {
        row.series_id: row
        for row in analysis.compared_at([alert.likeliest_id])
        if row.series_id not in covered
    }
    points = Point.objects.filter(revision=alert.likeliest_id, series__in=comparisons)
    parts = ("series__hardware__lab", "series__mode", "series__metric")
    found = list(points.select_related(*parts).order_by("series__hardware__name", "series"))
    judged = analysis.judge_points(found, comparisons.values())
    return [
        Other(point, comparisons[point.series_id].before, judged[point.series_id])
        for point in found
        if point.series_id in judged
    ]


def _earlier(facts: AlertFacts) -> int:
    """How many suspects there are before those that were read."""
    if len(facts.suspects) <= SUSPECTS_READ:
        return 0
    return Revision.objects.between(facts.alert.after, facts.suspects[0]).count()


def _suspects(alert: Alert) -> list[Revision]:
    """As many as are read, the last ones, in order."""
    between = Revision.objects.between(alert.after, alert.revision).order_by("-position")
    suspects = [*reversed(between[:SUSPECTS_READ]), alert.revision]
    for revision in suspects:
        revision.tree = alert.tree
    return suspects


def one_line(text: str, most: int) -> str:
    """``text`` in one line of at most ``most`` characters: no header can be smuggled in."""
    plain = NOT_PRINTED.sub(" ", text).strip()
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def series_phrase(finding: Finding) -> str:
    """``pf on Atom/T540``, and that it is simulated where it is; ``cost of VIMAGE in pf on …``."""
    hardware = finding.series.hardware
    simulated = " (simulated)" if hardware.lab.simulated else ""
    return f"{finding.series.subject} on {hardware}{simulated}"


def size(finding: Finding) -> str:
    """``11.4 % slower [−12.3, −10.5]``; of a cost ``rose from 1.2 to 3.7 %, by 2.5 points …``; of
    what was nothing ``rose from ≤ 1 to 29.95 packets``.
    """
    if finding.series.is_cost and finding.change_pct is not None:
        levels, ends = (finding.level_before, finding.level), (finding.low_pct, finding.high_pct)
        return cost_sentence(*levels, *ends, finding.series.better)
    return analysis.levels_moved(finding) or finding_sentence(
        percent=finding.change_pct,
        low=finding.low_pct,
        high=finding.high_pct,
        better=finding.series.better,
        unit=finding.series.metric.unit,
    )


def series_is(finding: Finding) -> str:
    """``pf on Atom/T540 is 11.4 % slower …``, ``cost of VIMAGE in pf on Atom/T540 rose from …``."""
    is_changed = finding.series.is_cost or finding.change_pct is None
    is_changed = is_changed or analysis.end_levels(finding) is not None
    verb = "" if is_changed else "is "
    return f"{series_phrase(finding)} {verb}{size(finding)}"


def subject_line(facts: AlertFacts) -> str:
    """``-11.4% pf on Atom/T540 by r303643 "Implement trivial backoff…" (97%)``."""
    what = facts.alert.verdict
    if facts.worst:
        series = facts.worst.series
        mode, hardware = (
            one_line(str(one), SERIES_MAX) for one in (series.subject, series.hardware)
        )
        what = f"{_signed(facts.worst)} {mode} on {hardware}"
    if facts.alert.one_build:
        return one_line(f"{what}, one build a side: {_pair(facts.suspicion)}", SUBJECT_MAX)
    if facts.alert.is_slow:
        return one_line(f"{what} {_slowly(facts.suspicion)}", SUBJECT_MAX)
    if facts.alert.is_excursion:
        return one_line(f"{what} {_once(facts.suspicion)}", SUBJECT_MAX)
    return one_line(f"{what} by {_suspect(facts)}", SUBJECT_MAX)


def _slowly(one: queries.Suspicion) -> str:
    """Over what a slow loss went on, where no commit is accused."""
    return f"between {one.after} and {one.last}, no single commit"


def _once(one: queries.Suspicion) -> str:
    """When a machine was off, where no commit is accused."""
    return f"at {one.last}, one revision, back afterwards"


def _parts(worst: Finding) -> str:
    """``; the largest parts: …`` of a slow loss, where it did not go evenly."""
    parts = largest_parts(worst.parts)
    return f"; {parts}" if parts else ""


def _pair(one: queries.Suspicion) -> str:
    """What was compared, where no commit is accused."""
    return f"{one.last} against {one.after}"


def _signed(finding: Finding) -> str:
    if finding.change_pct is None:
        return finding.verdict
    if finding.series.is_cost:
        points = cost_points(finding.level_before, finding.change_pct, finding.series.better)
        return f"{percent(points).replace(MINUS, '-')} {POINTS}:"
    if levels := analysis.end_levels(finding):
        return f"from {' to '.join(levels)} {finding.series.metric.unit}:"
    return percent(finding.change_pct).replace(MINUS, "-") + "%"


def _suspect(facts: AlertFacts) -> str:
    """The commit, or how many it may be, with the chance that the change is real and began there:
    that of its place is the chance if there is a change, and of a step, which commits may share.
    """
    one, worst = facts.suspicion, facts.worst
    has_own = worst is not None and worst.one_build is None and facts.alert.is_active
    real = worst.probability if worst is not None and has_own else 1.0
    sure = f" ({chance(one.chance * real).replace(' ', '')})"
    if one.commit is None:
        return f"{among(one)}{sure}"
    subject = one_line(one.commit.subject, QUOTE_MAX)
    return f"{one.commit}" + (f' "{subject}"' if subject else "") + sure


def among(one: queries.Suspicion) -> str:
    """``one of 64 commits after r401280 up to r401344``: the text while none is named."""
    commits = (
        "a commit" if one.commits is None or one.commits < 2 else f"one of {one.commits} commits"
    )
    known = f" ({one.gap_text})" if one.gap_text else ""
    return f"{commits} after {one.after} up to {one.last}{known}"


def verdict_sentence(facts: AlertFacts) -> str:
    """The whole alert in one sentence."""
    alert, worst = facts.alert, facts.worst
    if worst is not None and alert.one_build:
        pair = _pair(facts.suspicion)
        verb = "is" if alert.is_active else "seemed"
        return f"One build a side: {series_phrase(worst)} {verb} {size(worst)}, {pair}."
    if worst is None:
        return f"{alert.verdict.capitalize()} since {since(facts.suspicion)}."
    sentence = f"{alert.verdict.capitalize()}: {series_is(worst)} since {since(facts.suspicion)}"
    if alert.is_slow:
        sentence = f"Slow loss: {series_is(worst)}, {_slowly(facts.suspicion)}"
        sentence += _parts(worst)
    if alert.is_excursion:
        sentence = f"Excursion: {series_is(worst)} {_once(facts.suspicion)}"
    more = len(facts.findings) - 1
    if not more:
        return f"{sentence}."
    worse = sum(row.verdict == Verdict.WORSE for row in facts.findings if row is not worst)
    kinds = [f"{worse} worse" if worse else "", f"{more - worse} better" if more - worse else ""]
    return f"{sentence}, and {more} more ({', '.join(filter(None, kinds))})."


def since(one: queries.Suspicion) -> str:
    """``r303643 “Implement trivial backoff” by mjg``; the id alone where no more is known, and how
    many it may be while none is named.
    """
    revision = one.commit
    if revision is None:
        return among(one)
    subject = one_line(revision.subject, 120)
    author = one_line(revision.author_name or revision.author_email, 60)
    return (
        f"{revision}" + (f" “{subject}”" if subject else "") + (f" by {author}" if author else "")
    )


def surety_sentence(facts: AlertFacts) -> str:
    """How sure it is that the change is real, and that it began there."""
    worst = facts.worst
    if worst is None:
        return ""
    if worst.one_build is not None or facts.alert.is_slow:
        return worst.why
    if facts.alert.is_excursion:
        return OF_THE_MACHINE
    step = f"it began after {worst.previous} and not later than {worst.revision}"
    real, here = chance(worst.probability), chance(worst.here)
    return f"The change is real with {real}; if so, {step} with {here}."


def today_line(finding: Finding) -> str:
    """``Today 13.0 % slower […] than before r120, …``; empty where there is nothing to add."""
    text = analysis.today_beside(finding)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def left_out_line(point: Point) -> str:
    """``r300012, pf on bench/nic: 1 of 10 samples left out: clock step``."""
    mode, hardware = (
        one_line(str(one), SERIES_MAX) for one in (point.series.subject, point.series.hardware)
    )
    why = f": {point.excluded.text}" if point.excluded else ""
    return f"{point.revision}, {mode} on {hardware}{why}"


def alert_line(alert: Alert, worst: Finding | None, suspicion: queries.Suspicion) -> str:
    """An alert in one line, where several stand together; ``worst`` is None without findings."""
    return f"{_alert_text(alert, worst, suspicion)}{_today(worst)}"


def _today(worst: Finding | None) -> str:
    text = analysis.today_beside(worst) if worst else ""
    return f"; {text}" if text else ""


def _alert_text(alert: Alert, worst: Finding | None, suspicion: queries.Suspicion) -> str:
    state = alert.get_resolution_display() if alert.resolution else alert.get_state_display()
    what = f"{series_phrase(worst)} {size(worst)}, " if worst else ""
    if alert.one_build:
        return f"Alert {alert.pk} ({state}): {what}one build a side, {_pair(suspicion)}"
    if alert.is_slow:
        parts = _parts(worst) if worst else ""
        return f"Alert {alert.pk} ({state}): {what}{_slowly(suspicion)}{parts}"
    if alert.is_excursion:
        return f"Alert {alert.pk} ({state}): {what}{_once(suspicion)}"
    return f"Alert {alert.pk} ({state}): {what}{alert.verdict} since {since(suspicion)}"


def render_message(kind: str, context: Mapping[str, Any], *, stops: Target | None) -> Message:
    """The message of ``kind``; ``stops`` is what its unsubscribe link does (None: it has none)."""
    url = stops.url if stops else ""
    known = {**context, "unsubscribe_url": url}
    subject = render_to_string(f"emails/{kind}-subject.txt", known)
    return Message(
        subject=one_line(f"{PREFIX} {subject}", SUBJECT_MAX),
        text=render_to_string(f"emails/{kind}.txt", known).strip() + "\n",
        html=render_to_string(f"emails/{kind}.html", known),
        unsubscribe_url=url,
    )


def why(subscription: Subscription) -> str:
    """Why somebody gets a mail: which subscription, and what it asks for."""
    return f"subscription “{subscription.name}” ({subscription.describe()})"
