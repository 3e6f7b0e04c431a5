"""One series that cannot be analysed holds up no other."""

import pytest

from tests import make
from webapp.alerts.tasks import analyse_series
from webapp.analysis.models import Checkpoint
from webapp.results.models import Series
from webapp.results.services import mark_dirty
from webapp.stats import changes

pytestmark = pytest.mark.django_db


def test_a_series_whose_checkpoint_is_damaged_holds_up_no_other() -> None:
    first, second, third = make.revisions(3, first=300_000)
    rows = {mode: make.series(in_mode=mode) for mode in ("forwarding", "ipfw", "pf")}
    for each in rows.values():
        for revision in (first, second, third):
            make.point(each, revision)
    broken = rows["ipfw"]
    Checkpoint.objects.create(
        series=broken, position=first.position, detector=changes.VERSION, state={"of": "nothing"}
    )
    mark_dirty({each.pk: second.position for each in rows.values()})
    analyse_series()
    assert list(Series.objects.dirty()) == [broken]
    Checkpoint.objects.filter(series=broken).delete()
    analyse_series()
    assert not Series.objects.dirty().exists()
