"""Store a new alert."""

from datetime import datetime
from typing import Any

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.events import Change


def open_alert(
    tree: int,
    fields: dict[str, Any],
    verdict: str,
    *,
    is_history: bool,
    is_one_build: bool = False,
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
        one_build=is_one_build,
        opened_at=now,
        updated_at=now,
        version=0,
    )
    change = Change(alert, now)
    history = "from runs uploaded as history" if is_history else ""
    builds = "one build a side" if is_one_build else ""
    change.note(AlertEvent.Kind.OPENED, ", ".join(filter(None, [reason, builds, history])))
    return change
