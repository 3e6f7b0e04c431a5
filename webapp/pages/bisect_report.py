"""A bisect as a report in Markdown."""

from webapp.bisects.sentences import chance_words
from webapp.bisects.standing import Standing
from webapp.charts.text import better_words

SUSPECTS_SHOWN = 20


def as_markdown(standing: Standing) -> str:
    """The answer, the suspects, the ministat block of parent and culprit, and every decision."""
    bisect = standing.bisect
    parts = [
        f"# Bisect {bisect.pk}: {_plain(standing.sentence)}",
        _plain(standing.latest.words) if standing.latest else "",
        "These figures come from a simulation." if standing.is_simulated else "",
        _facts(standing),
        _suspects(standing),
        _skipped(standing),
        standing.prior_sentence,
        _block(standing),
        _decisions(standing),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(standing: Standing) -> str:
    bisect = standing.bisect
    metric = bisect.series.metric
    better = better_words(metric.better)
    span = f"{bisect.good} (good) to {bisect.bad} (bad), {bisect.last_index} commits"
    facts = (
        f"{bisect.series.mode} on {bisect.series.hardware}, {metric} ({metric.unit}, {better})",
        f"{bisect.series.tree}: {span}",
        f"state: {_state(standing)}; {standing.measured_for_it} boots measured for it",
    )
    return "\n".join(f"- {fact}" for fact in facts)


def _state(standing: Standing) -> str:
    outcome = standing.bisect.outcome
    return f"{standing.bisect.state}, {outcome}" if outcome else standing.bisect.state


def _suspects(standing: Standing) -> str:
    suspects = standing.suspects
    if not suspects:
        return ""
    rows = [
        f"| {one.revision} | {chance_words(one.chance)} | {_plain(one.revision.subject)} |"
        for one in suspects[:SUSPECTS_SHOWN]
    ]
    head = "## Not excluded\n\n| revision | probability | subject |\n|---|--:|---|"
    more = len(suspects) - SUSPECTS_SHOWN
    return "\n".join([head, *rows, *([f"\nand {more} more"] if more > 0 else [])])


def _skipped(standing: Standing) -> str:
    if not standing.skipped:
        return ""
    return f"Could not be measured: {', '.join(one.name for one in standing.skipped)}."


def _block(standing: Standing) -> str:
    block = standing.ministat()
    if not block:
        return ""
    title = " and ".join(label for label, _ in standing.sides)
    return f"## {title}\n\n```\n{block}```"


def _decisions(standing: Standing) -> str:
    rows = [
        f"{row.number}. {row.at:%Y-%m-%d %H:%M} {row.state}, {row.action}: {_plain(row.words)}"
        for row in standing.decisions
    ]
    return "\n".join(["## Decisions\n", *rows]) if rows else ""


def _plain(text: str) -> str:
    """One line, with nothing that a table or a heading would read as its own."""
    return " ".join(text.replace("|", "\\|").split())
