"""Which findings of a tree make one alert. Pure: no model is touched here.

A finding's suspects are the commits later than ``after`` up to and including ``last``, each with a
probability. Commits are blamed greedily: the one that explains most findings best comes first, then
the one that explains most of what is left. Then each finding goes to the commit that its own
evidence prefers. One that can hardly tell where its change began is held by whatever commit the
others show, and moves none; one that can tell is never held by a commit that it speaks against.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Literal

from webapp.alerts.assigned import Assigned, alert_of_finding, alert_of_group
from webapp.stats.changes import gate_among

ANOTHER = 3.0
"""Logarithm of how many times less likely a commit may be than the one that a finding names, for
that finding to be held by it: changes of two commits so near each other are as rare."""

ELSEWHERE = 0.5
"""How likely another suspect is beside the one that a finding names, where no more is known."""

AlertVerdict = Literal["regression", "improvement", "mixed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """As much of a finding as grouping needs; positions along one tree.

    ``at`` is its likeliest revision, ``locations`` are those that may be it with their
    probabilities, in order along the tree; ``is_large`` says that it reaches the threshold in
    force, and ``has_passed`` that a gate of its own let it through. Of what an option costs,
    ``parents`` are the series that it follows from.
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
    locations: tuple[tuple[int, float], ...] = ()

    def chance(self, position: int) -> float:
        """The probability that its change began with the commit at ``position``."""
        if not self.after < position <= self.last:
            return 0.0
        if not self.locations:
            return 1.0 if position == self.at else ELSEWHERE
        # A commit that the series did not measure shows first in the next revision that it did.
        at = bisect_left(self.locations, (position, 0.0))
        return self.locations[at][1] if at < len(self.locations) else 0.0

    def shares_a_commit_with(self, other: "Evidence") -> bool:
        """Whether both suspect some commit."""
        return max(self.after, other.after) < min(self.last, other.last)


@dataclass(frozen=True, slots=True)
class Group:
    """One alert to be: the suspects are later than ``after`` up to ``suspect``.

    ``openers`` are large and let through by the gate: each alone would open the alert, and they
    decide where it points. ``joiners`` are smaller and only come along. ``likeliest`` is the
    position that openers name and speak against least together, the earliest of them in a tie.
    ``alert`` is the one that people assigned it to; such a group may have no openers.
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
    groups = [one for part in _overlapping(large) for one in _distinct(_by_commit(part))]
    joiners: dict[int, list[Evidence]] = defaultdict(list)
    for row in rows if groups else ():
        best = min(groups, key=lambda one: (_against(row, one.likeliest), one.suspect))
        if row.finding not in opening and _against(row, best.likeliest) < ANOTHER:
            joiners[best.suspect].append(row)
    return [replace(one, joiners=tuple(joiners[one.suspect])) for one in groups]


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


def _overlapping(rows: Sequence[Evidence]) -> list[list[Evidence]]:
    """The rows in as many parts as share no commit; they come in order of their right ends."""
    parts: list[list[Evidence]] = []
    for row in sorted(rows, key=lambda row: (row.after, row.last, row.finding)):
        if parts and row.after < max(one.last for one in parts[-1]):
            parts[-1].append(row)
        else:
            parts.append([row])
    return parts


def _by_commit(rows: Sequence[Evidence]) -> list[Group]:
    """The groups of rows that open alerts, one a commit, in order along the tree."""
    candidates = sorted({at for row in rows for at in (row.at, row.last)})
    against = {at: {row.finding: _against(row, at) for row in rows} for at in candidates}
    commits, left = [], list(rows)
    while left:
        best = min(
            candidates,
            key=lambda at: (
                -sum(max(ANOTHER - against[at][row.finding], 0.0) for row in left),
                at,
            ),
        )
        commits.append(best)
        left = [row for row in left if against[best][row.finding] >= ANOTHER]
    held: dict[int, list[Evidence]] = defaultdict(list)
    for row in rows:
        held[min(commits, key=lambda at: (against[at][row.finding], at))].append(row)
    named: dict[int, list[Evidence]] = defaultdict(list)
    for its in held.values():
        named[_opened(its).likeliest] += its
    return [_opened(named[at]) for at in sorted(named)]


def _opened(rows: Sequence[Evidence]) -> Group:
    return _group(min(row.last for row in rows), rows, ())


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """The groups, each of whose suspects end before the commit that the next one names."""
    found: list[Group] = []
    for one in reversed(groups):
        if found and one.suspect >= found[-1].likeliest:
            found.append(replace(one, suspect=one.likeliest))
        else:
            found.append(one)
    return found[::-1]


def _against(row: Evidence, position: int) -> float:
    """By how much a finding speaks against a commit, beside the one that it names: the logarithm of
    the ratio of their probabilities.
    """
    chance = row.chance(position)
    return log(max(row.chance(row.at), chance) / chance) if chance > 0 else inf


def _group(suspect: int, openers: Sequence[Evidence], joiners: Sequence[Evidence]) -> Group:
    after = max((row.after for row in openers), default=suspect)
    named = sorted({row.at for row in openers if after < row.at <= suspect})
    against = {at: sum(_against(row, at) for row in openers) for at in named}
    return Group(
        suspect=suspect,
        after=after,
        likeliest=min(named, key=lambda at: (against[at], at), default=suspect),
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
