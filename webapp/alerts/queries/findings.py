"""The findings that alerts hold."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Abs, Coalesce

from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding, FindingQuerySet, SeriesSettings, Verdict


def findings_of(alerts: Iterable[Alert | int]) -> FindingQuerySet:
    """What alerts hold: regressions before improvements, each from the largest on; then what
    options cost, which repeats what was measured.
    """
    costs_last = Case(When(series__metric__of=None, then=0), default=1)
    worst_first = Case(When(verdict=Verdict.WORSE, then=0), default=1)
    size = Abs("change_pct").desc(nulls_first=True)
    members = Finding.all_kinds.filter(
        membership__alert__in=list(alerts), state__in=Finding.ALERTED
    )
    ordered = members.order_by("membership__alert_id", costs_last, worst_first, size, "pk")
    return ordered.select_related("membership")


def by_alert(findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    """Findings read by `findings_of`, by the id of their alert, in their order."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for row in findings:
        found[row.membership.alert_id].append(row)
    return dict(found)


def worst_of(alerts: Iterable[Alert | int]) -> dict[int, Finding]:
    """The weightiest finding, with its subjects, of each alert (by id) that has any."""
    members = findings_of(alerts).distinct("membership__alert_id").with_subjects().with_today()
    members = members.defer("why")
    return {row.membership.alert_id: row for row in members}


WITHDRAWN = "Withdrawn: "


def why_withdrawn(alert: Alert) -> str:
    """What the clearest of the findings that left an alert last says of why it is gone; empty where
    none is.
    """
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    # Before, a finding that was gone went on saying why it had been confirmed.
    gone = Finding.all_kinds.filter(pk__in=left.findings if left else [], why__startswith=WITHDRAWN)
    row = gone.order_by("-score", "pk").first()
    return row.why if row else ""


def candidates_beside(alert: Alert) -> FindingQuerySet:
    """Candidates that suspect a commit which the alert suspects."""
    found = Finding.objects.filter(
        state=Finding.State.CANDIDATE,
        series__tree=alert.tree_id,
        after__position__lt=alert.revision.position,
        last__position__gt=alert.after.position,
    )
    return found.order_by("series__hardware__name", "series__mode__name", "pk")


def of_interest(findings: FindingQuerySet) -> FindingQuerySet:
    """Those at least as large as what is in force, by ``webapp.alerts.queries.min_effects``.

    A change beyond the double range has no figure, and is larger than any.
    """
    least = Coalesce(
        "series__settings__min_effect_pct",
        "series__mode__min_effect__percent",
        "series__hardware__min_effect__percent",
        "series__tree__min_effect__percent",
        Value(SeriesSettings.DEFAULT_MIN_EFFECT_PCT),
    )
    return findings.annotate(size=Abs("change_pct"), least=least).filter(
        Q(size__gte=F("least")) | Q(size=None)
    )
