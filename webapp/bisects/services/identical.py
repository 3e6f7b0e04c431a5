"""Builds that are the same: the commit between two of them cannot have made the step.

Agents may report the SHA-256 of the kernel that a run measured, in the run's facts. What follows
from two that agree is an act of the log, so that a decision keeps what was known when it was made.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.db.models.fields.json import KeyTextTransform

from webapp.bisects.marks import Marks, marks_of
from webapp.bisects.models import Bisect, BisectAct
from webapp.bisects.services.settling import is_paused, write_act

Kind = BisectAct.Kind
FACT = "kernel_sha256"
SHA256 = re.compile(r"[0-9a-f]{64}")
SHOWN = 12
"""Digits of a digest that a reason shows."""

ALL_THE_SAME = (
    "every commit that is left is its parent or was built as it, so none of them made the step: "
    "look at the machine, or at what the lab's digest is taken of"
)


def note_identical_builds(bisect: Bisect, now: datetime) -> None:
    """Rule out each candidate whose build is its parent's. The caller holds the bisect.

    Where nothing would be left to search, that is not ruled out but pauses the bisect, for a
    person to look. What a person has allowed is left alone.
    """
    digests = _digests(bisect)
    marks = marks_of(bisect.acts.all())
    found = {
        index: digest
        for index in sorted(digests)
        if index not in marks.identical | marks.allowed and (digest := _shared(digests, index))
    }
    reason = "its kernel and that of its parent are one, SHA-256"
    rule_out(bisect, {index: f"{reason} {digest[:SHOWN]}…" for index, digest in found.items()}, now)


def rule_out(bisect: Bisect, reasons: Mapping[int, str], now: datetime) -> None:
    """Write down that the candidates are as their parents, each with its reason; where nothing
    would be left, pause instead.
    """
    if not reasons:
        return
    if not _possible(bisect, marks_of(bisect.acts.all())) - reasons.keys():
        if not is_paused(bisect):
            write_act(bisect, Kind.PAUSE, ALL_THE_SAME, now)
        return
    for index, reason in reasons.items():
        write_act(bisect, Kind.SAME, reason, now, index=index)


def _digests(bisect: Bisect) -> Mapping[int, set[str]]:
    """By index, the digests that the runs behind the boots that count report: of its own series,
    since kernels of other machines and modes may differ.
    """
    boots = bisect.boots.filter(
        subject=0,
        dropped_at__isnull=True,
        index__range=(0, bisect.last_index),
        run__facts__has_key=FACT,
    )
    rows = boots.order_by().values_list("index", KeyTextTransform(FACT, "run__facts")).distinct()
    digests: dict[int, set[str]] = defaultdict(set)
    for index, digest in rows:
        if digest and SHA256.fullmatch(digest):
            digests[index].add(digest)
    return digests


def _shared(digests: Mapping[int, set[str]], index: int) -> str:
    """A digest that both the revision and the one before it were built to; empty: none."""
    return min(digests[index] & digests.get(index - 1, set()), default="")


def _possible(bisect: Bisect, marks: Marks) -> set[int]:
    weights = bisect.weights or [1.0] * bisect.last_index
    return {index for index, weight in enumerate(weights, start=1) if weight} - marks.identical
