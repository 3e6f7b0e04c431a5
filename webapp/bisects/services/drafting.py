"""Draft a bisect before anything is stored (its checks, its noise, its history), and store one,
with its first step.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from statistics import median

from django.db import IntegrityError, transaction
from django.db.models import Max, Min
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.services import begin_hold
from webapp.analysis.models import Finding
from webapp.analysis.queries import Gap, Subject, profiled_around
from webapp.bisects.draft import BisectError, BisectRunning, Draft, forecast_of
from webapp.bisects.models import Bisect, BisectBoot, BisectSettings, BisectSubject
from webapp.bisects.path_patterns import PatternsError
from webapp.bisects.prior import prior_of
from webapp.bisects.question import Scope, boots_of_revisions, least_in, noise_document, workers_for
from webapp.bisects.services.advancing import take_step
from webapp.bisects.services.collecting import append, companions_of, history_boots, with_companions
from webapp.events.queries import ONE_EPOCH, epochs_of
from webapp.jobs.queries import Durations
from webapp.results.models import Revision, Series
from webapp.results.services import begin_writing, lock_trees
from webapp.stats import TooFewSamplesError, bisection
from webapp.stats.profiles.calls import Function

Further = tuple[Series, float | None]
"""A further machine and mode by its series, with the step of its finding; None: it has no
finding.
"""

MOST_BESIDE = 5
"""Each costs a few boots of its own, and a decision its time."""

MOST_REVISIONS = 5_000
MOST_NEIGHBOURS = 30
"""Measured revisions on either side that show the noise and the two levels."""

MOST_BOOTS, MOST_HOURS = 10_000, 10_000.0
SMALLEST_EFFECT, LARGEST_EFFECT = 0.001, 1e9
"""Percent. Below the first one lies what counts as no noise at all (`noise.NO_NOISE`); up to the
second, ten million times as much, a count goes that was 0."""

END_OF_THE_TREE = 2**62
BUILD_SHARE = 0.5
"""Of the time that a job of one boot takes; what the rest is when its build is kept."""


def draft_bisect(
    *,
    series: Series,
    good: Revision,
    bad: Revision,
    effect_pct: float,
    alert: Alert | None = None,
    manual: bool = False,
    most_boots: int | None = None,
    most_hours: float | None = None,
    deadline: datetime | None = None,
    beside: Sequence[Further] = (),
    now: datetime | None = None,
) -> Draft:
    """The bisect of one series between two revisions. An empty budget is that of the tree.

    ``effect_pct`` is the step to be explained, signed, percent of the level before. ``beside`` are
    further machines and modes that look for the commit as well.
    Raises BisectError, naming the field and the remedy.
    """
    at = now or timezone.now()
    _refuse_cost(series)
    settings = BisectSettings.objects.filter(tree=series.tree_id).first() or BisectSettings()
    boots, hours = _budget(settings, most_boots, most_hours)
    bisect = Bisect(
        series=series,
        good=good,
        bad=bad,
        alert=alert,
        effect_pct=effect_pct,
        manual=manual,
        most_boots=boots,
        most_hours=hours,
        deadline=deadline,
        created_at=at,
        updated_at=at,
    )
    _check(bisect, boots, hours)
    revisions = _along(series, good, bad)
    _check_alert(alert, good, bad)
    _refuse_single(revisions)
    _set_candidates(bisect, revisions, settings)
    bisect.scopes = _scopes(bisect, beside)
    guessed = [_set_costs(bisect, scope) for scope in bisect.scopes]
    epochs = epochs_of([series]).get(series.pk, ONE_EPOCH)
    crosses = epochs.part(good.position, bad.position)
    history = [row for scope in bisect.scopes for row in _with_noise(bisect, scope)]
    return Draft(bisect, revisions, history, crosses, any(guessed))


def _scopes(bisect: Bisect, beside: Sequence[Further]) -> list[Scope]:
    if beside and bisect.manual:
        raise BisectError(
            "Machines and modes: by hand one is measured; choose one, or let agents measure."
        )
    if len(beside) > MOST_BESIDE:
        raise BisectError(f"Machines and modes: choose at most {MOST_BESIDE} besides the first.")
    own = {(bisect.series.hardware_id, bisect.series.mode_id)}
    scopes: list[Scope] = [bisect]
    for number, (series, effect) in enumerate(beside, start=1):
        measured = (series.hardware_id, series.mode_id)
        if series.tree_id != bisect.series.tree_id or measured in own:
            raise BisectError(
                f"Machines and modes: {series.mode} on {series.hardware} is chosen already, or "
                "is of another tree; choose each once."
            )
        own.add(measured)
        scopes.append(
            BisectSubject(
                number=number,
                series=series,
                effect_pct=bisect.effect_pct if effect is None else effect,
                alerted=effect is not None,
            )
        )
    return scopes


def _refuse_cost(series: Series) -> None:
    """A job measures one mode; what an option costs follows from two."""
    if series.is_cost:
        raise BisectError(
            f"Metric: the {series.subject} follows from two series, and a job measures one. Bisect "
            f"{series.metric.of} of {series.mode} instead; its step is the same where the mode "
            "without the option stayed as it was."
        )


def _budget(settings: BisectSettings, boots: int | None, hours: float | None) -> tuple[int, float]:
    return (
        settings.budget_of_boots if boots is None else boots,
        settings.budget_of_hours if hours is None else hours,
    )


def _check(bisect: Bisect, boots: int, hours: float) -> None:
    effect = bisect.effect_pct
    if not (-100 < effect <= LARGEST_EFFECT and abs(effect) >= SMALLEST_EFFECT):
        raise BisectError(
            "Effect: give the step in percent, for example -2; above -100 (nothing has a ratio to "
            "0: of a rate of 0 build the commit in the middle, and go on with the half that ends "
            f"at 0), up to {LARGEST_EFFECT:,.0f}, and at least {SMALLEST_EFFECT:g} either way."
        )
    if not 1 <= boots <= MOST_BOOTS:
        raise BisectError(f"Boots: give 1 to {MOST_BOOTS:,}.")
    if not 0 < hours <= MOST_HOURS:
        raise BisectError(f"Machine-hours: give a number above 0, up to {MOST_HOURS:,.0f}.")
    if bisect.deadline is not None and bisect.deadline <= bisect.created_at:
        raise BisectError("Deadline: give a moment to come.")


def _check_alert(alert: Alert | None, good: Revision, bad: Revision) -> None:
    """A bisect holds its alert and reported to it, so it must be about the same commits; and it
    searches for what is there, which one build a side cannot show.
    """
    if alert is None:
        return
    if alert.is_slow:
        raise BisectError(
            f"Alert {alert.pk} is a slow loss: no single commit made it, so none can be found. "
            "Compare its ends, or spread boots between them."
        )
    if alert.is_excursion:
        raise BisectError(
            f"Alert {alert.pk} is an excursion: the next revision is back, so no commit can be "
            f"found. Measure {alert.revision} again instead."
        )
    if alert.one_build:
        raise BisectError(
            f"Alert {alert.pk} rests on one build a side: that may be the builds' own scatter, "
            "which no bisect can find a commit for. Have "
            f"{alert.revision} and {alert.after} built once more first; a second build that "
            "agrees confirms the alert."
        )
    if good.position < alert.revision.position and alert.after.position < bad.position:
        return
    raise BisectError(
        f"Good and bad: none of the suspects of alert {alert.pk}, after {alert.after} up to "
        f"{alert.revision}, lies between them; begin at the trend instead, without the alert."
    )


def _set_costs(bisect: Bisect, scope: Scope) -> bool:
    """What a build and a boot take, and whether a worker can build anew; True: the hours are a
    guess.
    """
    series = scope.series
    known = Durations.of({series.hardware_id})
    seconds = known.estimate(hardware=series.hardware_id, mode=series.mode_id, boots=1)
    scope.build_hours = BUILD_SHARE * seconds / 3600
    scope.boot_hours = (1 - BUILD_SHARE) * seconds / 3600
    workers = [] if bisect.manual else workers_for(series, bisect.created_at)
    scope.can_rebuild = any(worker.rebuilds for worker in workers)
    return known.is_guess(hardware=series.hardware_id)


def _with_noise(bisect: Bisect, scope: Scope) -> list[BisectBoot]:
    """The boots of its history, which show the noise and the runs a boot has."""
    history = _history(bisect, scope)
    try:
        scope.noise = noise_document(_noise(history, least_in(scope)))
    except BisectError as error:
        if not scope.number:
            raise
        raise BisectError(
            f"Machines and modes: {scope.series.mode} on {scope.series.hardware}: {error} Or leave "
            "it out."
        ) from error
    scope.companions = companions_of(scope, history)
    scope.runs = max(1, round(median(len(row.values) for row in history)))
    return with_companions(scope, history)


def _set_candidates(
    bisect: Bisect, revisions: Sequence[Revision], settings: BisectSettings
) -> None:
    """Its revisions, and what each weighs before anything is measured."""
    try:
        prior = prior_of(revisions, settings.unlikely_patterns, _changed(bisect))
    except PatternsError as error:
        raise BisectError(f"Unlikely paths in the tree's bisect settings: {error}") from error
    bisect.along = [revision.pk for revision in revisions]
    bisect.gaps = _gaps(revisions)
    bisect.weights = prior.weights
    bisect.unlikely = {str(index): why for index, why in prior.unlikely.items()}
    bisect.likelier = {str(index): why for index, why in prior.likelier.items()}


def _changed(bisect: Bisect) -> list[Function]:
    """The functions that profiles on both sides prove to have changed, if no other change of the
    series lies between the profiled kernels.
    """
    ends = bisect.good.position, bisect.bad.position
    gap = Gap(Subject.of(bisect.series), *ends, within=_level(bisect, bisect.series))
    return [function for pair in profiled_around([gap]) for function in pair.changed]


def _along(series: Series, good: Revision, bad: Revision) -> list[Revision]:
    if {good.tree_id, bad.tree_id} != {series.tree_id}:
        raise BisectError(f"Good and bad: both must be revisions of {series.tree}.")
    if good == bad:
        raise BisectError(f"Bad: {bad} is the good one as well; choose a later revision.")
    if good.position >= bad.position:
        raise BisectError(f"Good: {good} is not before {bad}; swap them.")
    found = Revision.objects.between(good, bad).select_related("tree")
    between = found[: MOST_REVISIONS - 1]
    along = [good, *between, bad]
    if len(along) > MOST_REVISIONS:
        raise BisectError(f"There are more than {MOST_REVISIONS:,} revisions: narrow the range.")
    return along


def _gaps(revisions: Sequence[Revision]) -> list[int]:
    """The indices before which commits may lie that are not known."""
    steps = [
        (revision.tree_id, before.position, revision.position)
        for before, revision in pairwise(revisions)
    ]
    spans = Revision.objects.spans(steps)
    return [index for index, span in enumerate(spans, start=1) if not span.is_whole]


def _refuse_single(revisions: Sequence[Revision]) -> None:
    if len(revisions) > 2:
        return
    good, bad = revisions
    raise BisectError(
        f"Good and bad: {bad} is the only commit after {good} that is known, so there is nothing "
        f"to search. Ask for more boots of both to confirm {bad}; if commits between them are "
        "missing, import them."
    )


def _history(bisect: Bisect, scope: Scope) -> list[BisectBoot]:
    """What was measured, as far on either side as no other change of level is known."""
    earliest, latest = _level(bisect, scope.series)
    return history_boots(bisect, scope, earliest=earliest, latest=latest, most=MOST_NEIGHBOURS)


def _level(bisect: Bisect, series: Series) -> tuple[int, int]:
    """The first and last position between which no other change of the series' level is known."""
    live = Finding.objects.live().filter(series=series)
    before = live.filter(position__lte=bisect.good.position).aggregate(at=Max("position"))["at"]
    after = live.filter(position__gt=bisect.bad.position).aggregate(at=Min("after__position"))["at"]
    return before or 0, END_OF_THE_TREE if after is None else after


def _noise(history: Sequence[BisectBoot], least: float) -> bisection.Noise:
    """Of a boot with as many runs as the history has: what more runs would bring is not known.
    ``least`` is what a lower value counts as.
    """
    if any(max(min(row.values), least) <= 0 for row in history):
        raise BisectError("This series has values that are not above 0; a bisect compares ratios.")
    try:
        found = bisection.estimate_noise(boots_of_revisions(history, least))
    except TooFewSamplesError as error:
        raise BisectError(
            "The noise of this series is not known: at least three revisions on one level must be "
            "measured. Ask for runs of the good revision and of those before it."
        ) from error
    return replace(found, run=0.0, boot=found.run)


def start_bisect(*, draft: Draft, created_by: User | None) -> Bisect:
    """Store the bisect with its history and decide what is measured first.

    ``created_by`` None is Driftline itself, which starts one for an alert and series at most.
    Raises BisectError.
    """
    # It takes seconds: nobody who writes waits for it.
    draft.bisect.forecast = dict(forecast_of(draft).document)
    try:
        with transaction.atomic():
            return _start(draft, created_by)
    except IntegrityError as error:
        if "bisect_started_itself_once" not in str(error):
            raise
        raise BisectError("A bisect of this alert and series was started already.") from error


def _start(draft: Draft, created_by: User | None) -> Bisect:
    begin_writing()
    bisect = draft.bisect
    # A button pressed twice sends two requests at once: the second one is to find the first.
    lock_trees([bisect.series.tree_id])
    if created_by is not None and (running := _same(bisect)):
        raise BisectRunning(running)
    bisect.created_by = created_by
    bisect.hold = _hold_of(bisect)
    further = [scope for scope in bisect.scopes if isinstance(scope, BisectSubject)]
    bisect.save()
    for scope in further:
        scope.bisect = bisect
        scope.save()
    append(bisect, draft.boots, bisect.created_at)
    take_step(bisect, bisect.created_at)
    return bisect


def _hold_of(bisect: Bisect) -> AlertHold | None:
    if bisect.alert_id is None:
        return None
    return begin_hold(
        alert=bisect.alert_id,
        series=bisect.series,
        after=bisect.good,
        last=bisect.bad,
        is_loss=bisect.effect_pct < 0,
        now=bisect.created_at,
    )


def _same(bisect: Bisect) -> Bisect | None:
    same = Bisect.objects.running().filter(series=bisect.series, good=bisect.good, bad=bisect.bad)
    return same.first()
