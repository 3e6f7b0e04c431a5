"""A lab that answers from the truth, in its own time, and fails as it is told to."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import Any

from labagent.job import Job
from labagent.readers.profiles import read_profile
from labagent.readers.results import Measurement
from labagent.simulate.faulty import Silence
from labagent.simulate.profiles import SLOWER, simulated_graph
from labagent.simulate.truth import Machine, Truth
from labagent.work.lab import Task, accept_served
from labagent.work.stops import StageFailed

HANG_FACTOR = 3.0
"""A machine that does not come back is given up after so many times its usual boot."""


@dataclass
class SimulatedLab:
    """`speed` divides all durations; `name` is the host that kernels say they run on."""

    truth: Truth
    name: str
    speed: float
    silence: Silence = field(default_factory=Silence)
    _built: set[str] = field(default_factory=set)

    def serves(self) -> list[dict[str, Any]]:
        """What each machine of the truth can measure, as the poll says it."""
        return [machine.serves() for machine in self.truth.machines.values()]

    def accept(self, job: Job) -> None:
        """Raises StageFailed for a job that the truth says nothing about."""
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
        """What ``uname -a`` would say."""
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
        """As many as are measured where the job asks, else what the truth says."""
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
        """Die as by a power cut, once an attempt: the truth would say the same after a restart."""
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
