"""Profiles as an agent sends them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from tests.results.steps import an_agent
from webapp.api.profiles import ProfileIn
from webapp.results.services import store_profile
from webapp.stats.profiles.calls import Function, calls_of

Stacks = Mapping[str, int]
FORWARDING: Stacks = {
    "fork_exit;ithread_loop;ether_input;ip_tryforward;fib4_lookup": 300,
    "fork_exit;ithread_loop;ether_input;ip_tryforward;ether_output": 450,
    "fork_exit;ithread_loop;ether_input;ip_tryforward;ipfw.ko`ipfw_chk": 230,
    "fork_exit;sched_idletd;cpu_idle": 20,
}
"""Stacks of a small forwarding path, outermost caller first, a module before its function."""


def profile_document(*cpus: Stacks, **fields: Any) -> dict[str, Any]:
    """The document of a profile; ``cpus`` are the stacks of each, else one runs `FORWARDING`."""
    sections = [
        {tuple(map(_function, stack.split(";"))): count for stack, count in cpu.items()}
        for cpu in cpus or [FORWARDING]
    ]
    calls = calls_of(sections)
    section, node = calls.counts.nonzero()
    document = {
        "name": "bench.forwarding.1.pmc.graph",
        "format": "pmcstat",
        "event": "CPU_CLK_UNHALTED_CORE",
        "iteration": 1,
        "boot": None,
        "expected": calls.counts.sum(axis=1).tolist(),
        "truncated": False,
        "unsymbolized": 0,
        "pps": 1_000_000.0,
        "cores": len(sections),
        "warnings": [],
        "functions": [[one.name, one.module] for one in calls.functions],
        "parent": calls.parent.tolist(),
        "function": calls.function.tolist(),
        "node": node.tolist(),
        "section": section.tolist(),
        "count": calls.counts[section, node].tolist(),
    }
    return document | fields


def _function(frame: str) -> Function:
    module, _, name = frame.rpartition("`")
    return Function(name, module or "kernel")


def boots_of(*, lookup: int = 300, boots: int = 4, pps: float = 1e6) -> list[dict[str, Any]]:
    """Documents of boots on two CPUs in which the lookup of routes takes about ``lookup`` samples
    of a CPU; other functions scatter from boot to boot.
    """
    return [
        profile_document(
            *(
                FORWARDING
                | {
                    "fork_exit;ithread_loop;ether_input;ip_tryforward;fib4_lookup": lookup + boot,
                    "fork_exit;ithread_loop;ether_input;ip_tryforward;ether_output": 450 + 2 * cpu,
                }
                for cpu in range(2)
            ),
            boot=f"boot {boot}",
            name=f"bench.forwarding.{boot + 1}.pmc.graph",
            iteration=boot + 1,
            pps=pps * (1 + 0.002 * (boot % 3)),
        )
        for boot in range(boots)
    ]


def store(run: str, documents: Sequence[dict[str, Any]]) -> None:
    """The profiles of a run arrive."""
    for one in documents:
        sent = ProfileIn.model_validate(one).document()
        store_profile(agent=an_agent(), uuid=UUID(run), document=sent)
