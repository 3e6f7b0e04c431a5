"""Which points were there at a past moment."""

from datetime import datetime

from django.db.models import Exists, OuterRef

from webapp.results.models import PointQuerySet, Run


def received_by(points: PointQuerySet, moment: datetime) -> PointQuerySet:
    """Those of ``points``, of plain kernels, of which a run had been received at ``moment`` and was
    not withdrawn then.
    """
    runs = (
        Run.objects.counted_at(moment)
        .plain()
        .filter(
            revision=OuterRef("revision"),
            hardware=OuterRef("series__hardware"),
            mode=OuterRef("series__mode"),
        )
    )
    return points.filter(Exists(runs))
