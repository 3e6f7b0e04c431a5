"""A tree in which one commit of sixty-four costs 2 %, and a lab that measures every sixty-fourth.

Something for a bisect to find, while one looks: the same truth answers the jobs of the
demonstration's simulated agents.
"""

from datetime import timedelta

import numpy as np

from webapp.stats.simulate.lab import AUTHORS, FIRST_DAY, Lab, LabRevision, LabRun, Planted
from webapp.stats.simulate.series import Scatter, Step, make_series

TREE = "freebsd-head"
HARDWARE, WORKLOAD = "Simulated_Epyc_32Cores/25G", "forwarding"
LEVEL = 9.2e6
"""Packets per second before the step."""

RUN, BOOT = 0.5, 0.5
"""Scatter of runs and of boots, in percent: the main case of docs/figures.md."""

STEP_PCT = -2.0
EVERY, MEASURED = 64, 24
GUILTY = EVERY * 20 + 41
"""Index of the commit: the measured revisions before and after it are 64 commits apart."""

FIRST = 400_000
SUBJECT = "Take the route's reference count once per packet"


def make_bisect_lab(seed: int = 64) -> Lab:
    """Draw it; the same seed gives the same lab, to the last digit."""
    revisions = tuple(_revision(index) for index in range(EVERY * (MEASURED - 1) + 1))
    series = make_series(
        seed=seed,
        revisions=MEASURED,
        scatter=Scatter(run=RUN / 100, build=0.0, boot=BOOT / 100),
        events=[Step(GUILTY // EVERY + 1, STEP_PCT)],
        level=LEVEL,
    )
    measured = [revisions[EVERY * i] for i in series.positions]
    runs = [
        LabRun(
            hardware=HARDWARE,
            workload=WORKLOAD,
            revision=one.revision,
            position=one.position,
            build_id=f"{HARDWARE.split('/', 1)[0]}-{one.revision}",
            measured_at=one.committed_at + timedelta(hours=6),
            samples=tuple(round(value * 2) / 2 for value in samples),
            boots=boots,
        )
        for one, samples, boots in zip(measured, series.samples, series.boots, strict=True)
    ]
    guilty = revisions[GUILTY].revision
    description = "forwarding loses 2 %, between two measured revisions"
    planted = Planted("step", guilty, guilty, {(HARDWARE, WORKLOAD): STEP_PCT}, description)
    return Lab(TREE, "pps", "packets/s", "more", revisions, tuple(runs), (planted,))


def _revision(index: int) -> LabRevision:
    author = np.random.default_rng(index).integers(len(AUTHORS))
    subject = SUBJECT if index == GUILTY else f"Simulated change {index}"
    return LabRevision(
        position=FIRST + index,
        revision=f"r{FIRST + index}",
        author=AUTHORS[int(author)],
        subject=subject,
        committed_at=FIRST_DAY + timedelta(hours=index),
    )
