"""Profiles of the simulated lab: five boots on both sides of what was planted.

A packet costs the inverse of the rate, and what a commit changed of it is in one function of the
mode. The stacks are folded, as `stackcollapse-pmc.pl` writes them.
"""

import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from webapp.stats.simulate import Lab, LabRun, Planted

PROFILED_KINDS = ("step", "mixed")
BOOTS, SAMPLES = 5, 20_000
SCATTER = 0.01
"""Standard deviation of a function's cost between boots, as a share of it."""

INPUT = "fork_exit;ithread_loop;rxeof;ether_input;netisr_dispatch_src;ip_input"
OUTPUT = f"{INPUT};ip_tryforward;ether_output"
COSTS: Mapping[str, float] = {
    "fork_exit;ithread_loop;rxeof": 18.0,
    "fork_exit;ithread_loop;rxeof;refill_fl;uma_zalloc_arg": 9.0,
    "fork_exit;ithread_loop;rxeof;ether_input": 9.0,
    INPUT: 7.0,
    f"{INPUT};ip_tryforward": 12.0,
    f"{INPUT};ip_tryforward;fib4_lookup": 15.0,
    OUTPUT: 8.0,
    f"{OUTPUT};arpresolve": 5.0,
    f"{OUTPUT};transmit;eth_tx": 15.0,
    "fork_exit;sched_idletd;cpu_idle": 2.0,
}
"""Percent of the samples of plain forwarding, by stack."""

CHANGED: Mapping[str, str] = {
    "forwarding": f"{INPUT};ip_tryforward;fib4_lookup",
    "ipfw": f"{INPUT};pfil_run_hooks;ipfw_check_packet;ipfw_chk;ipfw_dyn_lookup_state",
    "pf": f"{INPUT};pfil_run_hooks;pf_check_in;pf_test;pf_find_state",
}
"""What a commit changes, by the first word of the workload."""

FILTER_COST = 45.0
"""Percent of a plain packet that a filter costs: a large gain has room in it."""


def profile_texts(lab: Lab) -> Iterator[tuple[LabRun, int, str]]:
    """Each profiled run with the number of its boot, from 1, and the folded stacks."""
    for planted in lab.planted:
        if planted.kind in PROFILED_KINDS:
            for (hardware, workload), percent in planted.pct.items():
                before, after = _ends(lab, planted, hardware, workload)
                for run, factor in ((before, 1.0), (after, 1 + percent / 100)):
                    for boot in range(1, BOOTS + 1):
                        yield run, boot, _folded(run, boot, factor)


def _ends(lab: Lab, planted: Planted, hardware: str, workload: str) -> tuple[LabRun, LabRun]:
    """The last run before what was planted, and the first with it."""
    its = [run for run in lab.runs if (run.hardware, run.workload) == (hardware, workload)]
    at = next(
        i for i, run in enumerate(its) if run.position >= int(planted.revision.removeprefix("r"))
    )
    return its[at - 1], its[at]


def _folded(run: LabRun, boot: int, factor: float) -> str:
    """One boot of a kernel that forwards ``factor`` times as much as the one before."""
    costs = dict(COSTS)
    changed = CHANGED[run.workload.partition("-")[0]]
    costs.setdefault(changed, FILTER_COST)
    whole = sum(costs.values())
    costs[changed] = max(costs[changed] + whole * (1 / factor - 1), 0.01 * whole)
    seed = zlib.crc32(f"{run.hardware} {run.workload} {run.revision} {boot}".encode())
    rng = np.random.default_rng(seed)
    shares = np.array(list(costs.values())) * rng.normal(1, SCATTER, len(costs))
    counts = rng.multinomial(SAMPLES, shares / shares.sum()).tolist()
    return "".join(f"{stack} {n}\n" for stack, n in zip(costs, counts, strict=True) if n)
