"""A planned archive as a tree of files, and the truth about it."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.archives.commits import Commit, Imported
from benchmarks.archives.logs import Iteration
from benchmarks.archives.plan import Draw, PlannedDirectory, PlannedRun, Sign
from benchmarks.archives.planning import DIRECTORIES, plan


@dataclass(frozen=True, slots=True)
class TrueRun:
    """``logs`` are the receivers' paths below the root without `results`, as sources name them;
    ``where`` is how the agent names the run when it skips it. ``values`` are those of undamaged
    logs. ``sign`` is how it is to be filed; a run without signs is sound."""

    commit: Commit
    machine: str
    mode: str
    logs: tuple[str, ...]
    where: str
    values: tuple[float, ...]
    directory: int
    sign: Sign | None = None
    fault: str = ""
    fault_sign: Sign | None = None

    @property
    def is_sound(self) -> bool:
        return self.sign is None and self.fault_sign is None


@dataclass(frozen=True, slots=True)
class Truth:
    """``kinds`` and ``titles`` are those of the directories by index; an empty kind: sound."""

    runs: Sequence[TrueRun]
    kinds: Sequence[str]
    titles: Sequence[str]
    imported: Imported


def write_archive(root: Path, seed: int, directories: int = DIRECTORIES) -> Truth:
    """Write the archive of a seed below ``root``: the same files and truth each time."""
    draw = Draw(Random(seed))
    planned = plan(draw, directories)
    runs = [
        _write_run(draw.rng, root, at, directory, run)
        for at, directory in enumerate(planned)
        for run in directory.runs
    ]
    for directory in planned:
        if directory.copy_of:
            _copy(_path(root, directory.copy_of), _path(root, directory))
    titles = [directory.title for directory in planned]
    return Truth(runs, [directory.kind for directory in planned], titles, draw.imported)


def _path(root: Path, directory: PlannedDirectory) -> Path:
    return root / directory.machine / directory.topic / "results" / directory.label


def _copy(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def _write_run(
    rng: Random, root: Path, at: int, directory: PlannedDirectory, run: PlannedRun
) -> TrueRun:
    place = Path(*run.nested, run.raw)
    names = [f"bench.{run.prefix}.{number}.receiver" for number, _ in _numbered(run)]
    if directory.copy_of is None:
        target = _path(root, directory)
        for path, data in run_files(rng, run):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(data.replace(b"\n", b"\r\n") if run.crlf else data)
        if run.blocked:
            (target / place / names[0]).unlink()
            run.blocked(target / place / names[0])
    options = "".join(f"+{option}" for option in sorted(run.options))
    return TrueRun(
        commit=run.commit,
        machine=directory.machine,
        mode=f"{run.workload or run.cfg}{'@' * bool(run.pktgen)}{run.pktgen}{options}",
        logs=tuple(str(Path(directory.title) / place / name) for name in names),
        where="/".join((directory.title, *run.nested, run.prefix)),
        values=tuple(one.value for one in run.iterations if one.value is not None),
        directory=at,
        sign=run.sign,
        fault=run.fault,
        fault_sign=run.fault_sign,
    )


def _numbered(run: PlannedRun) -> list[tuple[int, Iteration]]:
    return list(enumerate(run.iterations, 1))


def run_files(rng: Random, run: PlannedRun) -> Iterator[tuple[Path, bytes]]:
    """The files of one run by their path below the label's directory."""
    above = Path(*run.nested)
    place = above / run.raw
    start = f"bench.{run.prefix}"
    for number, iteration in _numbered(run):
        yield place / f"{start}.{number}.receiver", iteration.receiver()
        yield place / f"{start}.{number}.sender", iteration.sender()
    if run.info:
        yield place / f"{start}.info", _info(run).encode()
    if run.profiled:
        yield _profiled(rng, run, place)
    if run.values:
        suffix = run.raw.removeprefix("RAW.") if run.raw.startswith("RAW.") else ""
        name = ".".join(part for part in (run.named(run.cfg), suffix, "pps") if part)
        yield above / name, _values(rng, run).encode()


def _info(run: PlannedRun) -> str:
    cfg = run.info_cfg or run.cfg
    if run.info == "new":
        return f'IMAGE="{run.image}"\nCFG="{cfg}"\nPKTGEN="{run.pktgen}"\nUNAME="{run.uname}"'
    image = f"/monitoring/BSDRP-{run.image}-upgrade-amd64-vga.img.xz" if run.image else "none"
    times = "Start time: Thu Sep 10 08:11:48 CEST 2015\nEnd time: Thu Sep 10 08:31:02 CEST 2015"
    return f"Image: {image}\nCFG: configs//{cfg}\n{run.uname}\n{times}\n"


def _profiled(rng: Random, run: PlannedRun, place: Path) -> tuple[Path, bytes]:
    """A log of a run that was slowed down by profiling."""
    iteration = deepcopy(run.iterations[0])
    slower = rng.uniform(0.6, 0.9)
    iteration.scale(0, len(iteration.seconds), lambda _at: slower)
    if run.profiled == "pmc":
        return place / f"bench.{run.prefix}.pmc.1.receiver", iteration.receiver()
    directory = Path(*run.nested) / run.profiled
    return directory / f"bench.{run.prefix}.1.receiver", iteration.receiver()


def _values(rng: Random, run: PlannedRun) -> str:
    values = [one.value for one in run.iterations if one.value is not None]
    if run.values == "edited":
        at = rng.randrange(len(values))
        if rng.random() < 0.5:
            del values[at]
        else:
            values[at] = float(round(values[at] * rng.uniform(1.01, 1.2)))
    return "".join(f"{value:.8g}\n" for value in values)
