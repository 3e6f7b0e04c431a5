"""`/commits/<tree>/`: the commits of a tree, newest first, and what each did."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from webapp.events.models import Release
from webapp.pages.commits.filter import VERDICTS, CommitFilter
from webapp.pages.parts.kept import Kept
from webapp.pages.parts.summaries import summarise
from webapp.results.models import Revision, Tree

ROWS = 50
RELEASES_SHOWN = 50


FIELDS = ("id", "tree_id", "name", "position", "author_name", "committed_at", "subject")
"""Of a revision what a row of the list names, in the order of its model."""


class Statement(NamedTuple):
    """What a page asks for its commits, and the attributes that the columns are of."""

    sql: str
    parameters: tuple[Any, ...]
    names: Sequence[str]


STATEMENTS: Kept[Statement] = Kept(most=64, seconds=3600.0)
"""By all that was asked. Composing this statement takes longer than answering it, and most readers
ask for the same: the newest commits of a tree."""


@require_safe
def page(request: HttpRequest, tree: str) -> HttpResponse:
    """The commits of a tree that are asked for, newest first: of those measured, or with `all=1` of
    every one.
    """
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
        "has_paths": not asked.path or Revision.objects.with_paths(found),
    }
    return render(request, "pages/commits.html", context)


def _rows(tree: Tree, asked: CommitFilter, bound: int | None) -> list[Revision]:
    """One more than a page holds, to know whether there are older ones."""
    statement = STATEMENTS.get((tree.pk, asked, bound), lambda: _statement(tree, asked, bound))
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.parameters)
        rows = [_revision(statement.names, values) for values in cursor.fetchall()]
    for row in rows:
        row.tree = tree
    return rows


def _revision(names: Sequence[str], values: Sequence[Any]) -> Revision:
    told = dict(zip(names, values, strict=True))
    row = Revision.from_db("default", FIELDS, [told.pop(name) for name in FIELDS])
    vars(row).update(told)  # what it is annotated with
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
