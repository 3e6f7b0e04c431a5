"""Whether a kernel is the one that was asked for.

A machine that boots its old kernel because the new one could not be loaded is the classic way to
measure nothing at all and to believe the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from labagent.job import Job
from labagent.work.stops import StageFailed

SHORTEST_HASH = 7

_NUMBERED = re.compile(r"[rnc]\d+")
_HASH = re.compile(r"[0-9a-f]{7,40}")
_HASH_WITHIN = re.compile(r"(?<![0-9A-Za-z])g?([0-9a-f]{7,40})(?![0-9A-Za-z])")


def check_kernel(job: Job, ident: str, when: str) -> None:
    """Raises StageFailed for a kernel that does not name the job's revision."""
    if not names_revision(ident, job.names):
        sentence = f"{ident[:300]!r} {when} does not name {' or '.join(job.names)}"
        raise StageFailed("boot", f"wrong kernel: {sentence}")


def names_revision(ident: str, names: Iterable[str]) -> bool:
    """Whether `ident` (a `uname -a`, or whatever `identify` prints) names one of `names`.

    `r303643` is also written `r303643M` (a changed checkout); a hash may be longer or shorter there
    than here, from seven digits on, and `git describe` puts a `g` before it.
    """
    return any(_names(ident, name) for name in names)


def _names(ident: str, name: str) -> bool:
    if _NUMBERED.fullmatch(name):
        return bool(re.search(rf"(?<![0-9A-Za-z]){name}[A-Z]*(?![0-9A-Za-z])", ident))
    if _HASH.fullmatch(name):
        found = _HASH_WITHIN.findall(ident)
        return any(one.startswith(name) or name.startswith(one) for one in found)
    return bool(re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", ident))
