"""Bisects of what an operator merges."""

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.models import Bisect
from webapp.bisects.services import advance_bisect
from webapp.bisects.standing import standing_of
from webapp.results.services.merging import merge_modes, merge_revisions

pytestmark = pytest.mark.django_db


def test_a_bisect_goes_over_to_what_its_mode_and_revisions_were_merged_into() -> None:
    bisect = lab.start(Truth())
    other = make.series(on=bisect.series.hardware, in_mode="pf-renamed")
    merge_modes(source=bisect.series.mode, into=other.mode)
    merge_revisions(source=lab.revision(9), into=make.revision("r5009", position=1500))
    advance_bisect(bisect=bisect.pk)
    standing = standing_of(Bisect.objects.with_subjects().get(pk=bisect.pk))
    assert standing.bisect.series == other
    assert standing.revisions[9].name == "r5009"
