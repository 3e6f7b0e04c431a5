"""Which sides the runs of one directory are: kernels, else sets of options, else workloads."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from webapp.analysis.queries import MOST_SIDES, OPTION_MARK, Side
from webapp.results.models import ModeName

LEAST_SIDES = 2


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run measured, by names."""

    tree: str
    revision: str
    position: int
    variant: str
    hardware: str
    mode: ModeName
    session: str


def arrange(found: Sequence[Measured]) -> list[Side]:
    """The sides, the baseline first; empty where the runs are of one side only, of more than seven,
    or share no cell.

    The baseline is the earliest commit, the plain kernel, the fewest options, the shortest name of
    a workload: what the others add to.
    """
    if len({one.tree for one in found}) != 1:
        return []
    for side_of, cell_of, rank in (_KERNELS, _OPTIONS, _WORKLOADS):
        sides = sorted({side_of(one): rank(one) for one in found}.items(), key=lambda it: it[1])
        if len(sides) < LEAST_SIDES:
            continue
        cells = [{cell_of(one) for one in found if side_of(one) == side} for side, _ in sides]
        is_comparable = len(sides) <= MOST_SIDES and set.intersection(*cells)
        return [side for side, _ in sides] if is_comparable else []
    return []


def _kernel(one: Measured) -> Side:
    return Side(one.tree, one.revision, variant=one.variant, session=one.session)


def _with_options(one: Measured) -> Side:
    options = "".join(f"{OPTION_MARK}{option}" for option in sorted(one.mode.options))
    return Side(one.tree, one.revision, mode=options, variant=one.variant, session=one.session)


def _workload(one: Measured) -> Side:
    return Side(
        one.tree, one.revision, mode=str(one.mode), variant=one.variant, session=one.session
    )


SideOf = Callable[[Measured], Side]
CellOf = Callable[[Measured], Hashable]
Rank = Callable[[Measured], tuple[int, int, str]]
Way = tuple[SideOf, CellOf, Rank]

_KERNELS: Way = (
    _kernel,
    lambda one: (one.hardware, one.mode),
    lambda one: (one.position, len(one.variant), one.variant),
)
_OPTIONS: Way = (
    _with_options,
    lambda one: (one.hardware, one.mode.workload, one.mode.traffic),
    lambda one: (one.position, len(one.mode.options), " ".join(sorted(one.mode.options))),
)
_WORKLOADS: Way = (
    _workload,
    lambda one: one.hardware,
    lambda one: (one.position, len(str(one.mode)), str(one.mode)),
)
