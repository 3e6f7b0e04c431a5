"""Set the smallest effect worth an alert, log that, and take it back."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import MinEffect, MinEffectChange
from webapp.alerts.models.decisions import MOST_PERCENT
from webapp.alerts.queries.min_effects import Scope
from webapp.alerts.services.analysing import reconcile_trees
from webapp.analysis.models import SeriesSettings
from webapp.results.services import begin_writing


class MinEffectError(Exception):
    """The threshold cannot be set; the message names the field and the remedy."""


@transaction.atomic
def set_min_effect(
    *, scope: Scope, percent: float | None, actor: User, reason: str = ""
) -> MinEffectChange:
    """Set the threshold of ``scope``, or with None let the wider one hold.

    Alerts open and are retracted at once. Raises MinEffectError.
    """
    if percent is not None:
        ensure_percent(percent)
    _lock(scope)
    before = scope.percent()
    if before == percent:
        raise MinEffectError(f"percent: {_setting_text(percent)} for {scope.text} already.")
    _write(scope, percent)
    change = MinEffectChange.objects.create(
        at=timezone.now(),
        actor=actor,
        before=before,
        after=percent,
        reason=reason,
        **{scope.part: scope.of},
    )
    reconcile_trees(scope.trees())
    return change


def ensure_percent(percent: float) -> float:
    """``percent`` itself. Raises MinEffectError when it cannot be a threshold."""
    if not 0 <= percent <= MOST_PERCENT:
        raise MinEffectError(f"percent: {percent:g} is not from 0 to {MOST_PERCENT:g}.")
    return percent


@transaction.atomic
def undo_min_effect(*, change: int, actor: User) -> MinEffectChange:
    """Set what held before ``change``, if nothing was set there since. Raises MinEffectError."""
    row = MinEffectChange.objects.named().filter(pk=change).first()
    if row is None:
        raise MinEffectError(f"change: there is no change {change}.")
    scope = Scope.around(row.of)
    _lock(scope)
    newer = MinEffectChange.objects.filter(pk__gt=row.pk, **{scope.part: scope.of}).exists()
    if newer or scope.percent() != row.after:
        raise MinEffectError(f"change: {scope.text} was set anew since; set it yourself.")
    return set_min_effect(
        scope=scope, percent=row.before, actor=actor, reason=f"change {row.pk} undone"
    )


def _lock(scope: Scope) -> None:
    """Who sets the same thing at once waits: the log must have what was replaced.

    Who merges hardware or modes is waited for first, in the order in which everybody locks.
    """
    begin_writing()
    type(scope.of)._default_manager.select_for_update(no_key=True).get(pk=scope.of.pk)  # noqa: SLF001


def _write(scope: Scope, percent: float | None) -> None:
    of: dict[str, Any] = {scope.part: scope.of}
    if scope.part == "series":
        SeriesSettings.objects.update_or_create(**of, defaults={"min_effect_pct": percent})
    elif percent is None:
        MinEffect.objects.filter(**of).delete()
    else:
        MinEffect.objects.update_or_create(**of, defaults={"percent": percent})


def _setting_text(percent: float | None) -> str:
    return "nothing is set" if percent is None else f"{percent:g} % is set"
