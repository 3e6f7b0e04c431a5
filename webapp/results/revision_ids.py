"""How revisions are written, and what order their ids alone tell.

A Subversion number or a first-parent commit count places a revision on its tree by itself. On one
tree every Subversion revision precedes every revision counted in git, because the tree moved from
the one to the other; hence the offset. Other ids (hashes, ``c255632``) need imported history.
"""

import re

GIT_COUNT_OFFSET = 10**9
SVN_PATTERN = re.compile(r"r(\d{1,9})")
COUNT_PATTERN = re.compile(r"n(\d{1,9})")
HASH_PATTERN = re.compile(r"[0-9a-f]{4,40}")


def position_of(name: str) -> int | None:
    """The position that the id ``name`` tells by itself, or None when history is needed.

    ``r303643`` is 303643; ``n302145`` is 10⁹ + 302145.
    """
    if svn := SVN_PATTERN.fullmatch(name):
        return int(svn[1])
    if count := COUNT_PATTERN.fullmatch(name):
        return GIT_COUNT_OFFSET + int(count[1])
    return None
