"""Which findings of a tree make one alert. Pure: no model is touched here.

A finding's suspects are the commits later than ``after`` up to and including ``last``. Commits are
blamed greedily: the findings are taken by their right end, the first right end is a suspect, all
findings that suspect it join it, and so on with the rest. It is the classical stabbing of intervals
and needs the fewest commits that explain every finding.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from webapp.alerts.assigned import Assigned, alert_of_finding, alert_of_group
from webapp.stats.changes import gate_among

AlertVerdict = Literal["regression", "improvement", "mixed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """As much of a finding as grouping needs; positions along one tree.

    ``at`` is its likeliest revision, ``is_large`` says that it reaches the threshold in force, and
    ``has_passed`` that a gate of its own let it through. Of what an option costs, ``parents`` are
    the series that it follows from.
    """

    finding: int
    after: int
    last: int
    at: int
    verdict: str
    p_value: float
    is_large: bool
    series: int = 0
    has_passed: bool = False
    parents: tuple[int, ...] = ()

    def shares_a_commit_with(self, other: "Evidence") -> bool:
        """Whether both suspect some commit."""
        return max(self.after, other.after) < min(self.last, other.last)


@dataclass(frozen=True, slots=True)
class Group:
    """One alert to be: the suspects are later than ``after`` up to ``suspect``.

    ``openers`` are large and let through by the gate: each alone would open the alert, and they
    decide where it points. ``joiners`` are smaller and only come along. ``likeliest`` is the
    position that most openers name, the earliest of them in a tie. ``alert`` is the one that people
    assigned it to; such a group may have no openers.
    """

    suspect: int
    after: int
    likeliest: int
    verdict: AlertVerdict
    openers: tuple[Evidence, ...]
    joiners: tuple[Evidence, ...]
    alert: int | None = None

    @property
    def members(self) -> tuple[Evidence, ...]:
        """Openers first, then joiners."""
        return (*self.openers, *self.joiners)


def group(
    evidence: Iterable[Evidence],
    received: Mapping[int, int],
    assigned: Sequence[Assigned] = (),
    anchors: Mapping[int, int] | None = None,
) -> list[Group]:
    """The alerts of one tree: a function of the set of findings, and of what people said, alone.

    ``received`` gives, by position, how many series have a point there: the gate's number of looks.
    What people ``assigned`` is taken out first and makes groups of its own, which come last;
    ``anchors`` gives the positions where the alerts it was assigned to stand. What an option costs
    repeats what its parents say, and often tells better where: it helps to find the commit, and is
    never another alert than that of a parent which shares a commit with it.
    """
    rows = sorted(evidence, key=lambda row: (row.last, row.finding))
    passing = _passing(rows, received)
    opening = {row.finding for row in rows if row.is_large and row.finding in passing}
    members: dict[int, list[Evidence]] = defaultdict(list)
    free, own = [], []
    for row in rows:
        alert = alert_of_finding(row.series, row.after, row.last, assigned)
        if alert is None:
            free.append(row)
        else:
            members[alert].append(row)
    for one in _with_costs(free, opening):
        alert = alert_of_group(one.suspect, assigned)
        if alert is None:
            own.append(one)
        else:
            members[alert] += one.members
    anchors = anchors or {}
    return own + [
        _assigned(alert, members[alert], opening, anchors[alert]) for alert in sorted(members)
    ]


def _with_costs(rows: Sequence[Evidence], opening: Container[int]) -> list[Group]:
    """The groups of ``rows``, where a cost that would be apart from its parent comes along."""
    found = _groups(rows, opening)
    group_of = {row.finding: at for at, one in enumerate(found) for row in one.members}
    astray: dict[int, int] = {}
    for row in rows:
        first = _repeated(row, rows, opening) if row.parents else None
        if first is not None and group_of.get(row.finding) != group_of[first]:
            astray[row.finding] = first
    if not astray:
        return found
    costs = [row for row in rows if row.finding in astray]
    return [
        _with(one, [row for row in costs if astray[row.finding] in _findings(one)])
        for one in _groups([row for row in rows if row.finding not in astray], opening)
    ]


def _repeated(cost: Evidence, rows: Sequence[Evidence], opening: Container[int]) -> int | None:
    """The finding of a parent that would open an alert and that ``cost`` repeats, the first one;
    None: it stands alone.
    """
    its = (row for row in rows if row.series in cost.parents and row.finding in opening)
    return next((row.finding for row in its if cost.shares_a_commit_with(row)), None)


def _findings(one: Group) -> set[int]:
    return {row.finding for row in one.members}


def _with(one: Group, costs: Sequence[Evidence]) -> Group:
    return replace(one, joiners=(*one.joiners, *costs)) if costs else one


def join(own: Group, assigned: Group) -> Group:
    """``own`` with what people added to it: that counts for the verdict, not for the commit."""
    openers = (*own.openers, *assigned.openers)
    return replace(
        own,
        verdict=_verdict(openers),
        openers=openers,
        joiners=(*own.joiners, *assigned.joiners),
    )


def _groups(rows: Sequence[Evidence], opening: Container[int]) -> list[Group]:
    """The groups of ``rows``, which come in order of their right ends."""
    large = [row for row in rows if row.finding in opening]
    suspects = _suspects(large)
    openers, joiners = _by_suspect(large, suspects), _by_suspect(rows, suspects)
    return [
        _group(at, openers[at], [row for row in joiners[at] if row not in openers[at]])
        for at in suspects
    ]


def _assigned(alert: int, rows: Sequence[Evidence], opening: Container[int], anchor: int) -> Group:
    """What people put together, at the commit where its alert stands if one of them suspects it."""
    openers = sorted(
        (row for row in rows if row.finding in opening), key=lambda row: (row.last, row.finding)
    )
    stays = not openers or any(row.after < anchor <= row.last for row in openers)
    suspect = anchor if stays else openers[0].last
    pointing = [row for row in openers if row.after < suspect <= row.last]
    found = _group(suspect, pointing, [row for row in rows if row.finding not in opening])
    verdict = _verdict(openers)
    return replace(found, openers=tuple(openers), verdict=verdict, alert=alert)


def _suspects(rows: Sequence[Evidence]) -> list[int]:
    """The right ends that stab every row, ascending; ``rows`` come in order of their right ends."""
    suspects: list[int] = []
    for row in rows:
        if not suspects or row.after >= suspects[-1]:
            suspects.append(row.last)
    return suspects


def _by_suspect(rows: Sequence[Evidence], suspects: Sequence[int]) -> dict[int, list[Evidence]]:
    """Each row with the first suspect inside its interval, if there is any."""
    found: dict[int, list[Evidence]] = {at: [] for at in suspects}
    for row in rows:
        first = bisect_right(suspects, row.after)
        if first < len(suspects) and suspects[first] <= row.last:
            found[suspects[first]].append(row)
    return found


def _group(suspect: int, openers: Sequence[Evidence], joiners: Sequence[Evidence]) -> Group:
    after = max((row.after for row in openers), default=suspect)
    named = Counter(row.at for row in openers if after < row.at <= suspect)
    return Group(
        suspect=suspect,
        after=after,
        likeliest=min(named, key=lambda at: (-named[at], at), default=suspect),
        verdict=_verdict(openers),
        openers=tuple(openers),
        joiners=tuple(joiners),
    )


def _verdict(openers: Sequence[Evidence]) -> AlertVerdict:
    """What they say together. A cost that rose because the kernel without the option gained is no
    loss of anybody's: beside a parent it decides nothing.
    """
    series = {row.series for row in openers}
    return verdict_of(row.verdict for row in openers if series.isdisjoint(row.parents))


def verdict_of(verdicts: Iterable[str]) -> AlertVerdict:
    """What findings say together."""
    found = set(verdicts)
    if len(found) > 1:
        return "mixed"
    return "regression" if found == {"worse"} else "improvement"


def _passing(rows: Sequence[Evidence], received: Mapping[int, int]) -> set[int]:
    """The findings that the false discovery gate lets through, each among the series that received
    its revision. A series without a finding there shows no more than chance: it counts as a look.
    """
    looks: dict[int, list[Evidence]] = defaultdict(list)
    for row in rows:
        looks[row.at].append(row)
    passing = set()
    for at, those in looks.items():
        gates = gate_among([row.p_value for row in those], received.get(at, 0))
        passing |= {
            row.finding
            for row, one in zip(those, gates, strict=True)
            if one.passes or row.has_passed
        }
    return passing
