"""An experiment as files: what its zip holds, and what `manage.py export_reports` writes."""

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from webapp.analysis.queries import BLOCK_IGNORES, SideError
from webapp.experiments.models import Experiment
from webapp.experiments.queries import AsTyped, as_typed
from webapp.pages.compare.report import SIMULATED, flame_graphs, is_simulated, rows_table
from webapp.pages.experiments.report import Part, Report, as_text, report_of
from webapp.pages.pictures import NoPicture, png_bytes, svg_bytes
from webapp.stats.markdown import block, inline, typed

PICTURE = "graph.png"

README, TEXT, SVG, PNG = "README.md", "report.txt", "graph.svg", PICTURE
DAY_ONE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can hold: the same report is the same file, whenever it is made."""


def text_files(report: Report) -> Mapping[str, bytes]:
    """All but the PNG, which takes longer than the others together and follows from the SVG."""
    found = {README: as_markdown(report).encode(), TEXT: as_text(report).encode()}
    return found | ({SVG: svg_bytes(report.picture)} if report.picture else {})


def png_file(report: Report) -> Mapping[str, bytes]:
    """The PNG; nothing where it cannot be drawn here, or there is nothing to draw."""
    if not report.picture:
        return {}
    try:
        return {PNG: png_bytes(report.picture)}
    except NoPicture:
        return {}


def as_zip(report: Report) -> bytes:
    """All files in one folder."""
    packed = BytesIO()
    folder = f"experiment-{report.experiment.pk}"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**text_files(report), **png_file(report)}.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", DAY_ONE), content)
    return packed.getvalue()


def as_markdown(report: Report) -> str:
    """As a lab writes it by hand: title, bullets, `PICTURE` beside it, blocks with the prose
    typed between them; then the verdicts."""
    sentences = [one for one in (report.answer, report.figures) if one]
    readme, concluded = as_typed(report.experiment), report.experiment.conclusion
    parts = [
        _head(report, readme),
        *([f"![{inline(report.experiment.question)}]({PICTURE})"] if report.table.rows else []),
        *(text for part in report.parts for text in _section(part, readme)),
        typed(report.experiment.closing),
        flame_graphs(report.profiles),
        f"Concluded: {inline(concluded)}" if concluded else "",
        " ".join(
            [*(f"{inline(one)}." for one in sentences), *([BLOCK_IGNORES] if report.parts else [])]
        ),
        *([SIMULATED] if is_simulated(report.table) else []),
        *(inline(line) for line in (*report.contradictions, *report.gone)),
        rows_table(report.table.rows),
        f"As of {report.experiment.asof:%Y-%m-%dT%H:%M:%SZ}, report {report.experiment.pk}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: Report, readme: AsTyped) -> str:
    """Title and bullets: as they were typed, else as names."""
    title = typed(readme.heading) or inline(report.experiment.question)
    shown = typed if report.experiment.bullets else inline
    return "\n".join([title, *(f"  - {shown(bullet)}" for bullet in report.bullets)])


def _section(part: Part, readme: AsTyped) -> list[str]:
    """The heading, the block and what is to be known of it."""
    remarks = "\n".join(f"- {inline(remark)}" for remark in part.row.remarks)
    heading = typed(part.heading) if part.cell.labels else inline(part.heading)
    return [heading, block(readme.block(part.block)), *([remarks] if remarks else [])]


FOLDER = "experiments"


@dataclass
class Exported:
    """Counts of files written and left as they were, and experiments whose data are gone."""

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
        for name in sorted({str(row.sets[0].hardware) for row in report.table.rows}):
            machines.setdefault(name, []).append(link)
    hardware = [
        line
        for name in sorted(machines)
        for line in (f"- {inline(name)}", *(f"  - {link}" for link in machines[name]))
    ]
    parts = ["# Reports", "\n".join(lines), "# Hardware", "\n".join(hardware)]
    return "\n\n".join(part for part in parts if part) + "\n"
