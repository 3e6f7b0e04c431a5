"""An archive before it is written: its directories and runs, and what is wrong with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

from benchmarks.archives.commits import Commit, History, Imported
from benchmarks.archives.logs import Iteration, draw_iterations

DEFAULT_TOPIC = "firewalls"
MACHINES = (
    "Atom_C2558_4Cores/Intel_i350",
    "Atom_C2758_8Cores/Chelsio_T540-CR",
    "AMD_GX-412TC_4Cores/Intel_i210AT",
    "Xeon_E5-2650_8Cores/Chelsio_T540-CR",
    "Xeon_L5630_4Cores/82599EB",
)
CONFIGURATIONS = ("forwarding", "ipfw-stateful", "pf", "pf-statefull", "ipf-stateful", "ipfw")


@dataclass(frozen=True, slots=True)
class Sign:
    """How a fault is to show, with ``text`` in it.

    * ``filed``: filed at the commit, mode and machine right; ``remarked``: that, and the server
      names the rule; ``aliased``: that, and the other count becomes a name of the commit
    * ``waits``: with the commit among the candidates; ``noticed``: it waits or is remarked;
      ``unaliased``: it waits, or is filed right without the wrong name
    * ``copied``: not counted as another measurement without a word; ``original``: filed once, be it
      from the copy
    * ``warned``, ``found`` (a finding beside the sample), ``skipped``: by the agent
    """

    what: Literal[
        "filed", "remarked", "aliased", "waits", "noticed", "unaliased", "copied", "original",
        "warned", "found", "skipped",
    ]  # fmt: skip
    text: str = ""


@dataclass
class PlannedRun:
    """One group of logs. ``commit`` is the one that was measured; ``sign`` is how the run is to be
    filed by what its directory states, None: it is filed there as any other."""

    commit: Commit
    uname: str
    cfg: str = ""
    image: str = ""
    pktgen: str = ""
    options: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    raw: str = ""
    info: Literal["new", "old", ""] = "new"
    info_cfg: str = ""
    log_cfg: str = ""
    """What `.info` and logs call the configuration where that differs from ``cfg``."""
    iterations: list[Iteration] = field(default_factory=list)
    workload: str = ""
    """What it measures, where its configuration is the value of a knob."""
    values: Literal["right", "edited", ""] = "right"
    crlf: bool = False
    blocked: Callable[[Path], None] | None = None
    """Puts something else in the place of the first receiver's log."""
    profiled: str = ""
    """The directory of a profiled run of the same name, or ``pmc``: beside this one."""
    sign: Sign | None = None
    fault: str = ""
    """The kind of the fault that this run has of its own, and how that is to show."""
    fault_sign: Sign | None = None

    @property
    def prefix(self) -> str:
        """Image, configuration and traffic, as files are named after them."""
        return self.named(self.log_cfg or self.cfg)

    def named(self, cfg: str) -> str:
        return ".".join(part for part in (self.image, cfg, self.pktgen) if part)


@dataclass
class PlannedDirectory:
    """One label directory; ``kind`` is empty for a sound one. ``copy_of`` names the directory whose
    files it holds."""

    machine: str
    label: str
    runs: list[PlannedRun]
    kind: str = ""
    topic: str = DEFAULT_TOPIC
    copy_of: "PlannedDirectory | None" = None
    takes_faults: bool = True
    """Whether single runs in it may have faults of their own."""

    @property
    def title(self) -> str:
        return f"{self.machine}/{self.topic}/{self.label}"


class Draw:
    """Everything that shapes draw from."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.history = History(rng)
        self.imported = Imported()
        self._labels: set[tuple[str, str, str]] = set()

    def machine_for(self, topic: str, label: str) -> str:
        """A machine that has no such directory yet."""
        for machine in self.rng.sample(MACHINES, len(MACHINES)):
            if (machine, topic, label) not in self._labels:
                self._labels.add((machine, topic, label))
                return machine
        raise LookupError(f"{topic}/{label} is there for every machine")

    def runs(
        self,
        commit: Commit,
        uname: str,
        *,
        image: str = "",
        options: tuple[str, ...] = (),
        cfgs: Sequence[str] = (),
    ) -> list[PlannedRun]:
        """Runs of one kernel in some configurations, with or without a preset of traffic."""
        rng = self.rng
        chosen = list(cfgs) or rng.sample(CONFIGURATIONS, rng.randint(2, 4))
        pktgens = rng.choice((("",), ("",), ("inet4",), ("inet4", "inet6")))
        raw = rng.choice(("", "", "RAW", "raw"))
        pairs = [(cfg, pktgen) for cfg in chosen for pktgen in pktgens][:4]
        return [
            PlannedRun(
                commit,
                uname,
                cfg,
                image,
                pktgen,
                options,
                raw=raw,
                iterations=draw_iterations(rng, rng.choice((3, 3, 3, 5))),
                values="right" if rng.random() < 0.8 else "",
            )
            for cfg, pktgen in pairs
        ]

    def directory(
        self, label: str, runs: list[PlannedRun], *, topic: str = DEFAULT_TOPIC
    ) -> PlannedDirectory:
        return PlannedDirectory(self.machine_for(topic, label), label, runs, topic=topic)
