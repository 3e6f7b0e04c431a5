"""Two releases compared, and the alerts on the commits between them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Q

from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import Past, by_alert, findings_of, members_of_all_at
from webapp.analysis import queries
from webapp.analysis.models import Finding, Verdict
from webapp.events.queries import Stretch, release_names, stretches
from webapp.results.models import Revision

REVISIONS = ("revision", "after", "last", "recovered_by")


@dataclass(frozen=True, slots=True)
class AlertBetween:
    """An alert and its ``changes``, losses first, of either kind the largest first."""

    alert: Alert
    changes: Sequence[Past]

    @property
    def losses(self) -> list[Past]:
        """What was lost."""
        return [one for one in self.changes if one.finding.verdict == Verdict.WORSE]

    @property
    def gains(self) -> list[Past]:
        """What was gained."""
        return [one for one in self.changes if one.finding.verdict != Verdict.WORSE]


@dataclass(frozen=True, slots=True)
class ComparedReleases:
    """Release ``b`` against ``a``: the comparison of the revisions that stand for them, what it
    does not hold, and the alerts of the commits between; None where no branch point joins their
    trees.
    """

    a: queries.MeasuredRelease
    b: queries.MeasuredRelease
    asof: datetime | None
    table: queries.PointTable
    unmatched: Sequence[queries.Unmatched]
    alerts: Sequence[AlertBetween] | None

    @property
    def titles(self) -> tuple[str, str]:
        """What the two are called; by their trees where one name is that of both."""
        names = self.a.title, self.b.title
        if names[0] != names[1]:
            return names
        return f"{self.a.measured.tree} {names[0]}", f"{self.b.measured.tree} {names[1]}"

    @property
    def recovered(self) -> list[tuple[Alert, Past]]:
        """Losses between the two that were won back up to ``b``."""
        end = self.b.measured.position
        return [
            (one.alert, loss)
            for one in self.alerts or ()
            for loss in one.losses
            if loss.then.state == Finding.State.RECOVERED
            and one.alert.tree_id == self.b.measured.tree_id
            and (loss.finding.recovered_by is None or loss.finding.recovered_by.position <= end)
        ]


def compare_releases(texts: Sequence[str], asof: datetime | None = None) -> ComparedReleases:
    """Compare the second release with the first, each by the nearest measured revision of its
    branch. The number of statements does not depend on how much was measured. Raises SideError: as
    `measured_releases` does.
    """
    a, b = queries.measured_releases(texts, asof)
    nearest = _apart(a, b)
    table = queries.compare_points([a.side, b.side], asof, nearest=nearest)
    table = table or _by_samples([a, b], nearest, asof)
    rows = [(row.base.hardware.name, row.mode, row.base.metric) for row in table.rows]
    known = [*rows, *(one[:3] for one in table.unmatched)]
    neither = queries.measured_in_neither(table.revisions, known, asof)
    alerts = alerts_between(a.measured, b.measured, asof)
    return ComparedReleases(a, b, asof, table, (*table.unmatched, *neither), alerts)


Nearest = Mapping[tuple[str, str], Revision]
"""By the names of machine and mode the revision that stands for a release."""


def _apart(a: queries.MeasuredRelease, b: queries.MeasuredRelease) -> list[Nearest]:
    """What stands for each: a revision that is the nearest of both for the nearer one alone."""
    is_one = a.measured.tree_id == b.measured.tree_id and a.variant == b.variant
    of_a, of_b = dict(a.nearest), dict(b.nearest)
    for names in a.nearest.keys() & b.nearest.keys() if is_one else ():
        if a.nearest[names].position >= b.nearest[names].position:
            is_of_a = a.distance(names) <= b.distance(names)
            del (of_b if is_of_a else of_a)[names]
    return [of_a, of_b]


def _by_samples(
    releases: Sequence[queries.MeasuredRelease], nearest: Sequence[Nearest], asof: datetime | None
) -> queries.PointTable:
    """Where only samples decide: the same rows, by statements for each two revisions compared."""
    of_pair: dict[tuple[Revision, ...], set[tuple[str, str]]] = defaultdict(set)
    for names in {names for its in nearest for names in its}:
        each = zip(nearest, releases, strict=True)
        of_pair[tuple(its.get(names, one.measured) for its, one in each)].add(names)
    rows, unmatched = [], []
    sides = tuple(one.side for one in releases)
    for revisions, of in of_pair.items():
        pair = zip(sides, revisions, strict=True)
        its = [replace(side, revision=revision.name) for side, revision in pair]
        found = queries.as_points(queries.compare_sides(its, asof))
        rows += [row for row in found.rows if (row.base.hardware.name, row.mode) in of]
        unmatched += [one for one in found.unmatched if (one.hardware, one.mode) in of]
    measured = tuple(one.measured for one in releases)
    return queries.PointTable(sides, measured, tuple(rows), tuple(unmatched))


def alerts_between(
    a: Revision, b: Revision, asof: datetime | None = None
) -> list[AlertBetween] | None:
    """The alerts of commits later than ``a`` up to ``b``, of slow losses those that go on there, in
    the order of the tree; of two trees those of either side of where they left each other, None
    where that is not known. Five statements, one more of two trees. With ``asof`` those that were
    open by then, with what they held and how large that was; the commit that is suspected is
    today's.
    """
    its = [Stretch(a.tree.name, a.position, b.position)]
    if a.tree_id != b.tree_id:
        known = release_names()
        its = stretches((a.tree.name, a.position), (b.tree.name, b.position), known) or []
    if not its:
        return None
    found = Alert.objects.filter(reduce(or_, map(_within, its)))
    if asof is not None:
        found = found.filter(opened_at__lte=asof)
    order = ("tree__name", "likeliest__position", "pk")
    alerts = list(found.with_revisions().select_related("tree").order_by(*order))
    members = members_of_all_at(alerts, asof) if asof else _members_today(alerts)
    both = [AlertBetween(one, _ordered(members.get(one.pk, ()))) for one in alerts]
    return [one for one in both if one.changes]


def _within(one: Stretch) -> Q:
    """An alert of its commits."""
    between = Q(likeliest__position__gt=one.after, likeliest__position__lte=one.upto)
    goes_on = Q(after__position__lt=one.upto, revision__position__gt=one.after)
    is_slow = Q(kind=Alert.Kind.SLOW)
    return Q(between & ~is_slow | goes_on & is_slow, tree__name=one.tree)


def _members_today(alerts: Sequence[Alert]) -> Mapping[int, Sequence[Past]]:
    found = findings_of(alerts).with_subjects().select_related(*REVISIONS, "membership")
    return {pk: [Past(row, row) for row in rows] for pk, rows in by_alert(found).items()}


def _ordered(changes: Sequence[Past]) -> list[Past]:
    alerted = [one for one in changes if one.then.state in Finding.ALERTED]
    return sorted(alerted, key=_rank)


def _rank(one: Past) -> tuple[bool, bool, float, int]:
    size = abs(one.then.change_pct) if one.then.change_pct is not None else float("inf")
    is_gain = one.finding.verdict != Verdict.WORSE
    return one.finding.series.is_cost, is_gain, -size, one.finding.pk
