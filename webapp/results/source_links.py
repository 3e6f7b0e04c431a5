"""Addresses of commits in a source browser, from the template of their tree.

A template is an address with ``{revision}`` (the name as it is), ``{number}`` (the digits of a name
like r303643) or ``{hash}`` (the hash by which the commit is known).
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError

from webapp.results.revision_ids import COUNT_PATTERN, HASH_PATTERN, SVN_PATTERN

MIN_HASH = 7
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
KNOWN = ("revision", "number", "hash")

PRESETS = {
    "cgit": "https://HOST/REPOSITORY/commit/?id={hash}",
    "Phabricator": "https://HOST/rS{number}",
    "GitHub": "https://github.com/OWNER/REPOSITORY/commit/{hash}",
}
"""What to start from: HOST, OWNER and REPOSITORY are to be filled in."""

EXAMPLES = "; ".join(f"{name}: {template}" for name, template in PRESETS.items())


def check_source_template(text: str) -> None:
    """Raise ValidationError, with the remedy, for what is no template of a web address."""
    placeholders = PLACEHOLDER.findall(text)
    wrong = [name for name in placeholders if name not in KNOWN]
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
