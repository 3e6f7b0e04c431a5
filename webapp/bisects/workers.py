"""Which workers can measure for a bisect."""

import re
import shlex
from collections.abc import Sequence
from datetime import datetime

from webapp.bisects.models import Bisect, BisectSettings
from webapp.bisects.question import Scope
from webapp.jobs.models import Worker
from webapp.jobs.queries import Capability
from webapp.results.models import HASH_PATTERN, Revision, Series

SUBVERSION = re.compile(r"r([0-9]+)")
SHORTEST_HASH = 10
"""Shorter ones may be a commit count such as c255632."""
WORD = re.compile(r"\{(revision|hardware|mode|metric)\}")


def workers_for(series: Series, now: datetime) -> list[Capability]:
    """What each worker that reported lately can do for the hardware, mode and tree of a series."""
    return [serves for serves in offers(now) if serves.covers(series)]


def hands_of(scopes: Sequence[Scope], now: datetime) -> list[tuple[Scope, int]]:
    """How many workers can measure each machine and mode, in one query."""
    offered = offers(now)
    return [(scope, sum(serves.covers(scope.series) for serves in offered)) for scope in scopes]


def agents_for(bisect: Bisect, now: datetime) -> int:
    """How many workers can measure for a bisect, on whatever machine."""
    of_machine: dict[int, int] = {}
    for scope, count in hands_of(bisect.scopes, now):
        machine = scope.series.hardware_id
        of_machine[machine] = max(of_machine.get(machine, 0), count)
    return sum(of_machine.values())


def offers(now: datetime) -> list[Capability]:
    """What the workers that reported lately can do, in one query."""
    return [serves for worker in Worker.objects.alive(now) for serves in worker.capabilities]


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
