"""`/commits/<tree>/`: the commits of a tree, newest first, and what each did."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.db.models import BooleanField, Count, Exists, OuterRef, Subquery
from django.db.models.expressions import RawSQL
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, Verdict
from webapp.events.models import Release
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.links import read_text, with_parts
from webapp.pages.parts.summaries import summarise
from webapp.results.models import Point, Revision, RevisionQuerySet, Tree
from webapp.results.queries import rows_of

WORD = re.compile(r"\w+")
TEXT_MAX = 200

LOOKED_THROUGH = 20_000
"""Commits whose paths, or addresses of authors, one page looks through: no index finds a part."""

VERDICTS = {
    "": "any",
    "worse": "regression",
    "better": "improvement",
    "none": "nothing found",
}


@dataclass(frozen=True, slots=True)
class CommitFilter:
    """What is asked for; empty means any. ``before`` is the position that the page begins below."""

    verdict: str = ""
    author: str = ""
    path: str = ""
    text: str = ""
    untested_too: bool = False
    before: int | None = None

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        """From an address. What means nothing there asks for nothing."""
        verdict = query.get("verdict", "")
        return cls(
            verdict=verdict if verdict in VERDICTS else "",
            author=_text(query, "author"),
            path=_text(query, "path"),
            text=_text(query, "text"),
            untested_too=query.get("all") == "1",
            before=_position(query.get("before", "")),
        )

    @property
    def is_set(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.verdict or self.author or self.path or self.text)

    def address(self, *, before: int | None = None, untested_too: bool | None = None) -> str:
        """The address of the same list from another place on, or with another choice of commits."""
        is_all = self.untested_too if untested_too is None else untested_too
        pairs = {
            "verdict": self.verdict,
            "author": self.author,
            "path": self.path,
            "text": self.text,
            "all": "1" if is_all else "",
            "before": "" if before is None else str(before),
        }
        return with_parts("", pairs) or "?"

    def of(self, tree: Tree, bound: int | None) -> RevisionQuerySet:
        """The commits of ``tree`` that are asked for, newest first, above the position ``bound`` of
        `window`. Where untested ones are among them, each has whether it ``is_tested``.
        """
        found = Revision.objects.of_tree(tree).placed().order_by("-position")
        if not self.untested_too:
            found = found.tested()
        if self.before is not None:
            found = found.filter(position__lt=self.before)
        words = WORD.findall(f"{self.text} {'' if self._is_address else self.author}".lower())
        if words:
            found = found.filter(_worded(words))
        if self._is_address:
            found = found.filter(author_email__iexact=self.author)
        for word in () if self._is_address else self.author.split():
            found = found.filter(author_name__icontains=word)
        if self.path:
            found = found.filter(_touching(self.path))
        if bound is not None:
            found = found.filter(position__gt=bound)
        found = self._judged(found)
        if not self.untested_too:
            return found
        points = Point.objects.plain().filter(revision=OuterRef("pk"))
        return found.annotate(is_tested=Exists(points))

    def _judged(self, found: RevisionQuerySet) -> RevisionQuerySet:
        live = Finding.objects.on_display().filter(revision=OuterRef("pk"))
        if self.verdict == "none":
            return found.filter(~Exists(live)).tested()
        if self.verdict:
            wanted = {"worse": Verdict.WORSE, "better": Verdict.BETTER}[self.verdict]
            return found.filter(Exists(live.filter(verdict=wanted)))
        return found

    def window(self, tree: Tree) -> int | None:
        """The position down to which one page looks, which is not looked at itself; None: to the
        first commit. One query where paths or addresses are asked for.
        """
        if not (self.path or self._is_address):
            return None
        rows = Revision.objects.of_tree(tree).placed().order_by("-position")
        if self.before is not None:
            rows = rows.filter(position__lt=self.before)
        places = rows.values_list("position", flat=True)
        return next(iter(places[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)

    @property
    def _is_address(self) -> bool:
        return "@" in self.author


ROWS = 50
RELEASES_SHOWN = 50

FIELDS = ("id", "tree_id", "name", "position", "author_name", "committed_at", "subject")
"""Of a revision what a row of the list names, in the order of its model."""


class Statement(NamedTuple):
    """What a page asks for its commits, and the attributes that the columns are of."""

    sql: str
    parameters: tuple[Any, ...]
    names: Sequence[str]


STATEMENTS: Cache[Statement] = Cache(most=64, seconds=3600.0)
"""By all that was asked. Composing this statement takes longer than answering it, and most readers
ask for the same: the newest commits of a tree."""


@require_safe
def page(request: HttpRequest, tree: str) -> HttpResponse:
    """The commits of a tree that are asked for, newest first; with `all=1` untested ones too."""
    found = get_object_or_404(Tree, name=tree)
    asked = CommitFilter.parse(request.GET)
    bound = asked.window(found)
    rows = _rows(found, asked, bound)
    context = {
        "tree": found,
        "trees": Tree.objects.all(),
        "commits": summarise(rows[:ROWS]),
        "asked": asked,
        "verdicts": VERDICTS.items(),
        "as_tested": asked.address(untested_too=False),
        "as_all": asked.address(untested_too=True),
        "newest": asked.address() if asked.before is not None else "",
        "releases": Release.objects.of_tree(found)[:RELEASES_SHOWN],
        "older": _older(rows, asked, bound),
        "stopped": bound is not None and len(rows) <= ROWS,
        "is_imported": not rows and Revision.objects.of_tree(found).placed().exists(),
        "has_paths": not asked.path or Revision.objects.with_paths(found),
    }
    return render(request, "pages/commits/commits.html", context)


def _rows(tree: Tree, asked: CommitFilter, bound: int | None) -> list[Revision]:
    """One more than a page holds, to know whether there are older ones."""
    statement = STATEMENTS.get((tree.pk, asked, bound), lambda: _statement(tree, asked, bound))
    found = rows_of(statement.sql, statement.parameters)
    rows = [_revision(statement.names, values) for values in found]
    for row in rows:
        row.tree = tree
    return rows


def _revision(names: Sequence[str], values: Sequence[Any]) -> Revision:
    fields = dict(zip(names, values, strict=True))
    row = Revision.from_db("default", FIELDS, [fields.pop(name) for name in FIELDS])
    vars(row).update(fields)  # what it is annotated with
    return row


def _statement(tree: Tree, asked: CommitFilter, bound: int | None) -> Statement:
    found = asked.of(tree, bound).only(*FIELDS)
    compiler = found[: ROWS + 1].query.get_compiler("default")
    sql, parameters = compiler.as_sql()
    names = [alias or column.target.attname for column, _, alias in compiler.select]
    return Statement(sql, parameters, names)


def _older(rows: Sequence[Revision], asked: CommitFilter, bound: int | None) -> str:
    """The address of the next page, empty on the last one."""
    if len(rows) > ROWS:
        return asked.address(before=rows[ROWS - 1].position)
    return "" if bound is None else asked.address(before=bound + 1)


def _text(query: QueryDict, name: str) -> str:
    return read_text(query, name, TEXT_MAX).strip()


def _position(text: str) -> int | None:
    return int(text[:18]) if text.isascii() and text.isdigit() else None


def _worded(tokens: list[str]) -> RawSQL:
    """Whether subject and author hold every word, or one that begins so (`commits_by_words`)."""
    asked = " & ".join(f"'{word}':*" for word in tokens)
    return RawSQL(
        "to_tsvector('simple', results_revision.subject || ' ' || results_revision.author_name)"
        " @@ to_tsquery('simple', %s)",
        (asked,),
        output_field=BooleanField(),
    )


def _touching(path: str) -> RawSQL:
    """Whether a commit touched a file whose path holds ``path``."""
    return RawSQL(
        "EXISTS (SELECT FROM unnest(results_revision.paths) AS touched"
        " WHERE strpos(touched, %s) > 0)",
        (path,),
        output_field=BooleanField(),
    )


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """Every tree with the way to its commits, its newest tested one and its open alerts."""
    tested = Revision.objects.filter(tree=OuterRef("pk")).tested().order_by("-position")
    waiting = Alert.objects.open().filter(tree=OuterRef("pk")).order_by().values("tree")
    trees = list(
        Tree.objects.annotate(
            newest=Subquery(tested.values("name")[:1]),
            waiting=Subquery(waiting.annotate(count=Count("pk")).values("count")),
        )
    )
    if len(trees) == 1:
        return redirect(trees[0])
    return render(request, "pages/commits/trees.html", {"trees": trees})
