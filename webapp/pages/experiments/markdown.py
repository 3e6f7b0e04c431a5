"""The report of an experiment in Markdown, as one commits it to a repository."""

from webapp.analysis.queries import BLOCK_IGNORES
from webapp.experiments.queries import AsTyped, as_typed
from webapp.pages.compare.flame_graphs import flame_graphs
from webapp.pages.compare.report import SIMULATED, is_simulated, rows_table
from webapp.pages.experiments.report import Part, Report
from webapp.stats.markdown import block, inline, typed

PICTURE = "graph.png"


def as_markdown(report: Report) -> str:
    """As a lab writes it by hand: title, bullets, `PICTURE` beside it, blocks with the prose
    typed between them; then the verdicts."""
    said = [one for one in (report.answer, report.figures) if one]
    readme = as_typed(report.experiment)
    parts = [
        _head(report, readme),
        *([f"![{inline(report.experiment.question)}]({PICTURE})"] if report.table.rows else []),
        *(text for part in report.parts for text in _section(part, readme)),
        typed(report.experiment.closing),
        flame_graphs(report.profiles),
        *_conclusion(report),
        " ".join(
            [*(f"{inline(one)}." for one in said), *([BLOCK_IGNORES] if report.parts else [])]
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


def _conclusion(report: Report) -> list[str]:
    text = report.experiment.conclusion
    return [f"Concluded: {inline(text)}"] if text else []
