"""What people said of alerts, by their kind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count

from webapp.alerts.models import Alert
from webapp.alerts.queries.quality import (
    ACTED,
    JUDGED_NOT_REAL,
    JUDGED_REAL,
    Percentile,
    with_time_to_act,
)
from webapp.stats.proportion import Proportion, proportion

ONE_BUILD = "one build a side"


@dataclass(frozen=True, slots=True)
class Judged:
    """Alerts of one kind: how many were judged real, and the median time to the first act; None
    where nobody judged, or acted on, one.
    """

    kind: str
    opened: int
    real: Proportion | None
    median: timedelta | None


def judged_by_kind(since: datetime, *, tree: str = "") -> list[Judged]:
    """The alerts opened ``since`` by kind, the most frequent first; in one query."""
    rows = (
        with_time_to_act(since, tree)
        .values("kind", "one_build")
        .annotate(
            opened=Count("pk"),
            real=Count("pk", filter=JUDGED_REAL),
            not_real=Count("pk", filter=JUDGED_NOT_REAL),
            median=Percentile("took", 0.5, filter=ACTED),
        )
        .order_by("-opened", "kind", "one_build")
    )
    return [
        Judged(
            kind=ONE_BUILD if row["one_build"] else Alert.Kind(row["kind"]).label,
            opened=row["opened"],
            real=proportion(row["real"], row["real"] + row["not_real"]),
            median=row["median"],
        )
        for row in rows
    ]
