"""What an alert says in a line: shared by the inbox, the alert's page and the commit's."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries import Suspicion, by_alert, findings_of, suspicions_of
from webapp.analysis.models import Finding
from webapp.charts.text import MARKS

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
    """An alert with its findings, the weightiest first (regressions before improvements), and the
    commits that it suspects.
    """

    alert: Alert
    findings: Sequence[Finding]
    suspicion: Suspicion

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
        """The sign of the verdict, for those who do not see colours."""
        return MARKS_OF[Alert.Verdict(self.alert.verdict)]

    @property
    def css_class(self) -> str:
        """The CSS class of the verdict."""
        return CLASSES[Alert.Verdict(self.alert.verdict)]


def summarise(alerts: Sequence[Alert], *, on: str = "") -> list[AlertSummary]:
    """The summaries of ``alerts`` in their order, in three queries; on the page of one
    hardware what was found ``on`` it comes first: its page is about its own losses.
    """
    if not alerts:
        return []
    rows = (
        findings_of(alerts).with_subjects().with_revisions().with_builds().with_today().defer("why")
    )
    members = {
        pk: sorted(found, key=lambda row: bool(on) and row.series.hardware.name != on)
        for pk, found in by_alert(rows).items()
    }
    suspicions = suspicions_of(alerts)
    return [AlertSummary(row, members.get(row.pk, []), suspicions[row.pk]) for row in alerts]
