"""Agreeing candidates beside revisions: read with them, in the statement that reads them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject

from webapp.alerts.models import Agreement
from webapp.results.models import Revision, RevisionQuerySet

LEAST_SHARE = 1e-4
"""The smallest share that the tails of real noise allow to be told."""

FIELDS = {
    "after": "after__name",
    "likeliest": "likeliest__name",
    "last": "last__name",
    "here": "here",
    "verdict": "verdict",
    "series": "series",
    "received": "received",
    "machines": "machines",
    "received_machines": "received_machines",
    "false_share": "false_share",
    "change_pct": "change_pct",
}


@dataclass(frozen=True, slots=True)
class Agreeing:
    """An `Agreement` as it is told: revisions by name, ``change_pct`` negative where worse."""

    after: str
    likeliest: str
    last: str
    here: float
    verdict: str
    series: int
    received: int
    machines: int
    received_machines: int
    false_share: float
    change_pct: float

    @property
    def false_of_hundred(self) -> str:
        """Of a hundred commits without a change, how many show as much."""
        return (
            f"{100 * self.false_share:.1g}"
            if self.false_share >= LEAST_SHARE
            else "fewer than 0.01"
        )


def with_agreeing(revisions: RevisionQuerySet, *, around: bool = False) -> RevisionQuerySet:
    """``revisions``, each with what `agreeing_of` tells: where it is the likeliest one, or, with
    ``around``, among the commits in question.
    """
    shown = Agreement.objects.shown()
    if around:
        found = shown.filter(
            tree=OuterRef("tree"),
            after__position__lt=OuterRef("position"),
            last__position__gte=OuterRef("position"),
        )
    else:
        found = shown.filter(likeliest=OuterRef("pk"))
    first = found.order_by("-score", "pk").values(told=JSONObject(**FIELDS))[:1]
    return revisions.annotate(agreeing=Subquery(first))


def agreeing_of(revision: Revision) -> Agreeing | None:
    """What is told of a revision that was read `with_agreeing`; None where nothing is."""
    told: Mapping[str, Any] | str | None = getattr(revision, "agreeing", None)
    if isinstance(told, str):  # of a statement that was kept: its columns are as they were sent
        told = json.loads(told)
    return Agreeing(**told) if isinstance(told, dict) else None
