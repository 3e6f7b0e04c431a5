"""The commits that an alert suspects, as bars of probability and as a list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from django.urls import reverse

from webapp.alerts.models import Alert
from webapp.alerts.queries import Listed, commits_between
from webapp.analysis.models import Finding
from webapp.pages.alerts.texts import sure
from webapp.pages.parts.links import source_url
from webapp.results.models import Revision

LISTED = 20
BARS = 5
LEAST = 0.005
"""A probability that is worth a bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A measured revision and the probability that the change began at it, or among the untested
    commits between ``after`` and it (empty: there are none).
    """

    name: str
    address: str
    probability: float
    subject: str
    author: str
    after: str
    source: str

    @property
    def text(self) -> str:
        """``99 %``."""
        return sure(self.probability).replace("under", "<").replace("over", ">")

    @property
    def width(self) -> str:
        """Of 100."""
        return f"{100 * self.probability:.1f}"


@dataclass(frozen=True, slots=True)
class Suspects:
    """``bars`` by probability, as the series of ``by`` tells them (None: a bisect named one).
    ``shown`` are the commits in question in order: the first ones, the likeliest and the last;
    ``more`` lie between.
    """

    bars: Sequence[Bar]
    by: Finding | None
    shown: Sequence[Revision]
    more: int

    @property
    def total(self) -> int:
        """How many commits are in question, as far as history is known here."""
        return len(self.shown) + self.more


def suspects_of(one: Listed) -> Suspects:
    """The suspects of an alert, in two statements at most."""
    alert = one.alert
    shown, more = _shown(alert)
    named = alert.named is not None and alert.named_id == alert.likeliest_id
    by = None if named else _clearest(one)
    known = {row.position: row for row in (*shown, alert.likeliest, alert.revision)}
    bars = _named_bar(alert) if named else _bars(one, by, known)
    return Suspects([_with_author(bar, one) for bar in bars], by, shown, more)


def _with_author(bar: Bar, one: Listed) -> Bar:
    """Of several suspects none is said to be somebody's; of one that is sure no other is told."""
    commit = one.suspicion.commit
    if commit is None or commit.name != bar.name:
        return bar
    return replace(bar, author=commit.author_name, after="")


def _clearest(one: Listed) -> Finding | None:
    """The finding that tells most of where the change began, of those that name its commit."""
    rows = [row for row in one.members.findings if row.revision_id == one.alert.likeliest_id]
    return max(rows or one.members.findings, key=lambda row: (row.here, row.score), default=None)


def _named_bar(alert: Alert) -> list[Bar]:
    probability = alert.named_probability or 0.0
    return [_bar(alert, alert.likeliest.name, probability, alert.likeliest, after="")]


def _bars(one: Listed, by: Finding | None, known: dict[int, Revision]) -> list[Bar]:
    if by is None:
        return []
    alert, is_alone = one.alert, one.suspicion.commits == 1
    places = by.locations or [(by.position, by.revision.name, by.here)]
    ordered = sorted(places)
    earlier = {place[0]: before[1] for before, place in pairwise(ordered)}
    likely = sorted(ordered, key=lambda place: -place[2])[:BARS]
    return [
        _bar(
            alert,
            name,
            probability,
            known.get(position),
            after=_after(by, position, earlier.get(position, ""), is_alone=is_alone),
        )
        for position, name, probability in likely
        if probability >= LEAST
    ]


def _after(by: Finding, position: int, earlier: str, *, is_alone: bool) -> str:
    """The measured revision before; empty where the finding's own commit ``is_alone`` between."""
    if position == by.position:
        return "" if is_alone else by.previous.name
    return earlier


def _bar(alert: Alert, name: str, probability: float, known: Revision | None, *, after: str) -> Bar:
    return Bar(
        name=name,
        address=reverse("commit", args=[alert.tree.name, name]),
        probability=min(max(probability, 0.0), 1.0),
        subject=known.subject if known else "",
        author="",
        after=after,
        source=source_url(known) if known else "",
    )


def _shown(alert: Alert) -> tuple[list[Revision], int]:
    first = commits_between(alert.after, alert.revision, most=LISTED + 1)
    found = [*first[:LISTED], alert.revision]
    if alert.likeliest not in found:
        found.insert(-1, alert.likeliest)
    for revision in found:
        revision.tree = alert.tree
    if len(first) <= LISTED:
        return found, 0
    return found, Revision.objects.between(alert.after, alert.revision).count() - len(found) + 1
