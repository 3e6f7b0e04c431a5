"""What an alert says in a line: shared by the inbox, the alert's page and the commit's."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from webapp.charts.text import MARKS
from webapp.regressions.models import Alert, Finding

MARKS_OF = {
    Alert.Verdict.REGRESSION: MARKS["worse"],
    Alert.Verdict.IMPROVEMENT: MARKS["better"],
    Alert.Verdict.MIXED: MARKS["worse"] + MARKS["better"],
}
CLASSES = {
    Alert.Verdict.REGRESSION: "worse",
    Alert.Verdict.IMPROVEMENT: "better",
    Alert.Verdict.MIXED: "mixed",
}


@dataclass(frozen=True, slots=True)
class AlertSummary:
    """An alert with its findings, the weightiest first: regressions before improvements."""

    alert: Alert
    findings: Sequence[Finding]

    @property
    def worst(self) -> Finding | None:
        """None when its findings are gone."""
        return self.findings[0] if self.findings else None

    @property
    def more(self) -> int:
        """How many findings there are besides the worst."""
        return max(len(self.findings) - 1, 0)

    @property
    def marks(self) -> str:
        return MARKS_OF[Alert.Verdict(self.alert.verdict)]

    @property
    def css_class(self) -> str:
        return CLASSES[Alert.Verdict(self.alert.verdict)]


def open_by_severity(limit: int, *, hardware: str = "") -> list[AlertSummary]:
    """The open regressions, the largest loss first, in two queries."""
    found = Alert.objects.open().about(hardware=hardware).by_severity()
    return summarise(list(found.with_revisions()[:limit]))


def summarise(alerts: Sequence[Alert]) -> list[AlertSummary]:
    """The summaries of ``alerts`` in their order, in one query."""
    if not alerts:
        return []
    rows = Finding.objects.of_alerts(alerts).with_subjects().with_revisions().defer("why")
    held = {pk: list(group) for pk, group in groupby(rows, key=lambda row: row.alert_id)}
    return [AlertSummary(alert, held.get(alert.pk, [])) for alert in alerts]
