"""Call graphs of a small invented way of a packet through a kernel, as `pmcstat -G` writes them.

What the functions cost follows from the truth: the cost of a packet is the inverse of the rate, and
what the planted steps change of it is all in one function of the mode.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Stack = tuple[str, ...]
"""Names of functions, outermost caller first."""

EVENT = "CPU_CLK_UNHALTED_CORE"
SAMPLES = 5000
"""Samples of a CPU."""

MOST_CPUS = 16
SCATTER = 0.01
"""Standard deviation of a function's cost between boots, as a share of it."""

IDLE = 0.02
SLOWER = 0.97
"""What profiling leaves of the rate."""

_CORES = re.compile(r"(\d+)Cores", re.ASCII)
_RECEIVE = "fork_exit ithread_loop intr_event_execute_handlers rxeof"
_INPUT = f"{_RECEIVE} ether_input netisr_dispatch_src ip_input"
_OUTPUT = f"{_INPUT} ip_tryforward ether_output"
_COSTS: Mapping[str, float] = {
    f"{_RECEIVE}": 18.0,
    f"{_RECEIVE} refill_fl uma_zalloc_arg": 9.0,
    f"{_RECEIVE} ether_input": 8.0,
    f"{_INPUT}": 6.0,
    f"{_INPUT} ip_tryforward": 11.0,
    f"{_INPUT} ip_tryforward fib4_lookup rn_match": 12.0,
    f"{_INPUT} ip_tryforward fib4_lookup __rw_rlock": 3.0,
    f"{_OUTPUT}": 6.0,
    f"{_OUTPUT} arpresolve": 4.0,
    f"{_OUTPUT} arpresolve __rw_rlock": 2.0,
    f"{_OUTPUT} transmit mp_ring_enqueue": 7.0,
    f"{_OUTPUT} transmit mp_ring_enqueue eth_tx": 13.0,
    f"{_RECEIVE} m_freem uma_zfree_arg": 1.0,
}
_FILTERS: Mapping[str, str] = {
    "pf": f"{_INPUT} pfil_run_hooks pf_check_in pf_test pf_find_state",
    "ipfw": f"{_INPUT} pfil_run_hooks ipfw_check_packet ipfw_chk ipfw_dyn_lookup",
    "ipf": f"{_INPUT} pfil_run_hooks ipf_check fr_checkstate",
}
_FILTER_COST = 20.0
_PLAIN = f"{_INPUT} ip_tryforward"
_MODULES: Mapping[str, str] = {"pf": "pf.ko", "ipfw": "ipfw.ko", "ipf": "ipl.ko"}


def simulated_graph(hardware: str, workload: str, gain: float, draws: random.Random) -> str:
    """The graph of one boot: ``gain`` is what the steps have made of the rate, as a factor."""
    costs = _costs(workload, gain)
    weights = {stack: max(0.0, cost * draws.gauss(1.0, SCATTER)) for stack, cost in costs.items()}
    cpus = _CORES.search(hardware)
    count = min(MOST_CPUS, max(1, int(cpus[1]))) if cpus else 4
    stacks, shares = list(weights), list(weights.values())
    sections = [Counter(draws.choices(stacks, shares, k=SAMPLES)) for _ in range(count)]
    return "".join(_section(section) for section in sections)


def _costs(workload: str, gain: float) -> dict[Stack, float]:
    """What each stack costs, in percent of a packet before any step; with the idle time."""
    costs = {tuple(stack.split()): cost for stack, cost in _COSTS.items()}
    dearer = tuple(_FILTERS.get(workload.partition("-")[0], _PLAIN).split())
    costs.setdefault(dearer, _FILTER_COST)
    whole = sum(costs.values())
    costs[dearer] = max(0.01 * whole, costs[dearer] + whole * (1 / gain - 1))
    idle = sum(costs.values()) * IDLE / (1 - IDLE)
    return {**costs, ("fork_exit", "sched_idletd", "cpu_idle"): idle}


def _section(stacks: Mapping[Stack, int]) -> str:
    whole = sum(stacks.values())
    writer = _Writer([f"@ {EVENT} [{whole} samples]", ""])
    for name, chains in _by_leaf(stacks):
        writer.module = ""
        writer.write(name, chains, 0, whole)
        writer.lines.append("")
    return "\n".join(writer.lines) + "\n"


@dataclass
class _Writer:
    """The rows so far, and the module that was printed last."""

    lines: list[str]
    module: str = ""

    def write(self, name: str, chains: Mapping[Stack, int], depth: int, whole: int) -> None:
        """Write the row of a function and those of its callers; ``whole`` are the samples of what
        it calls."""
        count, module = sum(chains.values()), _module(name)
        where = f" @ /boot/kernel/{module}" if module != self.module else ""
        self.module = module
        share = f"{100 * count / whole:05.2f}"[:5]
        self.lines.append(f"{' ' * depth}{share}%  {f'[{count}]':<11}{' ' * depth}{name}{where}")
        for caller, above in _by_leaf({stack: n for stack, n in chains.items() if stack}):
            self.write(caller, above, depth + 1, count)


def _by_leaf(stacks: Mapping[Stack, int]) -> Sequence[tuple[str, Counter[Stack]]]:
    """The stacks above each last function, the most frequent first."""
    found: dict[str, Counter[Stack]] = {}
    for stack, count in stacks.items():
        found.setdefault(stack[-1], Counter())[stack[:-1]] += count
    return sorted(found.items(), key=lambda one: (-sum(one[1].values()), one[0]))


def _module(name: str) -> str:
    return _MODULES.get(name.partition("_")[0], "kernel")
