"""Why two points alone were found, and what became of it: sentences with the rule's figures."""

from webapp.stats.decisive.belief import Belief
from webapp.stats.decisive.pairs import GIVES_UP, Figures, Judged, Pair


def why_judged(pair: Pair, judged: Judged, belief: Belief, figures: Figures) -> str:
    """Return the sentence that says why a pair is found, confirmed or withdrawn."""
    said = SAID[judged.state](pair, judged)
    return (
        f"{said}. Where nothing changed, a loss as large is seen with a chance of "
        f"{_percent(judged.chance)} (at most {_percent(judged.limit)}{_among(judged.pairs)}), if "
        f"builds scatter by {belief.median_pct:.2g} %, give or take × {belief.spread:.2g}"
        f"{_turning(judged, figures)}."
    )


def what_settles(label: str, previous: str) -> str:
    """Return the sentence that says what would settle an open pair."""
    return (
        f"Another build of {label}, and of {previous}, or the next revisions settle it: it is "
        "confirmed when all builds together still show it, and withdrawn when they do not."
    )


def _open(pair: Pair, judged: Judged) -> str:
    step = judged.step
    if step.position == pair.position:
        old = step.evidence.old
        before = f"the one of {pair.previous_label}" if old == 1 else f"the {old} before it"
        return f"One build a side: the build of {_label(pair)} is worse than {before}"
    return (
        f"Not settled: with {step.label} there are {_builds(judged)}, which neither agree nor "
        "disagree enough"
    )


def _confirmed(pair: Pair, judged: Judged) -> str:
    by = judged.settled_by.label if judged.settled_by else _label(pair)
    return (
        f"Confirmed by more builds: with those of {by}, {_builds(judged)} agree that "
        f"{_label(pair)} is worse than {pair.previous_label}"
    )


def _withdrawn(pair: Pair, judged: Judged) -> str:
    by = judged.settled_by.label if judged.settled_by else _label(pair)
    if judged.step.position == pair.position:
        agree = "do not show it"
    elif judged.chance > GIVES_UP:
        agree = f"do not agree (a chance of more than {_percent(GIVES_UP)})"
    else:
        agree = "left it unsettled"
    return f"Withdrawn: {_builds(judged)}, the last of {by}, {agree}"


SAID = {"open": _open, "confirmed": _confirmed, "withdrawn": _withdrawn}


def _builds(judged: Judged) -> str:
    evidence = judged.step.evidence
    return f"{_count(evidence.old)} before and {evidence.new} from it on"


def _count(builds: int) -> str:
    return "1 build" if builds == 1 else f"{builds} builds"


def _label(pair: Pair) -> str:
    return pair.steps[0].label


def _among(pairs: int) -> str:
    return f" among the {pairs} pairs of its commit" if pairs > 1 else ""


def _turning(judged: Judged, figures: Figures) -> str:
    if judged.state == "withdrawn":
        return ""
    return f"; from {figures.turning_pct:.1f} % on it would not have been found"


def _percent(chance: float) -> str:
    return f"{100 * chance:.2g} %"
