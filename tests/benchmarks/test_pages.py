"""The instance that the benchmark of the pages fills."""

import pytest
from django.test import Client

from benchmarks import _pages_filled
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Hardware, Measurement, Point, Run, Series

pytestmark = [pytest.mark.bench, pytest.mark.django_db]


def test_every_machine_has_what_the_first_has(client: Client) -> None:
    _, after = _pages_filled.fill(series=40, revisions=5)
    assert (Hardware.objects.count(), Series.objects.count()) == (2, 40)
    for model in (Run, Measurement, Point):
        assert model.objects.count() == 40 * 5
    assert Finding.objects.count() == SeriesAnalysis.objects.count() == 40
    assert AlertFinding.objects.filter(alert=Alert.objects.get()).count() == 40
    for machine in Hardware.objects.all():
        assert client.get(machine.get_absolute_url()).status_code == 200
    assert "mode-19" in client.get(after.get_absolute_url()).content.decode()


def test_modes_of_one_revision_stand_beside_those_with_a_history() -> None:
    _pages_filled.fill(series=6, revisions=5, modes=3, singles=4)
    assert (Hardware.objects.count(), Series.objects.count()) == (2, 14)
    assert Point.objects.count() == 6 * 5 + 2 * 4
