"""Which kernel is running."""

from __future__ import annotations

import pytest
from labagent.work.lab import names_revision

from agents.tests.make import HEAD_12, REPRODUCIBLE_16

GIT = "FreeBSD a 16.0-CURRENT FreeBSD 16.0-CURRENT #0 n268154-97be6fced7db: Sat Nov 21 amd64"
LINUX = "Linux dut 6.1.0-rc3-00012-gabcdef012345 #7 SMP Sat Nov 21 10:00:00 UTC 2026 x86_64"


@pytest.mark.parametrize(
    ("ident", "name"),
    [
        (HEAD_12, "r317849"),
        (GIT, "n268154"),
        (GIT, "97be6fced7db"),
        (GIT, "97be6fced7db8c5d3f6b2a1e0d9c8b7a60544332"),
        (LINUX, "abcdef0123456789abcdef0123456789abcdef01"),
        ("Linux dut v6.1-rc3 #1", "v6.1-rc3"),
    ],
)
def test_a_kernel_names_its_revision(ident, name):
    assert names_revision(ident, [name])


@pytest.mark.parametrize(
    ("ident", "name"),
    [
        (HEAD_12, "r31784"),
        (HEAD_12, "r317848"),
        (HEAD_12, "r3178490"),
        (GIT, "n268155"),
        (GIT, "97be6fced7dc"),
        (REPRODUCIBLE_16, "n268154"),
        (LINUX, "v6.1"),
        ("", "r1"),
    ],
)
def test_another_kernel_does_not(ident, name):
    assert not names_revision(ident, [name])
