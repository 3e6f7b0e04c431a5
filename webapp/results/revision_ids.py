"""How revisions are written, what order their ids alone show, whether every commit between two
places is known, and the addresses of commits in a source browser.

A Subversion number or a first-parent commit count places a revision on its tree by itself. On one
tree every Subversion revision precedes every revision counted in git, because the tree moved from
the one to the other; hence the offset. ``c255632`` counts all commits, merged ones too, so that it
does not lie on that scale; where counts of both kinds are known of one commit, its place is
estimated. Any other id needs imported history, and its revision waits until that, or somebody,
gives it a place.

A revision that nobody imported may stand for any number of commits. None lies between two where
imported history goes from parent to child across them (`Revision.parent_known`), or where their ids
are numbers along the tree (`r303643`, `n302145`) and every number between is known. Places alone
prove nothing: operators number what was measured as they like.

A template is an address with ``{revision}`` (the name as it is), ``{number}`` (the digits of a name
like r303643) or ``{hash}`` (the hash by which the commit is known).
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError

GIT_COUNT_OFFSET = 10**9
SVN_PATTERN = re.compile(r"r(\d{1,9})")
COUNT_PATTERN = re.compile(r"n(\d{1,9})")
TOTAL_PATTERN = re.compile(r"c(\d{6})")
"""A count of all commits, as kernels of FreeBSD named it for some weeks."""

HASH_PATTERN = re.compile(r"[0-9a-f]{4,40}")
DAY_PATTERN = re.compile(r"((?:19|20)\d\d)(-?)([01]\d)\2([0-3]\d)")

_DETAILED = "(one.committed_at IS NOT NULL OR one.author_name <> '' OR one.subject <> '')"

# Revisions that uploads made among imported ones break nothing: the imported one that follows the
# end of the range decides for it.
_WHOLE = """(
    EXISTS (
        SELECT FROM (SELECT one.position FROM results_revision AS one
                      WHERE one.tree_id = {tree} AND one.position >= {last} AND one.parent_known
                      ORDER BY one.position LIMIT 1) AS upto
         WHERE NOT EXISTS (
               SELECT FROM results_revision AS one
                WHERE one.tree_id = {tree} AND one.position > {after}
                  AND one.position <= upto.position AND NOT one.parent_known AND {detailed}))
    OR {last} - {after} = (
        SELECT count(*) FROM results_revision AS one
         WHERE one.tree_id = {tree} AND one.position > {after} AND one.position <= {last})
       AND 2 = (
        SELECT count(DISTINCT one.position) FROM results_revision AS one
          JOIN results_revisionalias AS alias ON alias.revision_id = one.id
         WHERE one.tree_id = {tree} AND one.position IN ({after}, {last})
           AND alias.name IN ('r' || one.position, 'n' || (one.position - {offset}))))"""

MIN_HASH = 7
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
TEMPLATE_PARTS = ("revision", "number", "hash")

PRESETS = {
    "cgit": "https://HOST/REPOSITORY/commit/?id={hash}",
    "Phabricator": "https://HOST/rS{number}",
    "GitHub": "https://github.com/OWNER/REPOSITORY/commit/{hash}",
}
"""What to start from: HOST, OWNER and REPOSITORY are to be filled in."""

EXAMPLES = "; ".join(f"{name}: {template}" for name, template in PRESETS.items())


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


class Span(NamedTuple):
    """How many revisions are ``known`` in a range of a tree; ``is_whole``: it has no others."""

    known: int
    is_whole: bool


def whole_history_sql(*, tree: str, after: str, last: str) -> str:
    """Whether every commit later than position ``after`` up to ``last`` is known, as an expression
    of the columns given.
    """
    return _WHOLE.format(
        tree=tree, after=after, last=last, detailed=_DETAILED, offset=GIT_COUNT_OFFSET
    )


def check_source_template(text: str) -> None:
    """Raise ValidationError, with the remedy, for what is no template of a web address."""
    placeholders = PLACEHOLDER.findall(text)
    wrong = [name for name in placeholders if name not in TEMPLATE_PARTS]
    if wrong or not placeholders or PLACEHOLDER.sub("", text).count("{"):
        raise ValidationError(
            "Write {revision}, {number} or {hash} where the commit goes, and no other braces. "
            + EXAMPLES
        )
    try:
        parts = urlsplit(PLACEHOLDER.sub("x", text))
    except ValueError as error:
        raise ValidationError(f"This is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text):
        raise ValidationError("Give a whole address that begins with https:// or http://.")
    if "{" in text.partition("//")[2].partition("/")[0]:
        raise ValidationError("The host must be a fixed name: no braces before the first slash.")


def source_link(template: str, *, name: str, aliases: Iterable[str] = ()) -> str:
    """Where the commit ``name``, known by ``aliases`` too, is in the source browser; empty without
    a template, or where it asks for a hash or a number that nobody told.
    """
    hashes = (one for one in (name, *aliases) if len(one) >= MIN_HASH and _is_hash(one))
    numbered = SVN_PATTERN.fullmatch(name) or COUNT_PATTERN.fullmatch(name)
    values = {
        "revision": name,
        "number": numbered[1] if numbered else "",
        "hash": max(hashes, key=len, default=""),
    }
    asked = set(PLACEHOLDER.findall(template))
    if not asked or not all(values.get(one) for one in asked):
        return ""
    return PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template)


def _is_hash(name: str) -> bool:
    return HASH_PATTERN.fullmatch(name) is not None
