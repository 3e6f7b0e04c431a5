"""Which commits of a tree the list shows: everything that its address says."""

import re
from dataclasses import dataclass
from typing import Self

from django.db.models import BooleanField, Exists, OuterRef
from django.db.models.expressions import RawSQL
from django.http import QueryDict

from webapp.analysis.models import Finding, Verdict
from webapp.pages.parts.links import with_query
from webapp.results.models import Point, Revision, RevisionQuerySet, Tree

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
        return with_query("", [(key, value) for key, value in pairs.items() if value]) or "?"

    def of(self, tree: Tree, bound: int | None) -> RevisionQuerySet:
        """The commits of ``tree`` that are asked for, newest first, above the position ``bound`` of
        `window`. Where untested ones are among them, each says whether it ``is_tested``.
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


def _text(query: QueryDict, name: str) -> str:
    return query.get(name, "").replace("\0", "").strip()[:TEXT_MAX]


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
