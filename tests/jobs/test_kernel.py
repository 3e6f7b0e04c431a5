"""Which revision a kernel is by its own account."""

import pytest

from tests import make
from webapp.jobs.services.completing import KernelMatch, ids_in, match_kernel
from webapp.results.models import Revision, RevisionAlias

HASH = "9f3ac1e02b119f3ac1e02b119f3ac1e02b119f3a"


@pytest.mark.parametrize(
    ("ident", "ids"),
    [
        ("FreeBSD 12.0-CURRENT #0 r303643M: Tue Aug  2 10:00:00 UTC 2016 amd64", ["r303643"]),
        ("FreeBSD 12.0-CURRENT #0 r303643: Tue", ["r303643"]),
        ("FreeBSD 14.0-CURRENT #0 main-n255632-9f3ac1e02b11: x", ["n255632", "9f3ac1e02b11"]),
        ("FreeBSD 13.0-CURRENT #1 main-c255632-g9f3ac1e02b11-dirty", ["c255632", "9f3ac1e02b11"]),
        ("Linux dut 6.6.0-rc1-00123-g9f3ac1e02b11 #1 SMP 20160802 x86_64", ["9f3ac1e02b11"]),
        ("Linux deadbeefcafe 6.6.0 #1 SMP PREEMPT", []),
        ("FreeBSD rack-r12345-2 12.0-RELEASE", []),
        ("", []),
    ],
)
def test_ids_are_found_where_the_ident_means_a_commit(ident: str, ids: list[str]) -> None:
    assert ids_in(ident) == ids


def _revision() -> Revision:
    revision = make.revision("n255632")
    RevisionAlias.objects.create(tree=revision.tree, revision=revision, name=HASH)
    make.revision("r303642")
    return revision


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ident", "answer"),
    [
        ("14.0-CURRENT main-n255632-9f3ac1e02b11", KernelMatch.THE_SAME),
        ("14.0-CURRENT main-n255632-aaaaaaaaaaaa", KernelMatch.THE_SAME),
        ("6.6.0-g9f3ac1e02b11", KernelMatch.THE_SAME),
        ("14.0-CURRENT main-n255631-0123456789ab", KernelMatch.ANOTHER),
        ("6.6.0-g0123456789ab", KernelMatch.ANOTHER),
        ("12.0-CURRENT r303642", KernelMatch.ANOTHER),
        ("12.0-CURRENT r999999", KernelMatch.NOTHING),
        ("GENERIC", KernelMatch.NOTHING),
    ],
)
def test_a_kernel_is_held_against_every_name_of_the_revision(
    ident: str, answer: KernelMatch
) -> None:
    assert match_kernel(ident, _revision()) is answer
