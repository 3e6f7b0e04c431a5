"""What a person without an agent is to run for the next measurement."""

import re
import shlex

from webapp.bisects.models import BisectSettings
from webapp.results.models import HASH_PATTERN, Revision, Series

SUBVERSION = re.compile(r"r([0-9]+)")
SHORTEST_HASH = 10
"""Shorter ones may be a commit count such as c255632."""

WORD = re.compile(r"\{(revision|hardware|mode|metric)\}")


def command_for(revision: Revision, series: Series, settings: BisectSettings | None) -> str:
    """The operator's command for the tree with its words filled in, each quoted for a shell; else
    the checkout of the revision; empty when its kind is not known.
    """
    if settings is not None and settings.command:
        values = {
            "revision": revision.name,
            "hardware": series.hardware.name,
            "mode": series.mode.name,
            "metric": series.metric.name,
        }
        return WORD.sub(lambda found: shlex.quote(values[found[1]]), settings.command)
    return _checkout(revision)


def _checkout(revision: Revision) -> str:
    names = [revision.name, *revision.aliases.values_list("name", flat=True)]
    hashes = [one for one in names if len(one) >= SHORTEST_HASH and HASH_PATTERN.fullmatch(one)]
    if hashes:
        return f"git checkout {max(hashes, key=len)}"
    found = SUBVERSION.fullmatch(revision.name)
    return f"svn update -r {found[1]}" if found else ""
