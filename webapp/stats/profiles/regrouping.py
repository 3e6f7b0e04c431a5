"""Claims on functions that trade samples are replaced by a claim on their group."""

from dataclasses import replace

import numpy as np

from webapp.stats.false_discovery import gate
from webapp.stats.profiles import testing
from webapp.stats.profiles.calls import Bools
from webapp.stats.profiles.costs import Floats
from webapp.stats.profiles.found import Verdict
from webapp.stats.profiles.judging import OWN_LEVEL, Family, Judge
from webapp.stats.profiles.sides import Pair
from webapp.stats.profiles.testing import Tested
from webapp.stats.profiles.trading import trades

Verdicts = dict[int, tuple[Verdict, str]]


def without_trades(both: Pair, own: Family, judge: Judge) -> tuple[Family, Verdicts]:
    """The family in which each group of functions that trade samples is one function.

    Claims are gated anew: those that a group withdraws must not let others through. Besides the
    verdicts, and their reasons, of members of groups.
    """
    if not judge.tests or own.scatter is None:
        return own, {}
    groups = trades(own, both.edges, both.weights)
    if not groups:
        return own, {}
    columns = [np.array(group) for group in groups]
    a, b = (side.joined(columns) for side in own.sides)
    every = np.ones(len(groups), np.bool_)
    scatter = testing.scatter_of(a, b, None, every, own.scatter.prior)
    found = testing.tested(a, b, scatter, judge.basis, every)
    alone = own.looked.copy()
    alone[np.concatenate(columns)] = False
    q_values = _gated(own.p_value[alone], found.p_value)
    q_value = own.q_value.copy()
    q_value[alone] = q_values[: alone.sum()]
    regated = replace(own, q_value=q_value, passes=alone & (q_value <= OWN_LEVEL))
    proven = q_values[alone.sum() :] <= OWN_LEVEL
    return regated, _verdicts(both, own, groups, judge, (found, proven))


def _gated(alone: Floats, groups: Floats) -> Floats:
    values = np.nan_to_num(np.concatenate([alone, groups]), nan=1.0)
    return np.array([one.q_value for one in gate(values.tolist())])


def _verdicts(
    both: Pair,
    own: Family,
    groups: list[list[int]],
    judge: Judge,
    found: tuple[Tested, Bools],
) -> Verdicts:
    """A group's verdict is that of its members, but of those that changed the other way."""
    tested, proven = found
    low, high = tested.interval()
    verdicts: Verdicts = {}
    for index, group in enumerate(groups):
        change, passes = float(tested.change[index]), bool(proven[index])
        verdict = judge.verdict(change, float(low[index]), float(high[index]), passes)
        for at in group:
            others = ", ".join(both.functions[one].name for one in group if one != at)
            why = (
                f"may trade samples with {others}: together {change:+.2f} points "
                f"[{low[index]:.2f}, {high[index]:.2f}]"
            )
            against = passes and own.change[at] * change < 0
            verdicts[at] = ("cannot tell" if against else verdict, why)
    return verdicts
