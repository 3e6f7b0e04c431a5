"""Result directories in a bench-lab's layout, `<hardware>/<topic>/results/<label>/…`, with samples
found again from published figures.

Files are plain data here, path to text, the same at every call: the identity of a run is made from
the digests of its files.

Values of bench-lab are medians of whole numbers, so they lie on the grid of halves. Minimum,
maximum, median, mean and standard deviation are five equations: five samples follow from them, and
are found again here. Ten samples do not; of those that have the figures, the first that a fixed
search meets is taken, so their order along the axis (their plot) is not the published one.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, product
from math import ceil, floor, log10, prod, sqrt
from pathlib import Path

import numpy as np

from webapp.demo.published import Block, Publication, PublishedRow, RowFigures
from webapp.stats import ministat
from webapp.stats.simulate import Lab, LabRun, Planted

GRID = 0.5
PARTS = tuple(i / 8 for i in range(1, 8))
"""Where between an end and the middle four of ten samples may lie."""

STEPS = 512
"""Grid steps by which one sample is moved to meet the last digit of a deviation."""

MIDDLE_GAPS = (0.1, 0.3, 0.6)
"""How far apart, in standard deviations, the two middle samples of ten may lie."""

Samples = tuple[float, ...]


class FiguresError(ValueError):
    """No samples, or more than one set of five, have these figures."""


def solve_block(block: Block) -> tuple[Samples, ...]:
    """The samples of each row, ascending, such that every printed figure of the block agrees.
    Raises FiguresError: there are none.
    """
    choices = [list(_solutions(row.figures)) for row in block.rows]
    for rows in product(*choices):
        if _differences_fit(block, rows):
            return rows
    raise FiguresError(f"no samples have the figures of block {block.number}")


def _differences_fit(block: Block, rows: Sequence[Samples]) -> bool:
    for figures, samples in zip(block.differences, rows[1:], strict=True):
        found = ministat.difference(rows[0], samples, flavour=block.flavour)
        if found.proven if figures is None else not figures.fit(found):
            return False
    return True


def _solutions(figures: RowFigures) -> Iterator[Samples]:
    """At most one set of samples for each total that the printed mean leaves open."""
    solve = {5: _solve_five, 10: _solve_ten}.get(figures.n)
    if solve is None:
        raise FiguresError(f"rows of {figures.n} samples are not known how to solve")
    for total in _grid_values(figures.mean, figures.n):
        samples = solve(figures, total)
        if samples is not None:
            yield samples


def _grid_values(printed: float, n: int) -> list[float]:
    """The totals on the grid whose n-th part prints as `printed` does, the nearest first."""
    middle = round(printed * n / GRID) * GRID
    near = [middle + i * GRID for i in range(-2 * n, 2 * n + 1)]
    same = [total for total in near if f"{total / n:.8g}" == f"{printed:.8g}"]
    return sorted(same, key=lambda total: (abs(total - printed * n), total))


def _solve_five(figures: RowFigures, total: float) -> Samples | None:
    known = (figures.minimum, figures.median, figures.maximum)
    found = list(_completed(figures, known, total))
    if len(found) > 1:
        raise FiguresError(f"{len(found)} sets of five samples have the figures {figures}")
    return found[0] if found else None


def _solve_ten(figures: RowFigures, total: float) -> Samples | None:
    for known in _eight_of_ten(figures):
        if _lower_of_pair(figures, known, total) is None:
            continue
        # The deviation of a pair moves in steps that are larger than what its last digit allows;
        # moving a third sample a little makes one of them meet it.
        for step in range(STEPS):
            moved = (known[0] + step * GRID, *known[1:])
            for samples in _completed(figures, moved, total):
                return samples
    return None


def _eight_of_ten(figures: RowFigures) -> Iterator[Samples]:
    """All but one of the lower and one of the upper half; the first may be moved."""
    for low, high in _middle_pairs(figures):
        for below, above in product(combinations(PARTS, 2), repeat=2):
            yield (
                *(_between(figures.minimum, low, part) for part in below),
                *(_between(high, figures.maximum, part) for part in above),
                *(figures.minimum, low, high, figures.maximum),
            )


def _middle_pairs(figures: RowFigures) -> Iterator[tuple[float, float]]:
    """Pairs on the grid whose mean prints as the median does."""
    for twice in _grid_values(figures.median, 2):
        for gap in MIDDLE_GAPS:
            low = _on_grid((twice - gap * figures.stddev) / 2)
            yield low, twice - low


def _completed(figures: RowFigures, known: Sequence[float], total: float) -> Iterator[Samples]:
    """`known` and each pair on the grid, ascending, such that every figure agrees."""
    bounds = _lower_of_pair(figures, known, total)
    if bounds is None:
        return
    rest = total - sum(known)
    first, last = (floor(bounds[0] / GRID), ceil(bounds[1] / GRID))
    for low in (step * GRID for step in range(first, last + 1)):
        samples = tuple(sorted((*known, low, rest - low)))
        if low <= rest - low and figures.fit(samples):
            yield samples


def _lower_of_pair(
    figures: RowFigures, known: Sequence[float], total: float
) -> tuple[float, float] | None:
    """Between what bounds the lower one of the pair lies that completes `known`.

    Around the mean the two have a known sum s and a known sum of squares q, so they lie
    sqrt(2 q - s²) apart; the deviation's last printed digit leaves q a little freedom. None where
    that is no number, or the pair would not lie on both sides of the median.
    """
    mean = total / figures.n
    rest = total - sum(known)
    others = sum((one - mean) ** 2 for one in known)
    most, least = (
        2
        * ((figures.n - 1) * (figures.stddev + sign * _half_a_digit(figures.stddev)) ** 2 - others)
        - (rest - 2 * mean) ** 2
        for sign in (1, -1)
    )
    if most < 0:
        return None
    bounds = ((rest - sqrt(most)) / 2, (rest - sqrt(max(least, 0.0))) / 2)
    low_fits = figures.minimum <= bounds[1] and bounds[0] <= figures.median
    high_fits = figures.median <= rest - bounds[0] and rest - bounds[1] <= figures.maximum
    return bounds if low_fits and high_fits else None


def _half_a_digit(printed: float) -> float:
    """How far a number that prints with 8 significant digits may lie from what is printed."""
    return 0.5 * 10.0 ** (floor(log10(printed)) - 7) if printed else 0.0


def _between(low: float, high: float, part: float) -> float:
    return _on_grid(low + part * (high - low))


def _on_grid(value: float) -> float:
    return round(value / GRID) * GRID


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
"""A year is the name that labs give to a series over a year; it has nothing to do with the mode."""

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
    """The old notation, because it states when a run was measured."""
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
