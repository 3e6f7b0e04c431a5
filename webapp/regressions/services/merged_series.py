"""Keep what people set for a series, and said of its findings, when it turns out to be another."""

from django.db.models import Model

from webapp.regressions.models import Assignment, SeriesSettings, ThresholdChange
from webapp.results.models import Series
from webapp.results.services.following import goes_over, on_merged

goes_over(Assignment, "series")
goes_over(ThresholdChange, "series")


@on_merged
def move_settings(source: Model, into: Model) -> None:
    """The settings of the series that stays hold, if it has any."""
    if not isinstance(source, Series) or not isinstance(into, Series):
        return
    if not SeriesSettings.objects.filter(series=into).exists():
        SeriesSettings.objects.filter(series=source).update(series=into)
