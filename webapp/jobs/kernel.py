"""Which revision a kernel says it is.

A machine that boots the wrong kernel measures it without complaint. ``uname -a`` names what runs:
``FreeBSD 12.0-CURRENT #0 r303643M: …``, ``… main-n255632-9f3ac1e02b11: …``,
``6.6.0-00123-g9f3ac1e``.
"""

import re
from enum import Enum

from webapp.results.models import Revision

# Only where the ident says that it means a commit: a bare word of hexadecimal digits may be a date
# or a part of a host's name.
SVN = re.compile(r"(?<![\w.-])(r\d{4,9})(?=M?(?![\w-]))")
COUNT = re.compile(r"(?<![A-Za-z0-9])([nc]\d{4,9})(?![A-Za-z0-9])")
HASH = re.compile(r"(?:(?<![A-Za-z0-9])[nc]\d{4,9}-|(?<=[-+])g)([0-9a-f]{7,40})(?![A-Za-z0-9])")
SUBVERSION_NAME, COUNT_NAME = re.compile(r"r\d+"), re.compile(r"[nc]\d+")
HASH_NAME = re.compile(r"[0-9a-f]{7,40}")
KINDS = (SUBVERSION_NAME, COUNT_NAME, HASH_NAME)


class Says(Enum):
    """What the ident of a kernel says about a revision."""

    THE_SAME = "the same"
    ANOTHER = "another"
    NOTHING = "nothing"


def ids_in(ident: str) -> list[str]:
    """The ids of revisions that ``ident`` names, in its order of kinds: r…, n…, hashes."""
    found = [*SVN.findall(ident), *COUNT.findall(ident), *HASH.findall(ident)]
    return list(dict.fromkeys(found))


def says(ident: str, revision: Revision) -> Says:
    """Whether the kernel ``ident`` is ``revision``'s.

    An id that the tree knows for another revision, or one of a kind in which the revision has a
    name of its own, is another's. An id of a kind that is not known of it says nothing.
    """
    names = {revision.name, *revision.aliases.values_list("name", flat=True)}
    ids = ids_in(ident)
    if any(_is_one_of(each, names) for each in ids):
        return Says.THE_SAME
    if any(_is_anothers(each, names, revision) for each in ids):
        return Says.ANOTHER
    return Says.NOTHING


def _is_one_of(given: str, names: set[str]) -> bool:
    """Hashes are shortened by both sides, to different lengths."""
    if given in names:
        return True
    if not HASH_NAME.fullmatch(given):
        return False
    hashes = [name for name in names if HASH_NAME.fullmatch(name)]
    return any(name.startswith(given) or given.startswith(name) for name in hashes)


def _is_anothers(given: str, names: set[str], revision: Revision) -> bool:
    kind = next(kind for kind in KINDS if kind.fullmatch(given))
    if any(kind.fullmatch(name) for name in names):
        return True
    return Revision.objects.named(tree=revision.tree, name=given) is not None
