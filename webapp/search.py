"""What a search text may mean and what it finds, in groups; the first hit of the first group is the
likeliest. Pages and API ask the same questions here.

Revisions go by their names, commits by the words of their subjects and authors.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from django.db.models import Case, Exists, OuterRef, Q, Subquery, Value, When
from django.urls import reverse

from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.analysis.queries import releases_link, trend_link, with_query
from webapp.bisects.models import Bisect
from webapp.events import queries
from webapp.results import models
from webapp.results.queries import rows_of

LONGEST = 200
MOST_WORDS = 8
LETTERS = "rnc"
"""Before the number of a revision; people leave them out."""

FEWEST_OF_A_REVISION = 3
"""Characters of a revision from which on the names that begin so are looked for."""

_NUMBER = re.compile(r"(?:(alert|bisect)s?\s*)?#?\s*(\d{1,9})", re.IGNORECASE)
_REVISION = re.compile(r"[\w.-]+")
_TOKEN = re.compile(r"\d+(?:\.\d+)+|\w+")

CALLED = ("name", "display_name", "cpu", "nic", "agreed_cpu", "agreed_nic")
"""Of a machine what people may call it by."""

SHOWN = 5
NEAREST, MOST_NAMES = 3, 2000
"""Names that are offered instead, and modes that are looked at for them."""

RECENT = 30_000
"""Positions back from the end of each tree where words are looked for first. A word of every tenth
commit stands there often enough; to sort all that have it would take longer than a page may."""

# The expression of the index commits_by_words
WORDED = """
SELECT found.id
  FROM results_tree AS tree
 CROSS JOIN LATERAL (
       SELECT id, position FROM results_revision
        WHERE tree_id = tree.id
          AND to_tsvector('simple', subject || ' ' || author_name)
              @@ to_tsquery('simple', %(words)s)
          AND position < 4611686018427387904
          AND position >= %(back)s + (
              SELECT max(last.position) FROM results_revision AS last
               WHERE last.tree_id = tree.id AND last.position < 4611686018427387904)
        ORDER BY position DESC LIMIT %(limit)s) AS found
 LIMIT %(limit)s
"""
EVER = -(2**62)


@dataclass(frozen=True)
class Asked:
    """A search text, cut to `LONGEST` characters and `MOST_WORDS` words."""

    text: str

    @classmethod
    def of(cls, text: str) -> "Asked":
        """What was typed, without what no database takes."""
        clean = "".join(each if each.isprintable() else " " for each in text)
        return cls(" ".join(clean.split())[:LONGEST].strip())

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The words of the question, in their order, each once."""
        return tuple(dict.fromkeys(self.text.split()))[:MOST_WORDS]

    @property
    def location(self) -> tuple[str, str]:
        """Tree and revision as in ``tree:revision``; else no tree and the text."""
        tree, _, revision = self.text.rpartition(":")
        return (tree, revision) if tree and revision else ("", self.text)

    @property
    def names(self) -> list[str]:
        """The ids of revisions that it may be: as typed, in small letters, with a letter before a
        number."""
        if len(self.terms) != 1:
            return []
        _, text = self.location
        numbers = [letter + text for letter in LETTERS] if text.isascii() and text.isdigit() else []
        total = models.as_total(text.lower())  # as directories write a count of all commits
        return list(dict.fromkeys([text, text.lower(), *numbers, *([total] if total else [])]))

    @property
    def beginnings(self) -> list[str]:
        """What the ids of revisions may begin with; none where it is too short or no id."""
        _, text = self.location
        enough = len(text.lstrip(LETTERS)) >= FEWEST_OF_A_REVISION
        return self.names if enough and _REVISION.fullmatch(text) else []

    @property
    def number(self) -> tuple[str, int] | None:
        """The number of an alert or a bisect, and which of them (empty: either)."""
        match = _NUMBER.fullmatch(self.text)
        return ((match[1] or "").lower(), int(match[2])) if match else None

    @property
    def tsquery(self) -> str:
        """For `to_tsquery`: every word, or what begins so; empty where there is none. A version
        (``11.1``) is one word, as the database takes it.
        """
        tokens = dict.fromkeys(_TOKEN.findall(self.text.lower()))
        return " & ".join(f"'{token}':*" for token in tokens if len(token) > 1)


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of the search, and its page. ``detail`` distinguishes it from namesakes."""

    label: str
    address: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one kind, the best first. ``more``: there are others."""

    name: str
    hits: Sequence[Hit]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Groups, ordered by their best hit; where there is none, names that are nearly like it."""

    groups: list[Group] = field(default_factory=list)
    nearest: list[Hit] = field(default_factory=list)

    @property
    def first(self) -> Hit | None:
        """The likeliest."""
        return self.groups[0].hits[0] if self.groups else None

    @property
    def count(self) -> int:
        """Hits that are listed."""
        return sum(len(group.hits) for group in self.groups)


def find(asked: Asked, limit: int = SHOWN) -> Found:
    """At most ``limit`` hits of each kind, in at most eleven statements."""
    if not asked.terms:
        return Found()
    revisions = revisions_named(asked, limit + 1)
    exact = [row for row in revisions if row.name in asked.names]
    machines = models.Hardware.objects.filter(_contains(asked, *CALLED, "aliases__name")).distinct()
    hardware = [(row.name, _hardware(row)) for row in machines]
    modes = list(models.Mode.objects.filter(_contains(asked, "name", "aliases__name")).distinct())
    metrics = [(row.name, _metric(row)) for row in _metrics(asked)]
    variants = [(str(row.series.variant), _variant(row)) for row in _variants(asked)]
    called, others = _releases(asked)
    groups = [
        _group("Releases and trees", called, limit),
        _group("Revisions", [_revision(row) for row in revisions], limit),
        _group("Alerts", [_alert(row) for row in _alerts(asked, exact, limit + 1)], limit),
        _group("Bisects", [_bisect(row) for row in _bisects(asked)], limit),
        _group("Releases and trees", [] if called else others, limit),
        _group("Hardware", _whole_first(asked, hardware), limit),
        _group("Modes", _whole_first(asked, [(row.name, _mode(row)) for row in modes]), limit),
        _group("Metrics", _whole_first(asked, metrics), limit),
        _group("Variants", _whole_first(asked, variants), limit),
        _group("Series", [_series(row) for row in _series_of(asked, limit + 1)], limit),
        _group("Commits", [_revision(row) for row in commits_worded(asked, limit + 1)], limit),
    ]
    found = [group for group in groups if group.hits]
    if len(asked.terms) > 1 and not asked.number:
        found.sort(key=lambda group: group.name == "Alerts")  # those of the series that are named
    return Found(found) if found else Found(nearest=_nearest(asked))


def _group(name: str, hits: Sequence[Hit], limit: int) -> Group:
    return Group(name, hits[:limit], len(hits) > limit)


def _contains(asked: Asked, *fields: str) -> Q:
    """Every word stands in one of the fields."""
    condition = Q()
    for word in asked.terms:
        either = Q()
        for name in fields:
            either |= Q(**{f"{name}__icontains": word})
        condition &= either
    return condition


def _whole_first(asked: Asked, named: Iterable[tuple[str, Hit]]) -> list[Hit]:
    """A whole name before those that hold it, and short names before long ones."""
    wanted = asked.text.casefold()
    ranked = (
        (
            wanted not in {name.casefold(), hit.label.casefold()},
            len(hit.label),
            hit.label,
            name,
            hit,
        )
        for name, hit in named
    )
    return [hit for *_, hit in sorted(ranked, key=lambda one: one[:4])]


def _series_of(asked: Asked, limit: int) -> Sequence[models.Series]:
    """Of several words, each in the name of machine, mode or metric; what changed last comes first.
    One word is that of one of these."""
    if len(asked.terms) < 2:
        return []
    newest = Finding.objects.filter(series=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    found = models.Series.objects.filter(
        _contains(asked, *(f"hardware__{one}" for one in CALLED), "mode__name", "metric__name")
    )
    changed = found.annotate(change=Subquery(newest))
    return list(changed.plain().named().order_by("-change", "pk")[:limit])


def _releases(asked: Asked) -> tuple[list[Hit], list[Hit]]:
    """Releases, branch points and trees of that name, unless it is a number, with those that hold
    every word, however it is separated, behind them; and these where none has that name.
    """
    known = queries.release_names()
    words = [part for word in asked.terms for part in re.split(r"[-/_]", word) if part]
    called = queries.names_called(asked.text, known) if not asked.number else []
    before = {newer: older for older, newer in queries.neighbouring(known)}
    found = dict.fromkeys([*called, *queries.names_with(words, known)])
    hits = [_release(one, before.get(one)) for one in found]
    return hits if called else [], hits


def _metrics(asked: Asked) -> Sequence[models.Metric]:
    """Those that are measured, without what options cost."""
    series = models.Series.objects.plain().filter(metric=OuterRef("pk"))
    return list(models.Metric.objects.filter(_contains(asked, "name"), Exists(series), of=None))


def _variants(asked: Asked) -> Sequence[models.Point]:
    """The newest point of each variant of that name, in each tree."""
    by = ("series__variant__name", "series__tree__name")
    points = models.Point.objects.of_variants().filter(_contains(asked, "series__variant__name"))
    named = points.select_related("series__variant", "revision__tree")
    return list(named.order_by(*by, "-position").distinct(*by))


def _alerts(asked: Asked, exact: Sequence[models.Revision], limit: int) -> Sequence[Alert]:
    """By number, by the commit they suspect, by the machines and modes of what they hold; those
    that wait for somebody first, then the newest."""
    wanted = Q()
    if asked.number and asked.number[0] != "bisect":
        wanted |= Q(pk=asked.number[1]) | Q(former__number=asked.number[1])
    if exact:
        suspected = Q(revision__in=exact) | Q(likeliest__in=exact)
        wanted |= suspected & Q(kind=Alert.Kind.LEVEL)
    if len(asked.terms) > 1 and not asked.number:
        inside = Finding.all_kinds.filter(membership__alert=OuterRef("pk"))
        wanted |= Q(
            Exists(inside.filter(_contains(asked, "series__hardware__name", "series__mode__name")))
        )
    if not wanted:
        return []
    found = Alert.objects.filter(wanted).distinct().select_related("tree", "revision")
    return sorted(found.order_by("-pk")[:limit], key=lambda alert: not alert.is_open)


def _bisects(asked: Asked) -> Sequence[Bisect]:
    if not asked.number or asked.number[0] == "alert":
        return []
    return list(Bisect.objects.filter(pk=asked.number[1]).with_subjects())


def _nearest(asked: Asked) -> list[Hit]:
    """Hardware and modes whose names, or parts of them, are nearly what was typed."""
    rows = [*models.Hardware.objects.all(), *models.Mode.objects.order_by("name")[:MOST_NAMES]]
    by_part: dict[str, models.Hardware | models.Mode] = {}
    for row in rows:
        for part in (row.name, *re.split(r"[/@+_]", row.name)):
            by_part.setdefault(part.casefold(), row)
    close = get_close_matches(asked.text.casefold(), by_part, NEAREST)
    found = dict.fromkeys(by_part[part] for part in close)
    return [_hardware(row) if isinstance(row, models.Hardware) else _mode(row) for row in found]


def _release(one: queries.ReleaseName, before: queries.ReleaseName | None) -> Hit:
    """A release leads to its comparison with the one before it, else to its commit."""
    if one.is_tree:
        return Hit(one.name, reverse("commits", args=[one.tree]), one.kind)
    detail = f"{one.kind} at {one.revision} of {one.tree}"
    if before is None:
        return Hit(one.name, reverse("commit", args=[one.tree, one.revision]), detail)
    against = f"{detail} · against {before.name}"
    return Hit(one.name, releases_link(before.written, one.written), against)


def _revision(row: models.Revision) -> Hit:
    detail = " · ".join(filter(None, [row.tree.name, row.author_name, row.subject]))
    return Hit(row.name, row.get_absolute_url(), detail)


def _alert(row: Alert) -> Hit:
    detail = f"{row.get_verdict_display()} at {row.revision.name} of {row.tree.name}"
    return Hit(f"alert {row.pk}", row.get_absolute_url(), f"{detail} · {row.get_state_display()}")


def _bisect(row: Bisect) -> Hit:
    where = f"{row.series.mode} on {row.series.hardware}"
    ends = f"after {row.good.name}, up to {row.bad.name}"
    state = row.get_outcome_display() or row.get_state_display()
    return Hit(f"bisect {row.pk}", row.get_absolute_url(), f"{where}, {ends} · {state}")


def _hardware(row: models.Hardware) -> Hit:
    return Hit(str(row), row.get_absolute_url())


def _mode(row: models.Mode) -> Hit:
    return Hit(row.name, with_query(reverse("trends"), [("mode", row.name)]))


def _metric(row: models.Metric) -> Hit:
    return Hit(row.name, with_query(reverse("trends"), [("metric", row.name)]), row.unit)


def _variant(newest: models.Point) -> Hit:
    revision = newest.revision
    address = f"{revision.get_absolute_url()}#variants"
    detail = f"measured last at {revision} of {revision.tree}"
    return Hit(str(newest.series.variant), address, detail)


def _series(row: models.Series) -> Hit:
    return Hit(f"{row.mode} on {row.hardware}", trend_link(row), f"{row.tree} · {row.metric}")


def revisions_named(asked: Asked, limit: int) -> Sequence[models.Revision]:
    """Revisions of this name, with or without its letter, then those whose name or hash begins so;
    of each the newest first.
    """
    if not asked.names:
        return []
    exact = Q(name__in=asked.names)
    for start in asked.beginnings:
        exact |= Q(name__startswith=start)
    # The index of names begins with the tree.
    tree, _ = asked.location
    of = models.Tree.objects.filter(name__iexact=tree) if tree else models.Tree.objects.all()
    trees = list(of.values_list("pk", flat=True))
    named = models.RevisionAlias.objects.filter(exact, tree__in=trees)
    whole = Case(When(name__in=asked.names, then=Value(0)), default=Value(1))
    rows = (
        named.annotate(whole=whole)
        .order_by("whole", "-revision__position")
        .values_list("revision", flat=True)[: 2 * limit]  # a revision may have two such names
    )
    return _in_order(list(dict.fromkeys(rows))[:limit])


def commits_worded(asked: Asked, limit: int) -> Sequence[models.Revision]:
    """Commits with every word, or one that begins so, in subject or author; the newest first."""
    words = asked.tsquery
    if not words or asked.number:
        return []
    for back in (-RECENT, EVER):
        found = [pk for (pk,) in rows_of(WORDED, {"words": words, "limit": limit, "back": back})]
        if len(found) == limit:
            break
    return _in_order(found)


def _in_order(found: Sequence[int]) -> Sequence[models.Revision]:
    if not found:
        return []
    rows = models.Revision.objects.select_related("tree").defer("message", "paths").in_bulk(found)
    return [rows[pk] for pk in found]
