"""Why a bisect does what it does: one or two sentences with the rule and its figures."""

from collections.abc import Callable, Sequence
from itertools import groupby
from math import expm1

from webapp.stats.arrays import Floats
from webapp.stats.bisection import validation
from webapp.stats.bisection.ending import LIKELY, is_sharp
from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.bisection.posterior import SHARE as SECOND
from webapp.stats.bisection.posterior import Lab, Posterior
from webapp.stats.intervals import TWO_SIDED_95

LEAST_CHANCE = 0.005
"""Truths less probable than this are not listed."""
LEADING = 0.05
"""A candidate less probable than this leads nothing."""
FEW = 4
"""So many that share a chance are named one by one."""
LEAST_MOVED = 0.05
"""Log percent: a drift that reads as nothing is not mentioned."""
WOULD_TELL = (
    "A canary, or another mode, measured in the same boots would separate the machine from the "
    "commits. "
)


def unexplained(now: Posterior) -> str:
    """No hypothesis explains what was measured."""
    return (
        "No hypothesis explains these boots: around the best of them they scatter "
        f"{now.lab.scatter:.1f} times as much as the history of the series. Look at the "
        "machine before the commits."
    )


def suspected(plan: Plan, now: Posterior) -> str:
    """Why no commit is named, and what would decide it."""
    if now.lab.unsteady < LIKELY:
        return (
            f"Boots scatter {now.lab.scatter:.1f} times as much as the history of the series: "
            "find out why before more of them are measured. "
        )
    return (
        f"{lab(now.lab)} It cannot be distinguished from a step of {change(plan.effect)}: boot "
        f"{plan.name(0)} and {plan.name(plan.bad)} in turn until they agree with themselves, then "
        f"bisect again. {'' if plan.companions else WOULD_TELL}"
    )


def missing_end(end: str) -> str:
    """Neither a boot nor a way to get one."""
    return f"The {end} end cannot be built or booted: there is nothing to compare with."


def validating(plan: Plan, test: validation.Validation) -> str:
    """The sequential test has not decided."""
    return (
        f"Good and bad are booted in turn ({test.boots[0]} and {test.boots[1]} so far) until the "
        f"log likelihood ratio of a step of {change(validation.SHARE * plan.effect)} against none "
        f"leaves ±{validation.BOUND:.1f}; it is {signed(test.ratio, 1)}."
    )


def no_step(plan: Plan, test: validation.Validation) -> str:
    """The sequential test finds no step."""
    return (
        f"Not reproduced: {_boots(test)} speak against a step of "
        f"{change(validation.SHARE * plan.effect)}: log likelihood ratio {signed(test.ratio, 1)}, "
        f"−{validation.BOUND:.1f} suffices (errors {validation.ERROR:.0%})."
    )


def outside(plan: Plan, test: validation.Validation, found: validation.Outside) -> str:
    """The ends do not differ, but what was measured beside one of them does."""
    if found.side is validation.Side.BEFORE:
        end, beside, remedy = "good end is bad already", "before it", "an earlier good revision"
        name = plan.name(0)
    else:
        end, beside, remedy = "bad end is good still", "behind it", "a later bad revision"
        name = plan.name(plan.bad)
    changed = (
        ""
        if found.by_history
        else " Unless the machine changed since then: boot one of those again first."
    )
    return (
        f"{name} does not differ from the other end by {change(validation.SHARE * plan.effect)} "
        f"({_boots(test)}, log likelihood ratio {signed(test.ratio, 1)}), but what was measured "
        f"{beside} does ({percent(found.chance)}): the {end}. Bisect with {remedy}.{changed}"
    )


def undecided(test: validation.Validation, stop: str) -> str:
    """The sequential test ended without a decision."""
    reason = stop or f"{validation.MOST_BOOTS} boots a side are the most it takes"
    more = f"; about {test.more} more {_boots_of(test.more)} would" if test.more else ""
    return (
        f"Whether there is a step stays open: {reason}, and after {_boots(test)} the log "
        f"likelihood ratio is {signed(test.ratio, 1)} where ±{validation.BOUND:.1f} decides{more}."
    )


def searching(plan: Plan, now: Posterior, bits: float, test: validation.Validation | None) -> str:
    """The next revision is the one with most information per hour."""
    start, left = "", round(2**now.entropy)
    if test is not None and test.verdict is validation.Verdict.LIMITED:
        start = (
            "The builds of both ends scatter too much for more boots of them to prove the step: "
            "the search begins with the doubt. "
        )
    elif test is not None:
        start = f"The step is reproduced by {_boots(test)} (log ratio {signed(test.ratio, 1)}). "
    return (
        f"{start}{leading(plan, now)}; about {left} {_commits_of(left)} in question. The next boot "
        f"is the one with most information per hour ({bits:.2f} bits)."
    )


def doubted(plan: Plan, now: Posterior) -> str:
    """The probability is there as long as the weights of the candidates are right."""
    return (
        f"{_top(plan, now)}, but "
        f"{percent(now.equal[now.top - 1])} if all commits had begun with the same weight. "
    )


def confirming(plan: Plan, now: Posterior) -> str:
    """Culprit and parent in turn."""
    return f"{_top(plan, now)}: it and its parent are booted in turn before it is named."


def second(plan: Plan, now: Posterior) -> str:
    """Whether another commit contributes is looked at before one is named."""
    return (
        f"{_top(plan, now)}, but whether another "
        f"commit contributes is open ({_another(plan, now)}): revisions on both sides of where it "
        "would be are booted again before one is named."
    )


def single(plan: Plan, now: Posterior, boots: int) -> str:
    """One commit is named."""
    return (
        f"{plan.name(now.top)} made the step of {effect(now)}: "
        f"{percent(now.candidates[now.top - 1])} after {boots} confirming boots."
    )


def first_of_several(plan: Plan, now: Posterior) -> str:
    """One commit alone does not explain everything. Begins with a space."""
    return f" It is the first of several ({_another(plan, now)}): bisect the rest on its own."


def not_ruled_out(other: float | None) -> str:
    """What a second change can still hide; None: nothing is known. Begins with a space."""
    if other is None:
        return " Because the machine moved, another change in this range is not ruled out."
    return f" Another change of up to {size(other)} in this range is not ruled out."


def unconfirmed(plan: Plan, now: Posterior, stop: str) -> str:
    """The probability is there, the confirming boots are not."""
    return f"{_top(plan, now)}, but could not be confirmed: {stop or 'no further boot can be had'}."


def too_noisy(plan: Plan, now: Posterior) -> str:
    """The builds scatter as much as half the step."""
    return (
        f"{plan.name(now.top)} leads, but builds scatter by {now.build_sd:.2f} % and the step is "
        f"{effect(now)}: one build of it and one of its parent cannot distinguish a commit from a "
        "build's luck. Only more builds of both can."
    )


def step_gone(now: Posterior) -> str:
    """The search refutes what validation took for a step."""
    return (
        "Not reproduced: all revisions together lie on one level "
        f"({percent(now.none)} for no step)."
    )


def two_steps(plan: Plan, now: Posterior) -> str:
    """The interval holds two steps. Raises ValueError for a posterior without two gaps."""
    if now.two_gaps is None:
        raise ValueError("two steps need two gaps between measured revisions")
    first, second = (_gap(plan, gap) for gap in now.two_gaps)
    return (
        f"Two steps explain the levels better than one ({percent(now.two)}): one {first}, the "
        f"other {second}. Bisect each on its own."
    )


def stopped(plan: Plan, now: Posterior, evidence: Evidence, stop: str) -> str:
    """The search ends without a name."""
    if stop:
        return f"The search stops: {stop}. {leading(plan, now)}."
    skipped = f" Could not be measured: {len(evidence.skipped)}." if evidence.skipped else ""
    builds = (
        f" Builds scatter by {now.build_sd:.2f} %, the step is {effect(now)}."
        if now.build_sd > abs(now.effect) / 4
        else ""
    )
    return f"No further boot would separate the rest.{skipped}{builds} {leading(plan, now)}."


def odd(evidence: Evidence, indices: tuple[int, ...], plan: Plan, now: Posterior) -> str:
    """Which boots were set aside, and how far from the level before the step they lie.

    Nothing when there are none.
    """
    if not indices:
        return ""
    far = [evidence.boots[i] for i in indices]
    boots = ", ".join(
        f"{plan.name(boot.index)} ({change(boot.value - now.good_level)} from the level before)"
        for boot in far
    )
    return f"Set aside as gone wrong, far from both levels: {boots}."


def effect(now: Posterior) -> str:
    """The step with its 95 % interval."""
    reach = TWO_SIDED_95 * now.effect_sd
    low, high = (change(now.effect + side * reach).removesuffix(" %") for side in (-1, 1))
    return f"{change(now.effect)} [{low}, {high}]"


def leading(plan: Plan, now: Posterior) -> str:
    """The most probable truths, to begin a sentence with."""
    if now.candidates.max() < max(LEADING, min(2 / plan.bad, 0.3)):
        parts = [f"None of {plan.bad} candidates leads"]
    else:
        parts = leaders(
            now.candidates,
            render=percent,
            name=lambda index: plan.name(index + 1),
            least=LEAST_CHANCE,
        )
    if now.none >= LEAST_CHANCE:
        parts.append(f"{percent(now.none)} no step")
    text = ", ".join(parts)
    return text[0].upper() + text[1:]


def percent(chance: float) -> str:
    """A probability that is never rounded up to certainty."""
    if chance > 0.995:
        return "over 99 %"
    return f"{100 * chance:.0f} %" if chance >= 0.005 else "under 1 %"


def change(log: float) -> str:
    """A difference in log percent, as percent of what was before."""
    return f"{signed(100 * expm1(log / 100))} %"


def size(log: float) -> str:
    """The size of a change of either sign, in log percent, as percent."""
    return f"{100 * expm1(abs(log) / 100):.1f} %"


def signed(value: float, digits: int = 2) -> str:
    """With its sign, as pages and mails write it."""
    return f"{value:+.{digits}f}".replace("-", "−")


def leaders(
    candidates: Floats,
    *,
    render: Callable[[float], str],
    name: Callable[[int], str],
    most: int = 3,
    least: float = 0.01,
) -> list[str]:
    """``93 % r303643``, the likeliest first: about ``most`` of those that hold ``least`` or more.

    Those whose chance reads the same stand or fall together: ``4 commits at 23 % each`` where they
    do not fit. ``candidates`` are probabilities; ``name`` is given their indices.
    """
    order = [int(at) for at in (-candidates).argsort(kind="stable") if candidates[at] >= least]
    shown: list[str] = []
    named = 0
    for text, group in groupby(order, key=lambda at: render(float(candidates[at]))):
        alike = sorted(group)
        if named >= most:
            break
        shown += _alike(alike, text, name, room=most - named)
        named += len(alike)
    return shown


def lab(found: Lab) -> str:
    """What the lab did, as a sentence; empty while it is likelier that it did nothing."""
    if found.unsteady < LIKELY:
        return ""
    if found.steps >= found.moves:
        when = f"after boot {found.step_after}" if found.step_after else "before the first boot"
        return (
            f"The machine itself stepped by {change(found.step)} {when} "
            f"({percent(found.unsteady)} that it did not stay as it was)."
        )
    if abs(found.moved) < LEAST_MOVED:
        return f"The machine probably moved ({percent(found.unsteady)}); how far is not known yet."
    return (
        f"The machine drifted by {change(found.moved)} from the first to the last boot "
        f"({percent(found.unsteady)} that it did not stay as it was)."
    )


def _top(plan: Plan, now: Posterior) -> str:
    """The likeliest candidate with its chance."""
    return f"{plan.name(now.top)} has {percent(now.candidates[now.top - 1])}"


def _another(plan: Plan, now: Posterior) -> str:
    """What speaks for a second change: the test of a size, or its chance where there is none."""
    if is_sharp(plan, now):
        ratio = signed(now.rest.ratio, 1)
        return f"log likelihood ratio {ratio} of another change of {size(SECOND * plan.effect)}"
    return f"{percent(now.two)} that another commit contributes"


def _boots(test: validation.Validation) -> str:
    good, bad = test.boots
    return f"{good} {_boots_of(good)} of good and {bad} of bad"


def _boots_of(count: int) -> str:
    return "boot" if count == 1 else "boots"


def _commits_of(count: int) -> str:
    return "commit" if count == 1 else "commits"


def _gap(plan: Plan, gap: tuple[int, int]) -> str:
    first, last = gap
    if first == last:
        return f"at {plan.name(first)}"
    return f"from {plan.name(first)} to {plan.name(last)}"


def _alike(alike: Sequence[int], text: str, name: Callable[[int], str], *, room: int) -> list[str]:
    if len(alike) <= max(room, FEW if room > 1 else 1):
        return [f"{text} {name(at)}" for at in alike]
    return [f"{len(alike)} commits at {text} each"]
