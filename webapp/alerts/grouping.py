"""Which findings of a tree make one alert. Pure: no model is touched here.

A finding's suspects are the commits later than ``after`` up to and including ``last``, each with a
probability; the 5 % that they leave lie beside them. A further commit is blamed where findings are
together so much likelier there (`ANOTHER`), and each finding goes to the commit that its own
evidence prefers. One with little evidence on where its change began is held by whatever commit the
others show, and moves none; one with evidence is never held by a commit that it makes unlikely.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import fsum, inf, log
from typing import Literal

from webapp.alerts.assigned import Assigned, alert_of_finding, alert_of_group
from webapp.stats.false_discovery import gate_among

ANOTHER = log(100)
"""Logarithm of how many times likelier findings must be with a further commit, for it to be blamed:
a lab's history has about one change in a hundred commits."""

ELSEWHERE = 0.5
"""How likely another suspect is beside the one that a finding names, where no more is known."""

LEAST_CHANCE = 1e-3
"""The probability of a suspect, at least."""

AlertVerdict = Literal["regression", "improvement", "mixed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """As much of a finding as grouping needs; positions along one tree.

    ``at`` is its likeliest revision, ``locations`` are those that may be it with their
    probabilities, in order along the tree; ``is_large``: it reaches the threshold in
    force, and ``has_passed`` that a gate of its own let it through. Of what an option costs,
    ``parents`` are the series that it follows from. ``here`` is the probability of ``at``, where
    the commit of ``at`` is the only suspect.
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
    here: float = 1.0

    @property
    def near(self) -> tuple[int, int]:
        """The commits that may hold it, later than the first up to the second: its suspects and as
        many beside them on either side.
        """
        width = self.last - self.after
        return self.after - width, self.last + width

    def log_odds(self, position: int) -> float:
        """How much less likely the commit at ``position`` is than the one that the finding names:
        the logarithm of the ratio of their probabilities, 0 at least.
        """
        chance = self._chance(position)
        return log(max(self._chance(self.at), chance) / chance) if chance else inf

    def _chance(self, position: int) -> float:
        """The probability that the change began with the commit at ``position``. No suspect is
        ruled out: positions may be others than when the probabilities were stored.
        """
        if not self.suspects(position):
            first, last = self.near
            return self._beside() if first < position <= last else 0.0
        if not self.locations:
            return 1.0 if position == self.at else ELSEWHERE
        # A commit that the series did not measure shows first in the next revision that it did.
        at = bisect_left(self.locations, (position, 0.0))
        return max(self.locations[at][1] if at < len(self.locations) else 0.0, LEAST_CHANCE)

    def suspects(self, position: int) -> bool:
        """Whether the commit at ``position`` is among its suspects."""
        return self.after < position <= self.last

    def _beside(self) -> float:
        """The probability of each revision beside the suspects: what the suspects leave, spread
        over as many on either side.
        """
        known = fsum(chance for _, chance in self.locations) or self.here
        return max(1 - known, 0.0) / 2 / max(len(self.locations) - 1, 1)

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
    """The alerts of one tree: a function of the set of findings, and of people's decisions, alone.

    ``received`` gives, by position, how many series have a point there: the gate's number of looks.
    What people ``assigned`` is taken out first and makes groups of its own, which come last;
    ``anchors`` gives the positions where the alerts it was assigned to stand. What an option costs
    repeats its parents' evidence, and often shows better where: it helps to find the commit, and is
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
    for one in _with_costs(free, opening, received):
        alert = alert_of_group(one.suspect, assigned)
        if alert is None:
            own.append(one)
        else:
            members[alert] += one.members
    anchors = anchors or {}
    return own + [
        _assigned(alert, members[alert], opening, anchors[alert]) for alert in sorted(members)
    ]


def _with_costs(
    rows: Sequence[Evidence], opening: Container[int], received: Mapping[int, int]
) -> list[Group]:
    """The groups of ``rows``, where a cost that would be apart from its parent comes along."""
    found = _groups(rows, opening, received)
    group_of = {row.finding: at for at, one in enumerate(found) for row in one.members}
    astray: dict[int, int] = {}
    for row in rows:
        first = _repeated(row, rows, opening) if row.parents else None
        if first is not None and group_of.get(row.finding) != group_of[first]:
            astray[row.finding] = first
    if not astray:
        return found
    costs = [row for row in rows if row.finding in astray]
    others = [row for row in rows if row.finding not in astray]
    groups = []
    for one in _groups(others, opening, received):
        members = {row.finding for row in one.members}
        beside = [row for row in costs if astray[row.finding] in members]
        groups.append(replace(one, joiners=(*one.joiners, *beside)))
    return groups


def _repeated(cost: Evidence, rows: Sequence[Evidence], opening: Container[int]) -> int | None:
    """The finding of a parent that would open an alert and that ``cost`` repeats, the first one;
    None: it stands alone.
    """
    its = (row for row in rows if row.series in cost.parents and row.finding in opening)
    return next((row.finding for row in its if cost.shares_a_commit_with(row)), None)


def join(own: Group, assigned: Group) -> Group:
    """``own`` with what people added to it: that counts for the verdict, not for the commit."""
    openers = (*own.openers, *assigned.openers)
    return replace(
        own, verdict=_verdict(openers), openers=openers, joiners=(*own.joiners, *assigned.joiners)
    )


def _groups(
    rows: Sequence[Evidence], opening: Container[int], received: Mapping[int, int]
) -> list[Group]:
    """The groups of ``rows``, which come in order of their right ends."""
    large = [row for row in rows if row.finding in opening]
    groups = [
        one
        for part in _overlapping(large)
        for one in _distinct(_by_commit(part, _price(part, received)))
    ]
    commits = [one.likeliest for one in groups]
    joiners: dict[int, list[Evidence]] = defaultdict(list)
    for row in rows:
        near = _near(row, commits)
        if near and row.finding not in opening:
            best = min(near, key=lambda at: (row.log_odds(at), at))
            if row.log_odds(best) < ANOTHER:
                joiners[best].append(row)
    return [replace(one, joiners=tuple(joiners[one.likeliest])) for one in groups]


def _near(row: Evidence, commits: Sequence[int]) -> Sequence[int]:
    """Those of ``commits``, which are in order, that may hold a finding."""
    first, last = row.near
    return commits[bisect_right(commits, first) : bisect_right(commits, last)]


def _assigned(alert: int, rows: Sequence[Evidence], opening: Container[int], anchor: int) -> Group:
    """What people put together, at the commit where its alert stands if one of them suspects it."""
    openers = sorted(
        (row for row in rows if row.finding in opening), key=lambda row: (row.last, row.finding)
    )
    stays = not openers or any(row.after < anchor <= row.last for row in openers)
    suspect = anchor if stays else openers[0].last
    pointing = [row for row in openers if row.after < suspect <= row.last]
    joiners = tuple(row for row in rows if row.finding not in opening)
    found = _with_openers(_group(suspect, pointing), openers)
    return replace(found, joiners=joiners, alert=alert)


def _overlapping(rows: Iterable[Evidence]) -> list[list[Evidence]]:
    """The rows in parts that no commit may hold together, in order along the tree."""
    parts: list[list[Evidence]] = []
    end = -inf
    for row in sorted(rows, key=lambda row: (row.near, row.finding)):
        first, last = row.near
        if first >= end:
            parts.append([])
        parts[-1].append(row)
        end = max(end, last)
    return parts


def _price(rows: Sequence[Evidence], received: Mapping[int, int]) -> float:
    """What a further commit costs among ``rows``: `ANOTHER`, and the more the more series changed
    here, since one that did not would be rare (by the rule of succession; squared where several
    did, because the more findings there are, the sooner one of them lies too surely beside its
    commit).
    """
    changed = len({row.series for row in rows})
    count = max(changed, *(received.get(row.at, 0) for row in rows))
    return ANOTHER + min(changed, 2) * log((count + 1) / (count - changed + 1))


def _by_commit(rows: Sequence[Evidence], price: float) -> list[Group]:
    """The groups of rows that open alerts, one a commit, in order along the tree."""
    candidates = sorted({at for row in rows for at in (row.at, row.last)})
    odds = {
        # Where positions were swapped since, a finding suspects its last revision.
        row.finding: {at: row.log_odds(at) for at in _near(row, candidates)} or {row.last: 0.0}
        for row in rows
    }
    commits = set(_explaining(odds, price))
    held: dict[int, list[Evidence]] = defaultdict(list)
    for row in rows:
        its = odds[row.finding]
        held[min(commits & its.keys(), key=lambda at: (its[at], at))].append(row)
    named: dict[int, list[Evidence]] = defaultdict(list)
    for members in held.values():
        for at, able in _split(members):
            named[at] += able
    return [_opened(named[at]) for at in sorted(named)]


def _split(rows: list[Evidence]) -> Iterator[tuple[int, list[Evidence]]]:
    """Rows that one commit holds, by the commits that they name: a row which cannot be of the
    likeliest one names another.
    """
    while rows:
        at = _opened(rows).likeliest
        able = [row for row in rows if row.log_odds(at) < inf] or rows
        yield at, able
        rows = [row for row in rows if row not in able]


def _explaining(odds: Mapping[int, Mapping[int, float]], price: float) -> Iterator[int]:
    """The commits that explain all findings; ``odds`` are those of each finding by commit
    (`Evidence.log_odds`).

    A commit costs ``price``, and each finding its odds at the commit that it prefers. The commit
    that saves most comes first, as long as one saves more than it costs. What a commit saves only
    becomes less: one that still leads when it is counted again leads all others (Minoux 1978).
    """
    by_commit: dict[int, dict[int, float]] = defaultdict(dict)
    for finding, its in odds.items():
        for at, one in its.items():
            by_commit[at][finding] = one
    costs = dict.fromkeys(odds, 2 * price)

    def saved(at: int) -> float:
        return fsum(max(costs[finding] - one, 0.0) for finding, one in by_commit[at].items())

    queue = [(-saved(at), at) for at in by_commit]
    heapify(queue)
    while queue:
        _, at = heappop(queue)
        now = saved(at)
        if queue and (-now, at) > queue[0]:
            heappush(queue, (-now, at))
        elif now > price:
            yield at
            costs |= {finding: min(costs[finding], one) for finding, one in by_commit[at].items()}
        else:
            return


def _opened(rows: Sequence[Evidence]) -> Group:
    """The group of ``rows``, whose suspects are those of the rows that suspect its commit."""
    named = {row.at for row in rows if row.suspects(row.at)}
    odds = {at: fsum(row.log_odds(at) for row in rows) for at in named}
    commit = min(odds, key=lambda at: (odds[at], at), default=min(row.last for row in rows))
    pointing = [row for row in rows if row.suspects(commit)]
    suspect = min((row.last for row in pointing), default=commit)
    return _with_openers(replace(_group(suspect, pointing), likeliest=commit), rows)


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """The groups, each of whose suspects end before the commit that the next one names."""
    found: list[Group] = []
    for one in reversed(groups):
        if found and one.suspect >= found[-1].likeliest:
            found.append(replace(one, suspect=one.likeliest))
        else:
            found.append(one)
    return found[::-1]


def _group(suspect: int, pointing: Sequence[Evidence]) -> Group:
    """The alert at the commits that all rows ``pointing`` at it suspect."""
    after = max((row.after for row in pointing), default=suspect)
    named = sorted({row.at for row in pointing if after < row.at <= suspect})
    odds = {at: fsum(row.log_odds(at) for row in pointing) for at in named}
    likeliest = min(named, key=lambda at: (odds[at], at), default=suspect)
    return Group(suspect, after, likeliest, _verdict(pointing), tuple(pointing), ())


def _with_openers(one: Group, openers: Sequence[Evidence]) -> Group:
    return replace(one, openers=tuple(openers), verdict=_verdict(openers))


def _verdict(openers: Sequence[Evidence]) -> AlertVerdict:
    """Their joint verdict. A cost that rose because the kernel without the option gained is no
    loss of anybody's: beside a parent it decides nothing.
    """
    series = {row.series for row in openers}
    return verdict_of(row.verdict for row in openers if series.isdisjoint(row.parents))


def verdict_of(verdicts: Iterable[str]) -> AlertVerdict:
    """The joint text of findings."""
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
