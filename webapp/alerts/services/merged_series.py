"""Keep what people set for a series, and said of its findings, when it turns out to be another."""

from django.db.models import Model

from webapp.alerts.models import Assignment, ThresholdChange
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Series
from webapp.results.services.following import goes_over, on_merged

goes_over(Assignment, "series")
goes_over(ThresholdChange, "series")


@on_merged
def move_settings(source: Model, into: Model) -> None:
    """What is set for the series that stays holds, if anything is."""
    if not isinstance(source, Series) or not isinstance(into, Series):
        return
    if not SeriesSettings.objects.filter(series=into).exists():
        SeriesSettings.objects.filter(series=source).update(series=into)
