"""Small sides of profiles with known shares."""

from collections.abc import Mapping, Sequence

from webapp.stats.profiles.calls import Function, calls_of
from webapp.stats.profiles.costs import Boot, Side

Stacks = Mapping[str, int]


def boot(stacks: Stacks, *, sections: int = 1, **known: object) -> Boot:
    """A boot of stacks such as "main;read", each with its samples on every section."""
    counted = {
        tuple(Function(name, "kernel") for name in stack.split(";")): count
        for stack, count in stacks.items()
        if count
    }
    given: dict[str, object] = {"event": "instructions", "pps": 1e6, "cores": 4, **known}
    return Boot(calls_of([counted] * sections), **given)  # type: ignore[arg-type]


def side(stacks: Stacks, jitter: Sequence[int] = (0, 3, -2, 1, -1), **known: object) -> Side:
    """A boot for each of ``jitter``: so many samples are added to the first stack and taken from
    the last, and the rate grows by so many in ten thousand.
    """
    first, *_, last = stacks
    rate = known.pop("pps", 1e6)
    boots = []
    for step in jitter:
        moved = {**stacks, first: stacks[first] + step, last: stacks[last] - step}
        pps = rate * (1 + step / 1e4) if isinstance(rate, float) else None
        boots.append(boot(moved, pps=pps, **known))
    return Side(tuple(boots))
