"""A bisect as a report in Markdown."""

from webapp.bisects.queries import Standing, chance_words
from webapp.charts.text import better_words
from webapp.stats.markdown import block, inline

SUSPECTS_SHOWN = 20


def as_markdown(standing: Standing) -> str:
    """The answer, the suspects, the ministat block of parent and culprit, and every decision."""
    bisect = standing.bisect
    parts = [
        f"# Bisect {bisect.pk}: {inline(standing.sentence)}",
        inline(standing.latest.words) if standing.latest else "",
        "These figures come from a simulation." if standing.is_simulated else "",
        _facts(standing),
        _suspects(standing),
        _skipped(standing),
        inline(standing.prior_sentence),
        _block(standing),
        _decisions(standing),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(standing: Standing) -> str:
    bisect = standing.bisect
    metric = bisect.series.metric
    better = better_words(bisect.series.better)
    span = f"{bisect.good} (good) to {bisect.bad} (bad), {bisect.last_index} commits"
    facts = (
        f"{bisect.series.mode} on {bisect.series.hardware}, {metric} ({metric.unit}, {better})",
        f"{bisect.series.tree}: {span}",
        f"state: {_state(standing)}; {standing.measured_for_it} boots measured for it",
    )
    return "\n".join(f"- {inline(fact)}" for fact in facts)


def _state(standing: Standing) -> str:
    outcome = standing.bisect.outcome
    return f"{standing.bisect.state}, {outcome}" if outcome else standing.bisect.state


def _suspects(standing: Standing) -> str:
    suspects = standing.suspects
    if not suspects:
        return ""
    rows = [
        f"| {inline(one.revision)} | {chance_words(one.chance)} | {inline(one.revision.subject)} |"
        for one in suspects[:SUSPECTS_SHOWN]
    ]
    head = "## Not excluded\n\n| revision | probability | subject |\n|---|--:|---|"
    more = len(suspects) - SUSPECTS_SHOWN
    return "\n".join([head, *rows, *([f"\nand {more} more"] if more > 0 else [])])


def _skipped(standing: Standing) -> str:
    if not standing.skipped:
        return ""
    names = ", ".join(one.name for one in standing.skipped)
    return f"Could not be measured: {inline(names)}."


def _block(standing: Standing) -> str:
    figures = standing.ministat()
    if not figures:
        return ""
    title = " and ".join(label for label, _ in standing.sides)
    return f"## {inline(title)}\n\n{block(figures)}"


def _decisions(standing: Standing) -> str:
    rows = [
        f"{row.number}. {row.at:%Y-%m-%d %H:%M} {row.state}, {row.action}: {inline(row.words)}"
        for row in standing.decisions
    ]
    return "\n".join(["## Decisions\n", *rows]) if rows else ""
