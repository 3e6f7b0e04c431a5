"""The truth that a simulated lab measures: levels, steps, noise, durations, and what goes wrong."""

import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from labagent.files import Table, read_toml
from labagent.job import Job
from labagent.model import Metric

GIT_COUNT_OFFSET = 10**9
"""rN stands at N, nN behind all of these, as on the server."""

MOST_DRIFT = 1.0
"""Percent a job: beyond it nothing is left to measure after some hundred of them."""

DEFAULT_METRIC = Metric("pps", "packets/s", "more")
_SVN, _COUNT = re.compile(r"r(\d{1,9})"), re.compile(r"n(\d{1,9})")
_MACHINE_KEYS = (
    *("run_noise", "boot_noise", "build_noise", "metric", "trees", "rebuilds"),
    *("build_seconds", "boot_seconds", "run_seconds"),
)


@dataclass(frozen=True)
class Noise:
    """Standard deviations in percent of the level."""

    run: float
    boot: float
    build: float


@dataclass(frozen=True)
class Durations:
    """Seconds of a lab whose time is not sped up."""

    build: float
    boot: float
    run: float


@dataclass(frozen=True)
class Machine:
    """A simulated hardware. `levels` maps a mode to the metric's level before any step; None as
    `trees` is any."""

    name: str
    levels: Mapping[str, float]
    metric: Metric
    noise: Noise
    durations: Durations
    trees: tuple[str, ...] | None = None
    rebuilds: bool = True

    def serves(self) -> dict[str, Any]:
        """What the machine can measure, as the poll states it."""
        trees = None if self.trees is None else list(self.trees)
        modes = list(self.levels)
        return {
            "hardware": self.name,
            "modes": modes,
            "trees": trees,
            "rebuilds": self.rebuilds,
        }


@dataclass(frozen=True)
class Step:
    """From `position` on the level is `percent` higher; None as hardware or mode is all."""

    tree: str
    position: int
    percent: float
    hardware: str | None = None
    mode: str | None = None

    def concerns(self, job: Job, position: int) -> bool:
        """Whether the change is in what the job measures at ``position``."""
        return (
            self.tree == job.tree
            and self.position <= position
            and self.hardware in (None, job.hardware)
            and self.mode in (None, str(job.mode))
        )


@dataclass(frozen=True)
class Faults:
    """What goes wrong: shares (0 to 1) of jobs or boots, revisions that do not build, a clock."""

    unbuildable: tuple[str, ...] = ()
    build_failure: float = 0.0
    wrong_kernel: float = 0.0
    hang: float = 0.0
    crash: float = 0.0
    late: float = 0.0
    twice: float = 0.0
    clock_seconds: float = 0.0


@dataclass(frozen=True)
class Truth:
    """Everything a simulated lab knows. Draws follow from `seed` and what they are for.

    `drift` is what the machines change with each job that the server numbers, in percent;
    `profiled_boots` are profiled of each job, also where it asks for no profile.
    """

    seed: int
    machines: Mapping[str, Machine]
    steps: tuple[Step, ...]
    orders: Mapping[str, Mapping[str, int]]
    faults: Faults
    drift: float = 0.0
    profiled_boots: int = 0

    def position(self, tree: str, revision: str) -> int | None:
        """The place of a revision: in the file's list, else by its name."""
        order = self.orders.get(tree)
        return order.get(revision) if order is not None else position_of(revision)

    def value(self, job: Job, build: str, boot: int, iteration: int) -> float:
        """What one iteration measures: level × steps × drift × (1 + noise) of build, boot, run."""
        machine = self.machines[job.hardware]
        value = machine.levels[str(job.mode)] * self.gain(job)
        value *= (1 + self.drift / 100) ** job.id
        subject = f"{job.hardware} {job.mode}"
        value *= self._factor(machine.noise.build, "build", subject, job.tree, build)
        value *= self._factor(machine.noise.boot, "boot", job.id, boot)
        value *= self._factor(machine.noise.run, "run", job.id, boot, iteration)
        return float(f"{value:.8g}")

    def gain(self, job: Job) -> float:
        """What the steps up to the job's revision have made of the level, as a factor."""
        position = self.position(job.tree, job.revision) or 0
        steps = (step for step in self.steps if step.concerns(job, position))
        return math.prod(1 + step.percent / 100 for step in steps)

    def _factor(self, percent: float, *subject: object) -> float:
        return 1 + percent / 100 * self.draws(*subject).gauss(0.0, 1.0)

    def happens(self, share: float, *subject: object) -> bool:
        """Whether it happens, with this probability, to the subject: always the same for one."""
        return self.draws(*subject).random() < share

    def draws(self, *subject: object) -> random.Random:
        """The random numbers of a subject: always the same for one."""
        return random.Random(repr((self.seed, *subject)))  # noqa: S311 (a simulation)


def position_of(revision: str) -> int | None:
    """The position that a revision's name has, as the server counts it; None: it has none."""
    if match := _SVN.fullmatch(revision):
        return int(match[1])
    if match := _COUNT.fullmatch(revision):
        return GIT_COUNT_OFFSET + int(match[1])
    return None


def load_truth(path: Path, seed: int | None = None) -> Truth:
    """The truth in `path`; `SettingsError` names the key and what to write."""
    table = read_toml(path)
    shared = {key: table.get(key) for key in _MACHINE_KEYS if table.get(key) is not None}
    machines = [_machine(one, shared) for one in _raw_tables(table, "hardware")]
    if not machines:
        raise table.error("hardware", "is missing", "write [[hardware]] with name and levels")
    orders = _orders(table)
    truth = Truth(
        seed=int(table.number("seed", 1)) if seed is None else seed,
        machines={machine.name: machine for machine in machines},
        steps=tuple(_step(one, orders) for one in table.tables("step")),
        orders=orders,
        faults=_faults(table.table("faults")),
        drift=table.number("drift", 0.0, -MOST_DRIFT, MOST_DRIFT),
        profiled_boots=int(table.number("profiled_boots", 0, 0, 100)),
    )
    if seed is not None:
        table.get("seed")
    table.finish()
    return truth


def _raw_tables(table: Table, name: str) -> list[tuple[Table, Mapping[str, Any]]]:
    """The tables with their content, which a machine completes with what all share."""
    return list(zip(table.tables(name), table.get(name) or (), strict=True))


def _machine(one: tuple[Table, Mapping[str, Any]], shared: Mapping[str, Any]) -> Machine:
    own, content = one
    table = Table({**shared, **content}, own.path, own.key("")[:-1])
    machine = Machine(
        name=table.need_word("name", '"HW/NIC"'),
        levels=_levels(table),
        metric=_metric(table.table("metric")),
        noise=Noise(*(table.number(f"{one}_noise", 0.0, 0.0, 50.0) for one in _NOISES)),
        durations=Durations(*(table.number(f"{one}_seconds", 0.0) for one in _STAGES)),
        trees=table.texts("trees"),
        rebuilds=table.flag("rebuilds", default=True),
    )
    table.finish()
    return machine


_NOISES = ("run", "boot", "build")
_STAGES = ("build", "boot", "run")


def _levels(table: Table) -> dict[str, float]:
    inner = table.table("levels")
    if inner is None:
        raise table.error("levels", "is missing", "write levels = { forwarding = 1000000.0 }")
    levels = {name: inner.number(name, 0.0, 1e-9, 1e15) for name in table.mapping("levels")}
    if not levels:
        raise table.error("levels", "is empty", "write levels = { forwarding = 1000000.0 }")
    return levels


def _metric(table: Table | None) -> Metric:
    if table is None:
        return DEFAULT_METRIC
    metric = Metric(
        table.need_text("name", 'such as "pps"'),
        table.need_text("unit", 'such as "packets/s"'),
        table.need_text("better", '"more" or "less"'),
    )
    table.finish()
    return metric


def _orders(table: Table) -> dict[str, dict[str, int]]:
    inner = table.table("revisions")
    if inner is None:
        return {}
    names = table.mapping("revisions")
    lists = {tree: inner.texts(tree) or () for tree in names}
    return {tree: {name: at for at, name in enumerate(order)} for tree, order in lists.items()}


def _step(table: Table, orders: Mapping[str, Mapping[str, int]]) -> Step:
    tree = table.need_text("tree", "the tree whose level it changes")
    step = Step(
        tree=tree,
        position=_step_position(table, orders.get(tree)),
        percent=table.number("percent", 0.0, -99.0, 1000.0),
        hardware=table.text("hardware") or None,
        mode=table.text("mode") or None,
    )
    table.finish()
    return step


def _step_position(table: Table, order: Mapping[str, int] | None) -> int:
    revision = table.text("revision")
    if not revision:
        if table.get("position") is None:
            raise table.error("revision", "is missing", "write revision or position")
        return int(table.number("position", 0.0))
    found = order.get(revision) if order is not None else position_of(revision)
    if found is None:
        raise table.error("revision", f"{revision!r} has no place", "list it under [revisions]")
    return found


def _faults(table: Table | None) -> Faults:
    if table is None:
        return Faults()
    shares = [
        one.name for one in fields(Faults) if one.name not in ("unbuildable", "clock_seconds")
    ]
    faults = Faults(
        unbuildable=table.texts("unbuildable") or (),
        clock_seconds=table.number("clock_seconds", 0.0, -1e9, 1e9),
        **{name: table.number(name, 0.0, 0.0, 1.0) for name in shares},
    )
    table.finish()
    return faults
