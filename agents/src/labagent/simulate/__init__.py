"""`labagent simulate`: a lab without machines, whose answers follow from a known truth.

What the functions cost follows from the truth: the cost of a packet is the inverse of the rate, and
what the planted steps change of it is all in one function of the mode.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from labagent.client import Client
from labagent.errors import UnavailableError
from labagent.job import Job, Say, StageFailed, Watch
from labagent.readers.profiles import read_profile
from labagent.simulate.truth import Machine, Truth
from labagent.work.api import JobsApi, Poll, Pulse
from labagent.work.commands import Measurement
from labagent.work.lab import Task, accept_served

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
        count, module = sum(chains.values()), _MODULES.get(name.partition("_")[0], "kernel")
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


PAST_THE_LEASE = 1.2


@dataclass
class Silence:
    """Keeps heartbeats back until the lease has run out."""

    lease_seconds: float = 0.0
    kept: bool = False

    def keep(self, watch: Watch) -> None:
        """Send nothing until the lease has run out."""
        self.kept = True
        watch.wait(PAST_THE_LEASE * self.lease_seconds)


class FaultyApi(JobsApi):
    """`JobsApi` with the truth's faults `late` and `twice`."""

    def __init__(self, client: Client, worker: str, truth: Truth, silence: Silence) -> None:
        super().__init__(client, worker)
        self.truth = truth
        self.silence = silence

    def poll(self, serves: Sequence[Mapping[str, Any]], wait: float, *, draining: bool) -> Poll:
        """As its base; a new job gives the silence its length."""
        found = super().poll(serves, wait, draining=draining)
        if found.job is not None:
            self.silence.kept = False
            self.silence.lease_seconds = found.job.lease.seconds
        return found

    def heartbeat(self, job: int, lease: str, stage: str, progress: str, log: str) -> Pulse:
        """As its base. Raises UnavailableError during the silence."""
        if self.silence.kept:
            raise UnavailableError("simulated silence")
        return super().heartbeat(job, lease, stage, progress, log)

    def send_result(self, job: int, lease: str, run: Mapping[str, Any]) -> None:
        """As its base, and now and then twice."""
        super().send_result(job, lease, run)
        if self.truth.happens(self.truth.faults.twice, "twice", job):
            super().send_result(job, lease, run)


HANG_FACTOR = 3.0
"""A machine that does not come back is given up after so many times its usual boot."""


@dataclass
class SimulatedLab:
    """`speed` divides all durations; `name` is the host that kernels name."""

    truth: Truth
    name: str
    speed: float
    silence: Silence = field(default_factory=Silence)
    _built: set[str] = field(default_factory=set)

    def serves(self) -> list[dict[str, Any]]:
        """What each machine of the truth can measure, as the poll states it."""
        return [machine.serves() for machine in self.truth.machines.values()]

    def accept(self, job: Job) -> None:
        """Raises StageFailed for a job that the truth has nothing about."""
        accept_served(self.serves(), job)
        if self.truth.position(job.tree, job.revision) is None:
            raise StageFailed("lab", f"{job.revision} has no place in the truth about {job.tree}")

    def build(self, task: Task) -> str:
        """Take the time of a build; its name. Raises StageFailed."""
        job, build = task.job, build_name(task.job)
        if build in self._built:
            task.log.note(f"{build} is cached")
            return build
        self._pass(task, self._machine(job).durations.build)
        if job.revision in self.truth.faults.unbuildable:
            task.log.note("simulated compiler: error: this revision does not build")
            raise StageFailed("build", f"{job.revision} does not build")
        if self._happens("build_failure", job):
            raise StageFailed("build", "the simulated build failed")
        self._built.add(build)
        return build

    def digest(self, _task: Task) -> str:
        """Empty: there is no kernel to digest."""
        return ""

    def boots_first(self, _job: Job) -> bool:
        """True: each boot is begun by the lab."""
        return True

    def boots_within(self, _job: Job) -> int:
        """0: a simulated run stays within its boot."""
        return 0

    def boot(self, task: Task, boot: int) -> None:
        """Take the time of a boot. Raises StageFailed where it hangs."""
        seconds = self._machine(task.job).durations.boot
        if self._happens("hang", task.job, boot):
            self._pass(task, HANG_FACTOR * seconds)
            raise StageFailed(
                "boot", f"the machine did not come back in {HANG_FACTOR * seconds:g} s"
            )
        self._pass(task, seconds)

    def identify(self, task: Task, boot: int) -> str:
        """What ``uname -a`` would print."""
        job = task.job
        wrong = self._happens("wrong_kernel", job, boot)
        revision = _another(job.revision) if wrong else job.revision
        host = f"FreeBSD {self.name} 13.0-CURRENT FreeBSD 13.0-CURRENT"
        return f"{host} #0 {revision}: simulated@{self.name}:/usr/obj/SIMULATED amd64"

    def run(self, task: Task, boot: int) -> Measurement:
        """The values that the truth has for this boot. Raises StageFailed."""
        job, machine = task.job, self._machine(task.job)
        if boot == 0 and self._happens("late", job):
            task.log.say(f"job {job.id}: simulated silence until the lease has run out")
            self.silence.keep(task.watch)
        values = []
        for iteration in range(1, job.iterations + 1):
            self._pass(task, machine.durations.run / 2)
            self._crash(task, boot)
            self._pass(task, machine.durations.run / 2)
            values.append(self.truth.value(job, build_name(job), boot, iteration))
        task.log.note(f"{machine.metric.name}: {', '.join(map(str, values))}")
        return Measurement({machine.metric: values})

    def profiled_boots(self, job: Job) -> int:
        """As many as are measured where the job asks, else what the truth has."""
        return job.boots if job.profile else self.truth.profiled_boots

    def profile(self, task: Task, boot: int) -> dict[str, Any]:
        """The profile that the truth has for this boot, by way of a graph of `pmcstat`."""
        job = task.job
        self._pass(task, self._machine(job).durations.run)
        draws = self.truth.draws("profile", job.id, boot)
        path = task.boot_directory(boot) / f"bench.{job.mode.workload}.{boot}.pmc.graph"
        graph = simulated_graph(job.hardware, job.mode.workload, self.truth.gain(job), draws)
        path.write_text(graph, "utf-8")
        profile = read_profile(path)
        profile.pps = SLOWER * self.truth.value(job, build_name(job), boot, 1)
        return profile.document()

    def clean(self, _task: Task) -> None:
        """Nothing is left behind."""

    def _machine(self, job: Job) -> Machine:
        return self.truth.machines[job.hardware]

    def _pass(self, task: Task, seconds: float) -> None:
        task.watch.wait(seconds / self.speed)

    def _happens(self, fault: str, job: Job, *more: object) -> bool:
        share = getattr(self.truth.faults, fault)
        return self.truth.happens(share, fault, job.id, job.attempt, *more)

    def _crash(self, task: Task, boot: int) -> None:
        """Die as by a power cut, once an attempt: the truth would do the same after a restart."""
        mark = task.directory / f"crashed.{task.job.attempt}"
        if self._happens("crash", task.job, boot) and not mark.exists():
            mark.touch()
            task.log.say(f"job {task.job.id}: simulated crash")
            os.kill(os.getpid(), signal.SIGKILL)


def build_name(job: Job) -> str:
    """All builds of a revision are one, until one is asked to be built again."""
    again = job.build_key or (f"job {job.id}" if job.rebuild else "")
    return f"simulated {job.revision} {again}".strip()


def _another(revision: str) -> str:
    """A revision that was not asked for: the one before, where names count."""
    number = revision[1:]
    if revision[:1] in "rn" and number.isdecimal() and int(number) > 0:
        return f"{revision[0]}{int(number) - 1}"
    return "kernel.old"


RESTART_SECONDS = 1.0


def run_several(
    arguments: Sequence[str], name: str, workers: int, state: Path | None, say: Say
) -> None:
    """Run `labagent` with `arguments` once for each worker until it is to end."""
    names = [f"{name}-{number}" for number in range(1, workers + 1)]
    commands = {one: _command(arguments, one, state) for one in names}
    running = {one: _start(command) for one, command in commands.items()}
    received: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        for process in running.values():
            process.send_signal(number)

    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, pass_on)
    while running:
        time.sleep(RESTART_SECONDS / 4)
        for ended in [one for one, process in running.items() if process.poll() is not None]:
            status = running.pop(ended).returncode
            if status < 0 and not received:
                say(f"{ended} died of signal {-status}; starting it again")
                running[ended] = _start(commands[ended])
            elif status:
                say(f"{ended} ended with {status}")


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A group of its own: a Ctrl-C would else arrive twice, and the second one abandons."""
    return subprocess.Popen(command, process_group=0)


def _command(arguments: Sequence[str], name: str, state: Path | None) -> list[str]:
    own = ["--name", name, "--workers", "1", "--parent", str(os.getpid())]
    if state is not None:
        own += ["--state", str(state / name)]
    return [sys.executable, "-m", "labagent", *arguments, *own]
