"""What a bisect found is kept with its alert, and outweighs what the detector makes likeliest.

A bisect measured the suspects one by one, the detector only what happened to be uploaded. Its word
holds as long as the findings still suspect the commit it named; when they move on, it is kept as
data and no longer shown as the likeliest.
"""

from django.db import transaction
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.events import Change, write
from webapp.results.models import Revision
from webapp.results.services import lock_trees


@transaction.atomic
def tell_bisect(
    *, alert: int, text: str, named: Revision | None = None, probability: float | None = None
) -> None:
    """Note in an alert's log how a bisect ended, and the one commit that it named, if any.

    Quiet when the alert is gone.
    """
    tree = Alert.objects.filter(pk=alert).values_list("tree_id", flat=True).first()
    if tree is None:
        return
    lock_trees([tree])
    row = Alert.objects.select_related("after", "revision").get(pk=alert)
    change = Change(row, timezone.now())
    change.note(AlertEvent.Kind.NAMED, text)
    if named is not None:
        row.named, row.named_probability = named, probability
        if is_named_among(row, row.after.position, row.revision.position):
            row.likeliest = named
    write([change])


def is_named_among(alert: Alert, after: int, last: int) -> bool:
    """Whether a bisect named one of the suspects later than position ``after`` up to ``last``."""
    return alert.named is not None and after < alert.named.position <= last
