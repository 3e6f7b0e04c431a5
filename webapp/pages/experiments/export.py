"""All reports as a tree of folders, as one would commit them to a repository."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webapp.analysis.queries import SideError
from webapp.experiments.models import Experiment
from webapp.pages.experiments.files import PNG, README, png_file, text_files
from webapp.pages.experiments.report import Report, report_of
from webapp.stats.markdown import inline

FOLDER = "experiments"


@dataclass
class Exported:
    """How many files were written, how many were as they are, and which experiments have no data
    any more."""

    written: int = 0
    unchanged: int = 0
    gone: list[str] = field(default_factory=list)


def export(root: Path) -> Exported:
    """A folder for each experiment, and a README that lists them and the hardware. Only what
    differs is written; nothing else below ``root`` is touched."""
    done = Exported()
    front: list[tuple[Experiment, Report]] = []
    for experiment in Experiment.objects.with_subjects().order_by("pk").iterator(chunk_size=100):
        try:
            report = report_of(experiment)
        except SideError as error:
            done.gone.append(f"report {experiment.pk}: {error}")
            continue
        front.append((experiment, report))
        _write_report(root / folder_of(experiment), report, done)
    _write(root, {README: _front(front).encode()}, done)
    return done


def folder_of(experiment: Experiment) -> str:
    """By its number, which never changes; those of one instance stand in their order."""
    return f"{FOLDER}/{experiment.pk:04d}"


def _write_report(folder: Path, report: Report, done: Exported) -> None:
    """The PNG follows from the other files: where they are as they were, it is not drawn again."""
    before = done.written
    _write(folder, text_files(report), done)
    if done.written > before or not (folder / PNG).exists():
        _write(folder, png_file(report), done)


def _write(folder: Path, files: Mapping[str, bytes], done: Exported) -> None:
    for name, content in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            done.unchanged += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        done.written += 1


def _front(found: Iterable[tuple[Experiment, Report]]) -> str:
    machines: dict[str, list[str]] = {}
    lines = []
    for experiment, report in found:
        link = f"[{inline(experiment.question)}]({folder_of(experiment)}/{README})"
        lines.append(f"- {link}: {inline(report.answer)}")
        for name in sorted({row.sets[0].hardware.name for row in report.table.rows}):
            machines.setdefault(name, []).append(link)
    hardware = [
        line
        for name in sorted(machines)
        for line in (f"- {inline(name)}", *(f"  - {link}" for link in machines[name]))
    ]
    parts = ["# Reports", "\n".join(lines), "# Hardware", "\n".join(hardware)]
    return "\n\n".join(part for part in parts if part) + "\n"
