"""From names in documents to rows."""

import pytest

from tests.results.steps import measured, upload
from webapp.results.documents import Unprocessable
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db


def test_two_revisions_of_one_batch_do_not_share_a_place() -> None:
    with pytest.raises(Unprocessable, match=r"runs\[1\]\.position: position 7 .* is a;"):
        upload(measured("a", position=7), measured("b", position=7))
    assert not Revision.objects.exists()


def test_one_name_in_two_trees_is_two_revisions() -> None:
    upload(measured("r5"), measured("r5", tree="other"), measured("r6", tree="other"))
    assert Revision.objects.count() == 3
