"""The tested commits around one are the same whether they lie close or far apart."""

import pytest

from tests import make
from webapp.results import queries
from webapp.results.models import Revision, Series, Variant
from webapp.results.queries import around

pytestmark = pytest.mark.django_db


@pytest.fixture
def along() -> list[Revision]:
    """Twelve commits: each third is tested, in one mode or the other, the fifth as a variant."""
    revisions = make.revisions(12)
    for number, revision in enumerate(revisions[::3]):
        make.point(make.series(in_mode=("pf", "ipfw")[number % 2]), revision)
    plain = make.series(in_mode="pf")
    of = {"tree": plain.tree, "hardware": plain.hardware, "metric": plain.metric}
    patched = Variant.objects.create(name="patched", parts=[])
    make.point(Series.objects.create(**of, mode=plain.mode, variant=patched), revisions[4])
    return revisions


@pytest.mark.parametrize("walked", [0, 1, 3, 200])
@pytest.mark.parametrize("most", [1, 2, 9])
def test_the_nearest_on_either_side_are_found(
    along: list[Revision], walked: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(around, "WALKED", walked)
    tested = [one.position for one in along[::3]]
    for commit in along:
        before = [one for one in tested if one < commit.position][-most:]
        after = [one for one in tested if one > commit.position][:most]
        assert queries.tested_near(commit, most=most) == [*before, *after]
