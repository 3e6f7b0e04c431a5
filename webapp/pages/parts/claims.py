"""What is claimed of a table of comparisons, in words: of a commit's as of any other."""

from collections.abc import Mapping

from webapp.charts.text import direction, half_width
from webapp.stats.compare import Across, Mean, Outcome, Verdict


def counts_text(counts: Mapping[Outcome, int]) -> str:
    """``7 of 15 comparisons prove a difference over the whole table, 2 differ by themselves,
    1 shows by itself none that matters, 5 cannot tell``: as many as stand under each heading.
    """
    proven, alone = counts.get(Outcome.PROVEN, 0), counts.get(Outcome.BY_ITSELF, 0)
    same, unsure = counts.get(Outcome.EQUIVALENT, 0), counts.get(Outcome.CANNOT_TELL, 0)
    verb = "proves" if proven == 1 else "prove"
    parts = [
        f"{proven} of {sum(counts.values())} comparisons {verb} a difference over the whole table",
        f"{alone} {by_itself('differ', alone)}" if alone else "",
        f"{same} {by_itself('show', same)} none that matters" if same else "",
        f"{unsure} cannot tell" if unsure else "",
    ]
    return ", ".join(filter(None, parts))


def by_itself(verb: str, count: int) -> str:
    """``differs by itself``, ``differ by themselves``."""
    return f"{verb}s by itself" if count == 1 else f"{verb} by themselves"


def direction_texts(better: str, unit: str) -> Mapping[Verdict, str]:
    """What better and worse are called in a metric of that ``unit``."""
    gain = 1.0 if better == "more" else -1.0
    return {
        Verdict.WORSE: direction(percent=-gain, better=better, unit=unit),
        Verdict.BETTER: direction(percent=gain, better=better, unit=unit),
    }


def mean_named(across: Across) -> Mean | None:
    """The mean change, where it is proven of the mode."""
    is_named = across.verdict in {Verdict.WORSE, Verdict.BETTER}
    return across.mean if is_named else None


def mean_text(mean: Mean, word: str, total: int) -> str:
    """``3.7 % slower [3.1, 4.2] over 6 machines``, of which there are ``total``."""
    low, high = sorted((abs(mean.low), abs(mean.high)))
    over = str(mean.machines) if mean.machines == total else f"{mean.machines} of {total}"
    interval = f"[{half_width(low)}, {half_width(high)}]"
    return f"{half_width(abs(mean.percent))} % {word} {interval} over {over} machines"


def is_mixed(across: Across) -> bool:
    """Whether one machine alone is proven better, and another worse."""
    return {Verdict.WORSE, Verdict.BETTER} <= set(across.verdicts)
