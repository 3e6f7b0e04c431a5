"""Jobs of what an operator merges."""

import pytest

from tests import make
from tests.jobs.steps import NOW, request, taken
from webapp.jobs import services
from webapp.merging.services import merge_hardware, merge_modes, merge_revisions

pytestmark = pytest.mark.django_db


def test_jobs_go_over_to_what_their_hardware_mode_or_revision_was_merged_into() -> None:
    job = request("r1", hardware=make.hardware("Atom/old"), mode=make.mode("fwd"))
    merge_hardware(source=job.hardware, into=make.hardware("Atom/new"))
    merge_modes(source=job.mode, into=make.mode("forwarding"))
    merge_revisions(source=job.revision, into=make.revision("r2"))
    got = taken(serves=[services.Serves("Atom/old", modes=["fwd"])], at=NOW)
    names = (got.pk, got.hardware.name, got.mode.name, got.revision.name)
    assert names == (job.pk, "Atom/new", "forwarding", "r2")
