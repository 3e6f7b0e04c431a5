"""The aliases of a lab that hold, and where a run lies for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from webapp.results.aliases import Alias, Filing, Scope
from webapp.results.models import WAITING_FROM, NameAlias
from webapp.results.services.bulk import fetch_rows
from webapp.results.services.hardware_names import hardware_named

IN_FORCE = """
SELECT alias.id, alias.kind, alias.name, alias.means,
       alias.tree_id, first.position, last.position, alias.directory
  FROM results_namealias AS alias
  LEFT JOIN results_revision AS first ON first.id = alias.first_id
  LEFT JOIN results_revision AS last ON last.id = alias.last_id
 WHERE alias.lab_id = %s AND alias.undone_at IS NULL
 ORDER BY alias.id
"""


NEWEST = 2**63
"""The number of an alias that is not stored yet: it counts as the one made last."""


def aliases_in_force(lab: int) -> list[Alias]:
    """Those of a lab (an id), hardware by its id. One statement; two more where there are aliases
    of hardware, which is looked up each time because it may be renamed and merged.

    They are not remembered from one upload to the next: a run would be stored under the wrong name.
    """
    rows = fetch_rows(IN_FORCE, lab)
    return with_hardware(
        [
            Alias(number, kind, name, means, Scope(tree, first, last, directory))
            for number, kind, name, means, tree, first, last, directory in rows
        ]
    )


def alias_of(row: NameAlias) -> Alias:
    """A row, stored or not, by its names as they are written."""
    first, last = (one.position if one else None for one in (row.first, row.last))
    kind: Any = row.kind
    scope = Scope(row.tree_id, first, last, row.directory)
    return Alias(row.pk or NEWEST, kind, row.name, row.means, scope)


def with_hardware(aliases: Sequence[Alias]) -> list[Alias]:
    """Those of hardware by ids, present or former names alike; one of hardware that is gone is left
    out.
    """
    named = [one for one in aliases if one.kind == "hardware"]
    if not named:
        return list(aliases)
    ids = {
        name: str(row.pk)
        for name, row in hardware_named({n for one in named for n in (one.name, one.means)}).items()
    }
    found = []
    for one in aliases:
        if one.kind != "hardware":
            found.append(one)
        elif one.name in ids and one.means in ids:
            found.append(replace(one, name=ids[one.name], means=ids[one.means]))
    return found


def filing_of(
    *, tree: int, position: int, evidence: Mapping[str, Any] | None, session: str
) -> Filing:
    """Where a run lies. ``evidence`` is as it is stored."""
    found = evidence or {}
    called = (found.get("directory", ""), found.get("label", ""), session)
    return Filing(tree, position if position < WAITING_FROM else None, called)
