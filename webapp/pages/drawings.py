"""What an alert and a bisect are drawn as, each as one picture."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from webapp.alerts.queries import members_at, one_listed, surroundings_of
from webapp.analysis.models import Finding
from webapp.analysis.queries import moment_of
from webapp.bisects.models import Bisect
from webapp.bisects.queries import view_of
from webapp.charts import bisect
from webapp.charts.standalone import Part, stacked
from webapp.charts.text import change_within
from webapp.pages.alerts.cards import evidence
from webapp.pages.alerts.texts import headline
from webapp.pages.parts.links import NUMBER_MAX

CHARTS = 6
"""Series of an alert that are drawn, the weightiest first."""


def alert_drawing(number: int, asof: str) -> str:
    """The charts around the findings of an alert; with ``asof`` of those it held then."""
    one = one_listed(min(number, NUMBER_MAX))
    if one is None:
        raise Http404(f"no alert {number}")
    findings = list(one.members.findings)
    moment = moment_of(asof)
    if moment is not None:
        held = {past.finding.pk for past in members_at(one.alert, moment)}
        findings = [row for row in findings if row.pk in held]
    shown = findings[:CHARTS]
    near = surroundings_of(shown, whiskers=shown)
    parts = [Part(_title(row), evidence(row, near[row.pk])) for row in shown]
    return stacked(f"Alert {one.alert.pk}: {headline(one)}", [part for part in parts if part.image])


def _title(row: Finding) -> str:
    change = change_within(row.change_pct, row.low_pct, row.high_pct)
    return f"{row.series.subject}, {row.series.hardware}: {change} %"


def bisect_drawing(number: int) -> str:
    """The boots and the probabilities of a bisect."""
    found = get_object_or_404(Bisect.objects.with_subjects(), pk=min(number, NUMBER_MAX))
    view = view_of(found)
    title = f"Bisect {found.pk}: {view.sentence}"
    if view.lanes:
        lanes = [Part(one.name, bisect.draw(view.chart(one.number))) for one in view.lanes]
        return stacked(title, lanes)
    return stacked(title, [Part("", bisect.draw(view.chart()))])
