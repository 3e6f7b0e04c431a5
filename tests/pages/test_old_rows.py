"""What was stored before there were bounds is shown: no page fails over it."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.results.models import Revision
from webapp.results.services.points import refresh_points

pytestmark = pytest.mark.django_db

PAGES = (
    "/",
    "/commits/freebsd-head/r300003/",
    "/commits/freebsd-head/",
    "/hardware/Atom_C2758/T540-CR/",
    "/trends/?tree=freebsd-head&metric=pps",
    "/trends/?tree=freebsd-head&metric=pps&x=time&y=percent",
    "/trends/figure.json?tree=freebsd-head&metric=pps",
    "/trends/figure.json?tree=freebsd-head&metric=pps&y=percent",
    "/compare/?a=freebsd-head:r300000&b=freebsd-head:r300003",
    "/compare.txt?a=freebsd-head:r300000&b=freebsd-head:r300003",
    "/compare.md?a=freebsd-head:r300000&b=freebsd-head:r300003",
    "/api/v1/compare?a=freebsd-head:r300000&b=freebsd-head:r300003",
    "/feeds/freebsd-head.atom",
)
EXTREME = [
    [1e300, 1.5e300, 1.7e300, 1e300],
    [1.7e308, -1.7e308, 1.7e308],
    [1.7e308, 1.7e308, 1.7e308],
    [5e-324, 1e-323, 5e-324],
]


def broken(client: Client) -> list[str]:
    client.raise_request_exception = False
    return [page for page in PAGES if client.get(page).status_code != 200]


@pytest.mark.parametrize(
    "moment", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)]
)
def test_a_time_at_the_end_of_the_calendar_is_shown_in_every_zone(
    client: Client, moment: datetime
) -> None:
    for revision in make.revisions(2):
        make.run(revision, measured_at=moment)
        Revision.objects.filter(pk=revision.pk).update(committed_at=moment)
        make.point(make.series(), revision)
    reader = make.user()
    client.force_login(reader)
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
        User.objects.filter(pk=reader.pk).update(time_zone=zone)
        with timezone.override(zone):
            assert broken(client) == [], zone


@pytest.mark.parametrize("samples", EXTREME, ids=str)
def test_samples_beyond_the_bounds_are_pooled_analysed_and_shown(
    client: Client, samples: list[float]
) -> None:
    places: dict[tuple[int, int], int] = {}
    for number, revision in enumerate(make.revisions(6)):
        of = make.run(revision, samples=samples if number == 1 else make.FIVE_SAMPLES)
        series = of.measurements.get().series_id
        places[series, revision.pk] = revision.position
    refresh_points(places, {revision: at for (_, revision), at in places.items()})
    analyse()
    assert broken(client) == []
