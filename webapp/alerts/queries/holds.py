"""Which alerts bisects hold."""

from collections.abc import Iterable

from webapp.alerts.models import AlertHold
from webapp.alerts.plan.known import KnownHold


def holds_in(trees: Iterable[int]) -> list[KnownHold]:
    """What is held of the alerts of trees (ids), in the order of their alerts; one statement."""
    lasting = AlertHold.objects.filter(ended_at__isnull=True, alert__tree__in=list(trees))
    rows = lasting.order_by("alert", "series", "after__position", "pk").values_list(
        "alert", "series", "after__position", "last__position", "is_loss"
    )
    return [KnownHold(*row) for row in rows]
