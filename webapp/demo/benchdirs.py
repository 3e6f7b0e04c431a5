"""Result directories in a bench-lab's layout: `<hardware>/<topic>/results/<label>/…`.

Files are plain data here, path to text, the same at every call: the identity of a run is made from
the digests of its files.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from webapp.demo.profiled import profile_texts
from webapp.demo.published import Publication, PublishedRow
from webapp.demo.samples import solve_block
from webapp.stats.simulate import Lab, LabRun

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
