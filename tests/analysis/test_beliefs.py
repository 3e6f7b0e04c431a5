"""What is believed of a series is what all known noises show, whichever are looked at."""

from random import Random

import pytest

from webapp.analysis.queries.series_state import Beliefs
from webapp.stats.single_build import Known, learn

MACHINES, WORKLOADS = range(4), ("pf", "ipfw", "forwarding")


@pytest.mark.parametrize("count", [0, 3, 20, 80])
def test_it_is_what_is_learned_of_all(count: int) -> None:
    random = Random(count)
    rows = [
        ("pps", random.choice(MACHINES), random.choice(WORKLOADS), percent, freedom)
        for percent, freedom in (
            (random.uniform(0.2, 9.0), random.choice((4.0, 8.0, 30.0))) for _ in range(count)
        )
    ]
    beliefs = Beliefs([*rows, *(("bps", *rest) for _, *rest in rows[: count // 2])])
    for machine in MACHINES:
        for workload in WORKLOADS:
            known = [
                Known(percent, freedom, same_hardware=on == machine, same_workload=of == workload)
                for _, on, of, percent, freedom in rows
            ]
            assert beliefs.of("pps", machine, workload) == learn(known)
