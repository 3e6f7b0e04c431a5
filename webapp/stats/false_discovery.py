"""Which of many series' evidence at one commit to take seriously.

A commit that a hundred series received gets a hundred looks; the more looks, the more of them
are striking by chance. The procedure of Benjamini and Hochberg (1995) bounds the share of false
ones among those let through. It works on p-values of the *scan* (how often a series without any
change shows as much at one revision), and it only ranks and gates alerts: no finding is changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

LEVEL = 0.05
"""Share of false alerts among those let through, by default."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One series at the commit: `rank` 1 is the most striking.

    `q_value` is the smallest level at which it would be let through.
    """

    rank: int
    p_value: float
    q_value: float
    passes: bool


NO_EVIDENCE = 1.0
"""The p-value of a series that received the commit and shows nothing there: it counts as a look."""


def gate_among(p_values: Sequence[float], received: int) -> tuple[Gate, ...]:
    """Return one Gate per p-value of the series that show something at a commit, in their order.

    `received` series had the commit, these among them. Raises ValueError as `gate` does.
    """
    silent = max(received - len(p_values), 0)
    return gate([*p_values, *[NO_EVIDENCE] * silent])[: len(p_values)]


def gate(p_values: Sequence[float], level: float = LEVEL) -> tuple[Gate, ...]:
    """Return one Gate per p-value, in the order given: all series that received the commit.

    q(i) = min over j >= i of p(j) n / j, for p in ascending order. Raises ValueError for a
    p-value or a level outside 0 to 1.
    """
    for value in (*p_values, level):
        if isnan(value) or not 0.0 <= value <= 1.0:
            raise ValueError(f"{value} is no probability")
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    gates: dict[int, Gate] = {}
    q_value = 1.0
    for rank in range(count, 0, -1):
        i = order[rank - 1]
        q_value = min(q_value, p_values[i] * count / rank)
        gates[i] = Gate(rank, p_values[i], q_value, q_value <= level)
    return tuple(gates[i] for i in range(count))
