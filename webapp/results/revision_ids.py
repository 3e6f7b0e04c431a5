"""How revisions are written, and what order their ids alone tell.

A Subversion number or a first-parent commit count places a revision on its tree by itself. On one
tree every Subversion revision precedes every revision counted in git, because the tree moved from
the one to the other; hence the offset. ``c255632`` counts all commits, merged ones too, so that it
does not lie on that scale; where counts of both kinds are known of one commit, its place is
estimated. Any other id needs imported history, and its revision waits until that, or somebody,
gives it a place.
"""

import re
from datetime import date

GIT_COUNT_OFFSET = 10**9
SVN_PATTERN = re.compile(r"r(\d{1,9})")
COUNT_PATTERN = re.compile(r"n(\d{1,9})")
TOTAL_PATTERN = re.compile(r"c(\d{6})")
"""A count of all commits, as kernels of FreeBSD named it for some weeks."""

HASH_PATTERN = re.compile(r"[0-9a-f]{4,40}")
DAY_PATTERN = re.compile(r"((?:19|20)\d\d)(-?)([01]\d)\2([0-3]\d)")


def position_of(name: str) -> int | None:
    """The position that the id ``name`` tells by itself, or None when history is needed.

    ``r303643`` is 303643; ``n302145`` is 10⁹ + 302145.
    """
    if svn := SVN_PATTERN.fullmatch(name):
        return int(svn[1])
    if count := COUNT_PATTERN.fullmatch(name):
        return GIT_COUNT_OFFSET + int(count[1])
    return None


def is_total(name: str) -> bool:
    """Whether ``name`` is a count of all commits."""
    return TOTAL_PATTERN.fullmatch(name) is not None


def as_total(name: str) -> str:
    """The count of all commits that is written ``name``, as directories do (``n277567``); empty for
    what is no such number."""
    total = f"c{name[1:]}"
    return total if COUNT_PATTERN.fullmatch(name) and is_total(total) else ""


def day_of(name: str) -> date | None:
    """The day that ``name`` is: ``2016-05-01`` or ``20160501``. None: it is none."""
    found = DAY_PATTERN.fullmatch(name)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return None
