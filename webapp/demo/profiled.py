"""Profiles of the simulated lab: five boots on both sides of what was planted, and in one mode at
revisions in between.

A packet costs the inverse of the rate, and what commits changed of it is in one function of the
mode. The stacks are folded, as `stackcollapse-pmc.pl` writes them.
"""

import zlib
from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from webapp.stats.simulate import Lab, LabRun, Planted

PROFILED_KINDS = ("step", "mixed")
BOOTS, SAMPLES = 5, 20_000
WATCHED = ("Simulated_Atom_8Cores/10G", "ipfw-statefull")
"""The machine and the mode in which one revision of `EACH` is profiled: a function has a series."""

EACH = 12
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
    for run in dict.fromkeys([*_beside_steps(lab), *_its(lab, *WATCHED)[::EACH]]):
        for boot in range(1, BOOTS + 1):
            yield run, boot, _folded(run, boot, _factor(lab, run))


def _beside_steps(lab: Lab) -> Iterator[LabRun]:
    """The last runs before what was planted, and the first ones with it."""
    for planted in lab.planted:
        if planted.kind in PROFILED_KINDS:
            for subject in planted.pct:
                its = _its(lab, *subject)
                at = next(i for i, run in enumerate(its) if run.position >= _position(planted))
                yield from its[at - 1 : at + 1]


def _its(lab: Lab, hardware: str, workload: str) -> list[LabRun]:
    return [run for run in lab.runs if (run.hardware, run.workload) == (hardware, workload)]


def _position(planted: Planted) -> int:
    return int(planted.revision.removeprefix("r"))


def _factor(lab: Lab, run: LabRun) -> float:
    """How many times as much as at first the kernel of a run forwards, by what was planted."""
    return prod(
        1 + planted.pct.get((run.hardware, run.workload), 0.0) / 100
        for planted in lab.planted
        if planted.kind in PROFILED_KINDS and run.position >= _position(planted)
    )


def _folded(run: LabRun, boot: int, factor: float) -> str:
    """One boot of a kernel that forwards ``factor`` times as much as the first one."""
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
