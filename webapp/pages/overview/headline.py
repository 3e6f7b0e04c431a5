"""The answer that the front page opens with: one sentence with a number and a place, and a second
that says what else there is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.models import Alert
from webapp.alerts.queries import OpenLoss, counts
from webapp.analysis.queries import WallSeries
from webapp.analysis.services import FEWEST_REVISIONS
from webapp.charts.text import cost_moved, half_width, percent
from webapp.jobs.queries import SILENT_AFTER, Machine
from webapp.pages.overview.wall import can_tell, is_changed

DAYS = SILENT_AFTER.days


@dataclass(frozen=True, slots=True)
class Headline:
    """Both sentences as HTML; ``lead`` may be empty."""

    title: SafeString
    lead: SafeString


def headline_of(
    losses: Sequence[OpenLoss],
    series: Sequence[WallSeries],
    machines: Mapping[int, Machine],
    *,
    since_text: str,
) -> Headline:
    """What to know first: a loss that is open, or why there is none."""
    if losses:
        return _of_loss(losses, series, machines, since_text)
    if all(one.revisions <= 1 for one in series):
        return _of_singles(series, machines)
    if all(machine.is_history for machine in machines.values() if machine.has_runs):
        return _of_history(series)
    return _of_quiet(series, machines)


def _of_loss(
    losses: Sequence[OpenLoss],
    series: Sequence[WallSeries],
    machines: Mapping[int, Machine],
    since_text: str,
) -> Headline:
    one = next(loss for loss in losses if loss.leads)
    machine = escape(str(machines[one.hardware_id].called))
    title = f"{escape(_subject(one, series))} {_what(one)} on {machine} {_where(one)}"
    return _headline(title, _rest_of(one, losses, since_text))


def _subject(one: OpenLoss, series: Sequence[WallSeries]) -> str:
    """The mode of a series, with the metric where the mode has several."""
    metrics = {each.metric for each in series if each.mode == one.mode}
    return f"{one.metric} of {one.mode}" if len(metrics) > 1 and not one.option else one.mode


def _where(one: OpenLoss) -> str:
    last = f'<span class="mono">{escape(one.last)}</span>'
    if one.kind == Alert.Kind.EXCURSION:
        return f"at {last}, one revision, back afterwards"
    if one.kind == Alert.Kind.SLOW:
        return f"by {last}, no single commit"
    return f"at {last}" if one.is_named else f"at the latest in {last}"


def _what(one: OpenLoss) -> str:
    """``lost 12.1 %``; where less is better, a figure that rose."""
    if one.percent is None:
        return "changed beyond any percentage"
    if one.option:
        return cost_moved(one.level_before, one.level, one.direction)
    size = half_width(abs(one.percent))
    return (
        f"lost {size}\N{NO-BREAK SPACE}%"
        if one.percent < 0
        else f"rose by {size}\N{NO-BREAK SPACE}%, which is worse,"
    )


def _rest_of(one: OpenLoss, losses: Sequence[OpenLoss], since_text: str) -> str:
    """``New in the last day; one older loss is larger, and four more are open.``"""
    news = f"New {since_text}" if one.is_fresh else f"Nothing is new {since_text}"
    if one.is_simulated:
        news += ", on a simulated machine"
    others = one.open - 1
    if not others:
        return f"{news}; nothing else is open."
    larger = sum(loss.rank < one.rank and loss.is_simulated == one.is_simulated for loss in losses)
    simulated = one.simulated - one.is_simulated
    parts = []
    if larger:
        parts.append(f"{_count(larger)} {'loss is' if larger == 1 else 'losses are'} larger")
    if others > larger:
        left = others - larger
        more = " more" if larger else " other" if left == 1 else " others"
        parts.append(f"{_count(left)}{more} {'is' if left == 1 else 'are'} open")
    told = ", and ".join(parts)
    if simulated and simulated == others:
        told += f" on {'a simulated machine' if simulated == 1 else 'simulated machines'}"
    elif simulated:
        told += f", {_count(simulated)} of the {_count(others)} on simulated machines"
    return f"{news}; {told}."


def _of_singles(series: Sequence[WallSeries], machines: Mapping[int, Machine]) -> Headline:
    return _headline(
        f"{_series(series)} of one revision each on {_plural(len(_measured(series)), 'machine')}",
        f"Changes are found from {FEWEST_REVISIONS} revisions of a series on; until then revisions "
        "can be compared with one another.",
    )


def _of_history(series: Sequence[WallSeries]) -> Headline:
    """A change is what an alert is about, as in the inbox: one may concern several series, and a
    series may have several, or one too small for an alert.
    """
    changes = counts(timezone.now()).history
    moved = sum(one.verdict is not None for one in series)
    places = f"{_series(series)} on {_plural(len(_measured(series)), 'machine')}"
    found = _plural(changes, "change") if changes else "no proven change beyond the threshold"
    below = f"{_count(moved) if moved else 'none'} of the series below changed, by any size"
    if changes:
        link = f'<a href="{reverse("alerts")}?state=history">{_plural(changes, "change")}</a>'
        below = f"{link} beyond the alert threshold, each at one commit or in one interval; {below}"
    else:
        below = below.capitalize()
    return _headline(
        f"Imported results: {found} in {places}",
        f"{below}. Nobody was mailed, and no regression is open.{_too_few(series)}",
    )


def _of_quiet(series: Sequence[WallSeries], machines: Mapping[int, Machine]) -> Headline:
    runs = sum(sum(machine.days[-DAYS:]) for machine in machines.values())
    alive = sum(machine.is_alive for machine in machines.values())
    changed = [one for one in series if is_changed(one) and one.percent is not None]
    title = f"No regression is open; {_plural(runs, 'run')} in two weeks on "
    title += _plural(alive, "machine")
    if not changed:
        return _headline(title, f"No change is proven in the revisions shown.{_too_few(series)}")
    newest = min(changed, key=lambda one: one.since or 0)
    machine = escape(str(machines[newest.hardware_id].called))
    return _headline(
        title,
        f"The last change: {escape(newest.mode)} {percent(newest.percent)} % on {machine}, "
        f"{_plural(newest.since or 0, 'revision')} ago.",
    )


def _too_few(series: Sequence[WallSeries]) -> str:
    """Of how many series nothing is known yet."""
    few = sum(one.verdict is None and not can_tell(one) for one in series)
    return f" Of {few:,} of {len(series):,} series too little is known to tell." if few else ""


def _measured(series: Sequence[WallSeries]) -> set[int]:
    return {one.hardware_id for one in series}


def _series(series: Sequence[WallSeries]) -> str:
    return f"{len(series):,} series"


def _plural(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _count(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else f"{count:,}"


def _headline(title: str, lead: str) -> Headline:
    return Headline(mark_safe(title), mark_safe(lead))  # noqa: S308
