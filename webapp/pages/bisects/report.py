"""A bisect as a report in Markdown."""

from webapp.bisects.queries import BisectView, Suspect, chance_text
from webapp.charts.text import better_text
from webapp.stats.markdown import block, inline

SUSPECTS_SHOWN = 20


def as_markdown(view: BisectView) -> str:
    """The answer, the suspects, the ministat block of parent and culprit, and every decision."""
    bisect = view.bisect
    parts = [
        f"# Bisect {bisect.pk}: {inline(view.sentence)}",
        inline(view.latest.text) if view.latest else "",
        _facts(view),
        inline(_outside(view)),
        _lanes(view),
        "\n\n".join(map(inline, view.remarks)),
        _suspects(view),
        _block(view),
        _decisions(view),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(view: BisectView) -> str:
    bisect = view.bisect
    metric = bisect.series.metric
    better = better_text(bisect.series.better)
    span = f"{bisect.good} (good) to {bisect.bad} (bad), {bisect.last_index} {_counted(view)}"
    facts = (
        f"{bisect.series.mode} on {bisect.series.hardware}, {metric} ({metric.unit}, {better})",
        f"{bisect.series.tree}: {span}",
        f"state: {_state(view)}; {view.measured_for_it} boots measured for it",
    )
    return "\n".join(f"- {inline(fact)}" for fact in facts)


def _counted(view: BisectView) -> str:
    return "known revisions" if view.bisect.gaps else "commits"


def _state(view: BisectView) -> str:
    outcome = view.bisect.outcome
    return f"{view.bisect.state}, {outcome}" if outcome else view.bisect.state


def _lanes(view: BisectView) -> str:
    if not view.lanes:
        return ""
    rows = [f"- {inline(lane.name)}: {inline(lane.sentence)}" for lane in view.lanes]
    return "\n".join(["## Machines and modes\n", *rows])


def _outside(view: BisectView) -> str:
    found = view.outside
    if found is None:
        return ""
    then = ": bisect there" if found.has_several else ""
    return f"The step was measured after {found.after}, at the latest in {found.up_to}{then}."


def _suspects(view: BisectView) -> str:
    suspects = view.suspects
    if not suspects:
        return ""
    rows = [
        f"| {inline(one.name)} | {chance_text(one.chance)} | {inline(_about(one))} |"
        for one in suspects[:SUSPECTS_SHOWN]
    ]
    head = "## Not excluded\n\n| revision | probability | subject |\n|---|--:|---|"
    more = len(suspects) - SUSPECTS_SHOWN
    return "\n".join([head, *rows, *([f"\nand {more} more"] if more > 0 else [])])


def _about(suspect: Suspect) -> str:
    subject = "" if suspect.after else suspect.revision.subject
    return f"{subject} [touches {suspect.likelier}]".strip() if suspect.likelier else subject


def _block(view: BisectView) -> str:
    figures = view.ministat()
    if not figures:
        return ""
    title = " and ".join(label for label, _ in view.sides)
    return "\n\n".join([f"## {inline(title)}", block(figures)])


def _decisions(view: BisectView) -> str:
    rows = [
        f"{row.number}. {row.at:%Y-%m-%d %H:%M} {row.state}, {inline(view.action_of(row))}: "
        f"{inline(row.text)}"
        for row in view.decisions
    ]
    return "\n".join(["## Decisions\n", *rows]) if rows else ""
