"""Modes that may be one in two spellings: what is suggested to operators, and what they dismiss."""

from dataclasses import dataclass

from django.db.models import Count
from django.utils import timezone
from django.utils.http import urlencode

from webapp.accounts.models import User
from webapp.results.models import DismissedTwins, Mode
from webapp.results.services.bulk import fetch_rows
from webapp.results.twins import spelt_alike, suggest

TOGETHER = """
SELECT pair.one, pair.other
  FROM unnest(%s::bigint[], %s::bigint[]) AS pair (one, other)
 WHERE EXISTS (
       SELECT FROM results_run AS run
         JOIN results_run AS beside
           ON beside.revision_id = run.revision_id AND beside.hardware_id = run.hardware_id
        WHERE run.mode_id = pair.one AND beside.mode_id = pair.other
          AND run.superseded_by_id IS NULL AND beside.superseded_by_id IS NULL)
"""


@dataclass(frozen=True, slots=True)
class Suggested:
    """Two modes that may be one. ``goes`` has no more runs than ``stays``."""

    goes: Mode
    stays: Mode
    reason: str

    @property
    def alias(self) -> str:
        """The one part of their names that differs, as a query of the form of an alias; empty: more
        than one does.
        """
        one, other = self.goes.parts, self.stays.parts
        pairs = [
            ("workload", {one.workload}, {other.workload}),
            ("traffic", {one.traffic or ""}, {other.traffic or ""}),
            ("option", set(one.options), set(other.options)),
        ]
        differing = [(kind, a - b, b - a) for kind, a, b in pairs if a != b]
        if len(differing) != 1 or any(len(names) != 1 for names in differing[0][1:]):
            return ""
        kind, (name,), (means,) = differing[0]
        return urlencode({"kind": kind, "name": name, "means": means}) if name and means else ""


def suggested_twins() -> list[Suggested]:
    """What is suggested now, without what was dismissed. Four statements at most."""
    ids = dict(Mode.objects.values_list("name", "pk"))
    alike = spelt_alike(ids)
    if not alike:
        return []
    columns = [ids[one.one] for one in alike], [ids[one.other] for one in alike]
    names = {pk: name for name, pk in ids.items()}
    together = {frozenset((names[one], names[two])) for one, two in fetch_rows(TOGETHER, *columns)}
    dismissed = set(DismissedTwins.objects.values_list("one", "other"))
    found = [one for one in suggest(ids, together) if (one.one, one.other) not in dismissed]
    wanted = {name for one in found for name in (one.one, one.other)}
    modes = {
        mode.name: mode for mode in Mode.objects.filter(name__in=wanted).annotate(n=Count("runs"))
    }
    return [
        _suggested(modes[one.one], modes[one.other], one.reason)
        for one in found
        if one.one in modes and one.other in modes  # unless it was merged at this moment
    ]


def dismiss_twins(*, one: str, other: str, by: User) -> None:
    """Two modes, by their names, are two things: do not suggest them again."""
    first, second = sorted((one, other))
    DismissedTwins.objects.get_or_create(
        one=first, other=second, defaults={"dismissed_by": by, "dismissed_at": timezone.now()}
    )


def suggest_again(*, one: str, other: str) -> None:
    """Take a dismissal back."""
    first, second = sorted((one, other))
    DismissedTwins.objects.filter(one=first, other=second).delete()


def _suggested(one: Mode, other: Mode, reason: str) -> Suggested:
    def runs(mode: Mode) -> tuple[int, str]:
        return (mode.n, mode.name)  # type: ignore[attr-defined]

    goes, stays = sorted((one, other), key=runs)
    return Suggested(goes, stays, reason)
