"""Result directories in a bench-lab's layout: `<hardware>/<topic>/results/<label>/…`.

Files are plain data here, path to text, the same at every call: the identity of a run is made from
the digests of its files.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import prod
from pathlib import Path

import numpy as np

from webapp.demo.published import Publication, PublishedRow
from webapp.demo.samples import solve_block
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


Files = dict[str, str]

SIMULATED_LABEL = "fbsd.2025"
"""A year is the name that labs give to a series over a year; it says nothing about the mode."""

LAB_TIME = "%a %b %d %H:%M:%S UTC %Y"


@dataclass(frozen=True, slots=True)
class Written:
    """Files of one or many runs, and which of them hold samples."""

    files: Files
    value_files: tuple[str, ...]

    def digests(self) -> frozenset[str]:
        """SHA-256 of the files that hold samples: each belongs to one run."""
        return frozenset(
            hashlib.sha256(self.files[path].encode()).hexdigest() for path in self.value_files
        )

    def write(self, root: Path) -> None:
        """Write the files below `root`; what is there of the same name is replaced."""
        for path, text in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def published_files(publications: Sequence[Publication]) -> Written:
    """The directories of the published comparisons, their samples found from the figures."""
    files: Files = {}
    values: list[str] = []
    for publication in publications:
        label = f"{publication.machine.name}/{publication.topic}/results/{publication.label}"
        for block in publication.blocks:
            for row, samples in zip(block.rows, solve_block(block), strict=True):
                values.append(f"{label}/{_value_name(publication, row)}")
                files[values[-1]] = value_lines(samples)
                files[f"{label}/bench.{row.prefix}.info"] = _published_info(publication, row)
    return Written(files, tuple(values))


def simulated_files(lab: Lab) -> Written:
    """The directories of the simulated lab: one label a machine, one image a revision."""
    committed = {revision.revision: revision.committed_at for revision in lab.revisions}
    files: Files = {}
    values: list[str] = []
    for run in lab.runs:
        label = f"{run.hardware}/firewalls/results/{SIMULATED_LABEL}"
        prefix = f"{_image(run)}.{_configuration(run)}"
        values.append(f"{label}/{prefix}.pps")
        files[values[-1]] = value_lines(run.samples)
        files[f"{label}/bench.{prefix}.info"] = _simulated_info(
            run, committed[run.revision], lab.release
        )
    for run, boot, stacks in profile_texts(lab):
        name = f"bench.{_image(run)}.{_configuration(run)}.{boot}.pmc.folded"
        files[f"{run.hardware}/firewalls/results/{SIMULATED_LABEL}/{name}"] = stacks
    return Written(files, tuple(values))


def value_lines(samples: Sequence[float]) -> str:
    """One sample a line, as `%.8g` prints it."""
    return "".join(f"{value:.8g}\n" for value in samples)


def _value_name(publication: Publication, row: PublishedRow) -> str:
    return f"pps.{row.prefix}" if publication.old_info else f"{row.prefix}.pps"


def _published_info(publication: Publication, row: PublishedRow) -> str:
    release = publication.release
    uname = f"FreeBSD lab {release} FreeBSD {release}  {row.revision}  amd64"
    if publication.old_info:
        return f"Image: {row.image or 'none'}\nCFG: configs//{row.cfg}\n{uname}\n"
    return f'IMAGE="{row.image}"\nCFG="{row.cfg}"\nPKTGEN="{row.pktgen}"\nUNAME="{uname}"'


def _simulated_info(run: LabRun, committed_at: datetime, release: str) -> str:
    """The old notation, because it tells when a run was measured."""
    built = committed_at.strftime(LAB_TIME)
    return (
        f"Image: /simulated/LAB-{_image(run)}-full-amd64.img\n"
        f"CFG: configs//{_configuration(run)}\n"
        f"FreeBSD simulated {release} FreeBSD {release} #0 {run.revision}: {built}"
        "     simulated@simulated:/SIMULATED  amd64\n"
        f"Start time: {run.measured_at.strftime(LAB_TIME)}\n"
    )


def _image(run: LabRun) -> str:
    """Images are named by the Subversion number, and by the option they were built with."""
    return run.revision.removeprefix("r") + run.workload.partition("+")[2]


def _configuration(run: LabRun) -> str:
    """The configuration of the machine under test: the same with an option of the kernel."""
    return run.workload.partition("+")[0]
