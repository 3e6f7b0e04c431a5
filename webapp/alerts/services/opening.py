"""Store a new alert."""

from datetime import datetime

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.events import Change


def open_alert(
    tree: int,
    fields: dict[str, int],
    verdict: str,
    *,
    is_history: bool,
    now: datetime,
    reason: str = "",
) -> Change:
    """Store a new alert; its first event is written with the change that is given back."""
    alert = Alert.objects.create(
        tree_id=tree,
        **fields,
        verdict=verdict,
        state=Alert.State.SNOOZED if is_history else Alert.State.NEW,
        history=is_history,
        opened_at=now,
        updated_at=now,
        version=0,
    )
    change = Change(alert, now)
    history = "from runs uploaded as history" if is_history else ""
    change.note(AlertEvent.Kind.OPENED, ", ".join(filter(None, [reason, history])))
    return change
