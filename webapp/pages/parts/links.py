"""Addresses of pages, texts of addresses and forms, and what somebody typed into a form that was
refused. The addresses of `webapp.analysis.queries.links` stand in mails and feeds, too.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import TypeVar

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import get_script_prefix, reverse

from webapp.analysis.queries import (
    READABLE,
    compare_link,
    releases_link,
    side_of,
    sides_of,
    trend_link,
    with_query,
)
from webapp.labs.services import AgentMissing, agent_wheel_name
from webapp.results.models import Revision, Run, Tree

__all__ = [
    "READABLE",
    "agent_address",
    "commit_at",
    "commit_link",
    "compare_link",
    "job_new_link",
    "releases_link",
    "side_of",
    "sides_of",
    "trend_link",
    "with_query",
]

COMMITS_KEPT = 4096
"""Addresses of commits, and of the points of series, that a process remembers."""

DAYS = 90
MOST_DAYS = 3650

NUMBER_MAX = 2**63 - 1  # of a bigint
TEXT_MAX = 300

Row = TypeVar("Row", bound=Model)


@cache
def _asking() -> str:
    """Asked for by each of a page's cells: it stays where it is while the process runs."""
    return reverse("job_new")


def commit_at(tree: str, name: str) -> Revision:
    """The commit that an address names, with its tree, in one query; Http404 for an unknown one."""
    whole = Revision.objects.filter(tree__name=tree, aliases__name=name)
    for one in whole.select_related("tree").order_by()[:1]:
        return one
    found = get_object_or_404(Tree, name=tree)
    commit = Revision.objects.named(tree=found, name=name)
    if commit is None:
        raise Http404(f"No revision {name} is known in {tree}.")
    commit.tree = found
    return commit


def commit_link(tree: str, name: str) -> str:
    """The page of a commit. Lists and findings name the same ones again and again."""
    return _commit_below(get_script_prefix(), tree, name)


@lru_cache(maxsize=COMMITS_KEPT)
def _commit_below(prefix: str, tree: str, name: str) -> str:
    return reverse("commit", args=[tree, name])


def points_link(series: int) -> str:
    """The points of a series (by id) as CSV."""
    return _points_below(get_script_prefix(), series)


@lru_cache(maxsize=COMMITS_KEPT)
def _points_below(prefix: str, series: int) -> str:
    return reverse("api:points_csv", args=[series])


def side_link(side: str) -> str:
    """The flame graph of a side, or of a profile by its number."""
    return with_query(reverse("profiled_side"), [("side", side)])


def diff_link(a: str, b: str) -> str:
    """The difference of the profiles of two sides, or of two profiles by their numbers."""
    return with_query(reverse("profile_diff"), [("a", a), ("b", b)])


def functions_link(run: Run, functions: Iterable[str] = (), *, with_calls: bool = False) -> str:
    """What functions (``name@module``) cost along the tree of a run, with its variant, machine and
    mode; without any those that changed.
    """
    parts = [
        ("tree", run.revision.tree.name),
        ("hardware", run.hardware.name),
        ("mode", run.mode.name),
        *([("variant", run.variant.name)] if run.variant else []),
        *(("fn", one) for one in functions),
        *([("calls", "1")] if with_calls else []),
    ]
    return with_query(reverse("profile_functions"), parts)


def job_new_link(series: int, revision: str, back: str) -> str:
    """The jobs that can be asked for about a point of a series (by id), from the page ``back``."""
    return with_query(_asking(), [("series", str(series)), ("revision", revision), ("next", back)])


def source_url(revision: Revision) -> str:
    """The commit in the source browser of its tree (which must be loaded); empty without one."""
    return revision.tree.source_of(revision.name)


def agent_address(request: HttpRequest) -> str:
    """What pip installs the agent from; a folder where this instance has no wheel of it."""
    with suppress(AgentMissing):
        return request.build_absolute_uri(reverse("agent_file", args=[agent_wheel_name()]))
    return "./agents"


def with_parts(path: str, parts: Mapping[str, str]) -> str:
    """``path`` with those of ``parts`` that are not empty."""
    return with_query(path, [(name, text) for name, text in parts.items() if text])


def read_text(given: QueryDict, name: str, most: int = TEXT_MAX) -> str:
    """A text of at most so many characters, without NUL, which PostgreSQL does not hold."""
    return given.get(name, "")[:most].replace("\0", "")


def newest(found: QuerySet[Row], request: HttpRequest, size: int) -> tuple[list[Row], str]:
    """A page of ``size`` rows, the newest first, below the number ``before`` of the address; and
    the ``before`` of the page that follows, empty: it is the last.
    """
    before = read_number(request.GET.get("before", ""))
    below = found.filter(pk__lt=before) if before else found
    rows = list(below.order_by("-pk")[: size + 1])
    return rows[:size], str(rows[size - 1].pk) if len(rows) > size else ""


def read_number(text: str) -> int:
    """A number of an alert or a version; 0, which none has, for anything else."""
    return min(int(text[:19]), NUMBER_MAX) if text.isascii() and text.isdigit() else 0


def days_of(request: HttpRequest) -> int:
    """From 1 to ten years; 90 when nothing, or no such number, is asked for."""
    text = request.GET.get("days", "")
    days = int(text[:6]) if text.isascii() and text.isdigit() else DAYS
    return min(days, MOST_DAYS) or DAYS


def days_before(now: datetime, days: int) -> datetime:
    """The moment so many days before ``now``."""
    return now - timedelta(days=days)


MOST = 100_000
"""Characters of all fields; of more none comes back."""


NOT_TYPED = ("csrfmiddlewaretoken", "version", "act")
"""What the form or the pressed button fills in."""


def refuse(request: HttpRequest, why: str) -> None:
    """A message for the next page, which takes the fields of the form there."""
    given = request.POST.dict().items()
    typed = {name: text.replace("\0", "") for name, text in given if text and name not in NOT_TYPED}
    packed = json.dumps(typed)
    messages.error(request, why, extra_tags=packed if len(packed) <= MOST else "")


def typed_before(request: HttpRequest) -> Mapping[str, str]:
    """The fields of an act whose refusal this page shows, by name; every other one is empty."""
    shown = messages.get_messages(request)
    packed = [one.extra_tags for one in shown if one.level == messages.ERROR and one.extra_tags]
    return defaultdict(str, json.loads(packed[0]) if packed else {})
