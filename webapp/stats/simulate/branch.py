"""A stable branch of the simulated lab's tree, measured on two of its machines.

What the tree had lost before the branch left it is lost there too; what came later never came.
"""

from datetime import timedelta
from math import prod

import numpy as np

from webapp.stats.simulate import lab
from webapp.stats.simulate.series import make_series

BRANCHED_AT = 40
"""Index of the tree's revision that the branch leaves behind."""

MEASURED_ON = lab.MACHINES[:2]
REVISIONS, EVERY = 12, 5
"""Measured revisions of the branch, and how many revisions of the tree lie between two of them."""

RELEASE = "11.1-STABLE"


def make_branch(seed: int = 11) -> lab.Lab:
    """Draw it; the same seed gives the same lab, to the last digit."""
    rng = np.random.default_rng(seed)
    revisions = tuple(_revision(i, one) for i, one in enumerate(_followed()))
    runs: list[lab.LabRun] = []
    for i, machine in enumerate(MEASURED_ON):
        for j, (workload, level) in enumerate(machine.level.items()):
            lost = prod(
                1 + pct.get((machine.name, workload), 0.0) / 100
                for at, pct in lab.STEPS.items()
                if at <= BRANCHED_AT
            )
            series = make_series(
                seed=int(rng.integers(2**31)),
                revisions=REVISIONS,
                scatter=machine.scatter,
                level=level * lost,
            )
            late = timedelta(hours=5 + 3 * i + j)
            runs += lab.runs_of_series(machine.name, workload, revisions, series, late)
    return lab.Lab(
        "freebsd-stable-11", "pps", "packets/s", "more", revisions, tuple(runs), (), RELEASE
    )


def _followed() -> tuple[lab.LabRevision, ...]:
    """The revisions of the tree behind which those of the branch follow."""
    last = BRANCHED_AT + EVERY * (REVISIONS - 1)
    return lab.make_lab().revisions[BRANCHED_AT : last + 1 : EVERY]


def _revision(index: int, followed: lab.LabRevision) -> lab.LabRevision:
    position = followed.position + 1
    return lab.LabRevision(
        position=position,
        revision=f"r{position}",
        author=followed.author,
        subject=f"Simulated merge {index + 1} of {REVISIONS}",
        committed_at=followed.committed_at + timedelta(days=1),
    )
