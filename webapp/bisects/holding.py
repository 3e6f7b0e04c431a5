"""Say which alerts bisects hold: those that are searched, and those whose step was reproduced."""

from collections.abc import Iterable, Sequence

from django.db.models import Q

from webapp.alerts.holding import Held, on_holding
from webapp.alerts.models import Alert
from webapp.bisects.models import Bisect

Outcome = Bisect.Outcome
REPRODUCED = (Outcome.SINGLE, Outcome.RANGE, Outcome.TWO_STEPS)


@on_holding
def held_by_bisects(trees: Sequence[int]) -> Iterable[Held]:
    """Until somebody resolves the alert, or a bisect does not reproduce its step."""
    holding = Bisect.objects.filter(
        ~Q(state__in=Bisect.ENDED) | Q(outcome__in=REPRODUCED), alert__tree__in=trees
    )
    rows = holding.exclude(
        Q(alert__state=Alert.State.RESOLVED) & Q(alert__triaged=True)
    ).values_list("alert", "series", "good__position", "bad__position", "effect_pct")
    return [
        Held(alert, series, after, last, is_loss=effect < 0)
        for alert, series, after, last, effect in rows
    ]
