"""How good the alerts were: their precision, how soon somebody looked, and how much mail they made.

Alerts that were born as history, from imported runs, do not count: nobody was notified of them.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db import models
from django.db.models import Count, Max, Q

from webapp.alerts.models import Alert, AlertEvent
from webapp.outbox.models import Mail
from webapp.stats.intervals import Proportion, proportion

Resolution = Alert.Resolution
REAL = (Resolution.FIXED, Resolution.BACKED_OUT, Resolution.EXPECTED, Resolution.WONT_FIX)
ACTED = Q(triaged=True)
JUDGED = Q(triaged=True, state=Alert.State.RESOLVED)
JUDGED_REAL = JUDGED & Q(resolution__in=REAL)
JUDGED_NOT_REAL = JUDGED & Q(resolution=Resolution.NOT_REAL)
HOURS = (0, 1, 2, 4, 8, 16, 24, 48, 96, 192)
"""Where the classes of the time to triage begin, in hours."""
DAY = 24
AGES = (("under a day", 0, 1), ("1 to 7 days", 1, 7), ("7 to 30 days", 7, 30))
OLDEST = "30 days and more"
ONE_BUILD = "one build a side"


class Percentile(models.Aggregate):
    """PostgreSQL's ``percentile_cont``: interpolated between the two nearest rows."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: Any, share: float = 0.5, **extra: Any) -> None:
        super().__init__(
            expression, share=share, **{"output_field": models.DurationField()} | extra
        )


@dataclass(frozen=True, slots=True)
class Triage:
    """Alerts opened in the period: people's judgments of them, and how soon they acted.

    ``precision`` is None when nobody judged one, ``median`` and ``p90`` when nobody acted on one.
    ``times`` are how many were first acted on within each class of `HOURS`, with its name.
    """

    opened: int
    acted_on: int
    retracted: int
    precision: Proportion | None
    median: timedelta | None
    p90: timedelta | None
    times: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Mails:
    """Mails about alerts: how many, to how many people, and each week to each of them."""

    sent: int
    people: int
    weekly: float | None
    weekly_most: float | None


@dataclass(frozen=True, slots=True)
class Judged:
    """Alerts of one kind: how many were judged real, and the median time to the first act; None
    where nobody judged, or acted on, one.
    """

    kind: str
    opened: int
    real: Proportion | None
    median: timedelta | None


def triage_quality(since: datetime, *, tree: str = "") -> Triage:
    """What became of the alerts opened ``since``, of one ``tree`` (a name) or of all; one query."""
    classes = _classes()
    found = with_time_to_act(since, tree).aggregate(
        **{f"within{index}": Count("pk", filter=took) for index, (_, took) in enumerate(classes)},
        opened=Count("pk"),
        acted_on=Count("pk", filter=ACTED),
        retracted=Count("pk", filter=Q(resolution=Resolution.RETRACTED)),
        real=Count("pk", filter=JUDGED_REAL),
        not_real=Count("pk", filter=JUDGED_NOT_REAL),
        median=Percentile("took", 0.5, filter=ACTED),
        p90=Percentile("took", 0.9, filter=ACTED),
    )
    real, not_real = found.pop("real"), found.pop("not_real")
    times = [(name, found.pop(f"within{index}")) for index, (name, _) in enumerate(classes)]
    return Triage(precision=proportion(real, real + not_real), times=times, **found)


def with_time_to_act(since: datetime, tree: str) -> models.QuerySet[Alert]:
    """The alerts opened ``since`` that count, with ``took``: until a person first acted on one."""
    of_a_person = AlertEvent.objects.filter(
        alert=models.OuterRef("pk"), actor__isnull=False
    ).order_by("pk")
    first = models.Subquery(of_a_person.values("at")[:1])
    took = models.ExpressionWrapper(
        first - models.F("opened_at"), output_field=models.DurationField()
    )
    opened = Alert.objects.about(tree=tree).filter(opened_at__gte=since, history=False)
    return opened.annotate(took=took)


def open_by_age(now: datetime, *, tree: str = "") -> list[tuple[str, int]]:
    """How many alerts wait for somebody, by the time since they were opened, in one query."""
    counts = {
        f"age{i}": Count(
            "pk",
            filter=Q(
                opened_at__lte=now - timedelta(days=least), opened_at__gt=now - timedelta(days=most)
            ),
        )
        for i, (_, least, most) in enumerate(AGES)
    }
    oldest = Count("pk", filter=Q(opened_at__lte=now - timedelta(days=AGES[-1][2])))
    found = Alert.objects.open().about(tree=tree).aggregate(**counts, oldest=oldest)
    named = [(name, found[f"age{i}"]) for i, (name, *_) in enumerate(AGES)]
    return [*named, (OLDEST, found["oldest"])]


def mail_quality(since: datetime, now: datetime) -> Mails:
    """The mails about alerts that were written since and arrived.

    Of every tree: a mail may be about several.
    """
    weeks = (now - since) / timedelta(weeks=1)
    sent = Mail.objects.filter(
        kind__startswith="alert.", state=Mail.State.SENT, created_at__gte=since
    )
    numbers = sent.order_by().values("recipient").annotate(number=Count("pk"))
    found = numbers.aggregate(
        total=models.Sum("number", default=0),
        people=Count("recipient"),
        most=Max("number", default=0),
    )
    total, people = found["total"], found["people"]
    if not people:
        return Mails(total, people, None, None)
    return Mails(total, people, total / people / weeks, found["most"] / weeks)


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


def _classes() -> list[tuple[str, Q]]:
    """The name of each class of the time to triage (``< 1 h``, ``2 h``, …, ``> 8 d``: where it
    ends), and the condition that an alert is in it.
    """
    begins = [timedelta(hours=hours) for hours in HOURS]
    ends = [f"{hours} h" if hours < DAY else f"{hours // DAY} d" for hours in HOURS[1:]]
    within = [Q(took__gte=low, took__lt=high) for low, high in pairwise(begins)]
    names = [f"< {ends[0]}", *ends[1:], f"> {ends[-1]}"]
    conditions = [*within, Q(took__gte=begins[-1])]
    return [(name, ACTED & took) for name, took in zip(names, conditions, strict=True)]
