"""What happened to an alert, as its page tells it."""

import json

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries.rows import made_of, rows_of

COLUMNS = ("id", "alert_id", "at", "actor_id", "kind", "reason", "version", "before", "is_quiet")
EVENTS = f"""
SELECT person.username, {", ".join(f"event.{name}" for name in COLUMNS)}
  FROM alerts_alertevent AS event
  LEFT JOIN accounts_user AS person ON person.id = event.actor_id
 WHERE event.alert_id = %s
 ORDER BY event.id
"""  # noqa: S608 (names of columns; no value of a request is in this text)


def events_of(alert: Alert) -> list[AlertEvent]:
    """The events of an alert in their order, with who did what; one statement. Their findings are
    read when they are asked for.
    """
    found = []
    for username, *values in rows_of(EVENTS, [alert.pk]):
        event = made_of(AlertEvent, COLUMNS, values)
        if isinstance(event.before, str):
            event.before = json.loads(event.before)
        if event.actor_id is not None:
            event.actor = made_of(User, ("id", "username"), (event.actor_id, username))
        found.append(event)
    return found
