"""The texts of the pages of alerts: its headline, how sure, its state. Sentences of mails stand
in `webapp.notifications.mails.phrases`."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.safestring import SafeString

from webapp.alerts.models import Alert
from webapp.alerts.queries import Listed, Suspicion
from webapp.analysis.models import Finding, Verdict
from webapp.charts import text
from webapp.pages.parts.components import state_pill
from webapp.results.models import Series

MOST_COSTS = 2
"""Costs that a headline has beside what was measured."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def headline(one: Listed) -> str:
    """The answer in one sentence: what changed, by how much, where it began, and what else."""
    worst, alert = one.members.worst, one.alert
    if worst is None:
        return f"Later runs no longer show what alert {alert.pk} reported"
    if alert.one_build:
        return f"One build a side: {worst.series.subject} {_seems(worst)} {began(one.suspicion)}"
    parts = [f"{called(worst.series)} {moved(worst)} {began(one.suspicion)}"]
    if alert.is_slow:
        parts.append("no single commit")
        if parts_text := text.largest_parts(worst.parts):
            return f"{', '.join(parts)}; {parts_text}{_others(one)}"
    if alert.is_excursion:
        parts.append("one revision, back afterwards")
    return f"{', '.join(parts)}{_others(one)}"


def called(series: Series) -> str:
    """The mode; of what an option costs ``The cost of VIMAGE in forwarding``."""
    return f"The {series.subject}" if series.is_cost else series.subject


def moved(row: Finding) -> str:
    """``lost 12.1 %``, of what is no rate ``got 3 % slower``, of a cost ``rose from 1 to 3 %``."""
    if row.change_pct is None:
        return "changed beyond any percentage"
    size, series = text.half_width(abs(row.change_pct)), row.series
    if series.is_cost:
        return text.cost_moved(row.level_before, row.level, series.better)
    if series.better == "more" and series.metric.unit.endswith(text.RATE_MARK):
        return f"{'lost' if row.change_pct < 0 else 'gained'} {size} %"
    word = text.direction(percent=row.change_pct, better=series.better, unit=series.metric.unit)
    return f"got {size} % {word}"


def _seems(row: Finding) -> str:
    return (
        moved(row).replace("lost", "seems to have lost").replace("gained", "seems to have gained")
    )


def began(one: Suspicion) -> str:
    """``at r303643``; while none may be named, ``after r357751, at the latest in r357934``."""
    if one.is_one_build:
        return f"at {one.last}, against {one.after}"
    if one.is_slow:
        return f"between {one.after} and {one.last}"
    if one.is_excursion:
        return f"at {one.last}"
    if one.commit:
        return f"at {one.commit}"
    return f"after {one.after}, at the latest in {one.last}"


def _others(one: Listed) -> str:
    """``; two other modes gained``: the rest of what it holds."""
    worst, members = one.members.worst, one.members
    if worst is None:
        return ""
    costs = [row for row in members.findings[1:] if row.series.is_cost]
    gain = _largest_gain(members.findings) if worst.verdict == Verdict.WORSE else None
    named = [worst, *costs, *([gain] if gain else [])]
    worse = members.worse - sum(row.verdict == Verdict.WORSE for row in named)
    better = members.better - sum(row.verdict != Verdict.WORSE for row in named)
    parts = [f"{gain.series.subject} {moved(gain)}"] if gain else []
    others = ((worse, "lost"), (better, "gained"))
    parts += [f"{as_text(count)} other series {verb}" for count, verb in others if count]
    parts += [f"the {row.series.subject} {moved(row)}" for row in costs[:MOST_COSTS]]
    texts = [part for part in parts if part]
    return f"; {', '.join(texts)}" if texts else ""


def _largest_gain(findings: Sequence[Finding]) -> Finding | None:
    """Of a mixed alert, which names the largest of either direction."""
    gains = (row for row in findings if row.verdict != Verdict.WORSE and not row.series.is_cost)
    return max(gains, key=lambda row: abs(row.change_pct or 0.0), default=None)


def as_text(count: int) -> str:
    """``three``; from ten on in figures."""
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def sure(probability: float) -> str:
    """``over 99 %`` of a probability, ``97 %``, ``under 1 %``."""
    return text.chance(probability).replace(">", "over").replace("<", "under")


def how_sure(one: Suspicion) -> str:
    """How sure the place of a change is, given that the change is real."""
    if one.is_slow:
        return "gradual, no single commit"
    if one.is_excursion:
        return "the modes of one boot share the trouble, so no commit is blamed"
    if one.commit:
        return f"{sure(one.chance)} sure"
    if one.commits is not None and one.commits > 1:
        return f"{sure(one.chance)} sure that one of these {one.commits:,} commits began the change"
    known = f", {one.gap_text}" if one.gap_text else ""
    return f"{sure(one.chance)} sure{known}"


def beside_worst(one: Listed) -> str:
    """``+ 2 gain``, ``+ 1 loses``: the rest of what an alert holds, in a row's few characters."""
    worst, members = one.members.worst, one.members
    if worst is None:
        return ""
    is_loss = worst.verdict == Verdict.WORSE
    worse, better = members.worse - is_loss, members.better - (not is_loss)
    if worse and better:
        return f"+ {worse + better}"
    if worse:
        return f"+ {worse} lose{'s' if worse == 1 else ''}"
    return f"+ {better} gain{'s' if better == 1 else ''}" if better else ""


def signed(row: Finding) -> str:
    """``−12.1 %``; of a cost ``+2.5 points``; of what is beyond figures, its verdict."""
    if row.change_pct is None:
        return row.verdict
    if row.series.is_cost:
        points = text.cost_points(row.level_before, row.change_pct, row.series.better)
        return f"{text.percent(points)} {text.POINTS}"
    return f"{text.percent(row.change_pct)} %"


def state_note(alert: Alert) -> str:
    """What belongs to a state: ``as fixed by r129``, ``until 2026-12-31``."""
    if alert.state == Alert.State.RESOLVED:
        by = f" by {alert.resolution_revision}" if alert.resolution_revision else ""
        of = f" of {alert.duplicate_of_id}" if alert.duplicate_of_id else ""
        return f"as {alert.resolution}{by}{of}"
    if alert.state != Alert.State.SNOOZED:
        return ""
    if alert.snoozed_until:
        return f"until {timezone.localtime(alert.snoozed_until):%Y-%m-%d}"
    if alert.snoozed_until_revision:
        return f"until {alert.snoozed_until_revision} is measured"
    return "as history"


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit: ``3 d``, ``2 h``, ``48 min``."""
    seconds = max((now - moment).total_seconds(), 0)
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}" if unit != "d" else f"{int(seconds / size):,} d"
    return "now"


def pill_of(alert: Alert) -> SafeString:
    """The state of an alert."""
    return state_pill(alert.state, alert.get_state_display())
