"""Releases and branch points."""

from datetime import date

import pytest

from tests import make
from webapp.events.models import Release
from webapp.events.services import ReleaseTaken, record_release
from webapp.results.models import Revision
from webapp.results.services import Unprocessable

pytestmark = pytest.mark.django_db


def test_a_release_is_stored_once_and_a_name_means_one_revision() -> None:
    make.revision("r300000")
    given = {"tree": make.tree(), "name": "11.0", "revision": "r300000", "kind": "release"}
    row, is_new = record_release(**given, released_on=date(2016, 10, 10))
    again, second = record_release(**given, released_on=date(2016, 10, 10))
    assert (is_new, second, again.pk) == (True, False, row.pk)
    with pytest.raises(ReleaseTaken, match="released_on"):
        record_release(**given)
    with pytest.raises(ReleaseTaken, match=r"revision: '11[.]0' of freebsd-head is stored with"):
        record_release(**{**given, "revision": "r300001"}, released_on=date(2016, 10, 10))


def test_a_revision_is_found_by_any_name_and_made_where_its_id_shows_its_place() -> None:
    record_release(tree=make.tree(), name="stable/11", revision="r302400", kind="branch point")
    made = Revision.objects.named(tree=make.tree(), name="r302400")
    assert made is not None
    assert made.position == 302400
    assert Release.objects.get().revision == made


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("name", " ", "give a name"),
        ("name", "a\nb", "offset 1"),
        ("kind", "party", "choose one of"),
        ("revision", "deadbeef", "does not give its place"),
        ("revision", "n1", "position 1000000001 of freebsd-head is that of deadbee"),
        ("revision", "waits", "waits for its place"),
    ],
)
def test_what_is_wrong_is_named(field: str, value: str, text: str) -> None:
    make.revision("deadbee", position=1_000_000_001)
    make.revision("waits", position=2**62 + 5)
    given = {"tree": make.tree(), "name": "11.0", "revision": "r300000", "kind": "release"}
    with pytest.raises(Unprocessable, match=text) as refused:
        record_release(**{**given, field: value})
    assert refused.value.problems[0].path == field
    assert not Release.objects.exists()
