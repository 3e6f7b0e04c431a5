"""Who acts, for the audit log: the database's triggers write an entry for each row that changes
while somebody acts.

The actor travels as a setting of the transaction, so that an entry is written if and only if the
change is, also behind a pooler that hands each transaction another connection.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from webapp.accounts.models import AuditEntry, User
from webapp.charts.text import as_cell

SETTING = "driftline.acting"
READS = re.compile(
    r"\s*(?:SELECT|SAVEPOINT|RELEASE|ROLLBACK|SET|SHOW|EXPLAIN|DECLARE|FETCH)\b", re.IGNORECASE
)
Actor = Mapping[str, Any]


class _Acting:
    """An execute wrapper: states the actor in each transaction before its first write."""

    def __init__(self, describe: Callable[[], Actor]) -> None:
        self._describe = describe
        self._stated: tuple[object, frozenset[str], str] | None = None
        self._is_stating = False

    def __call__(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        if self._is_stating or READS.match(str(sql)):
            return execute(sql, params, many, context)
        if connection.in_atomic_block:
            self._state()
            return execute(sql, params, many, context)
        # A single statement would be a transaction of its own, in which nothing was stated.
        with transaction.atomic():
            self._state()
            return execute(sql, params, many, context)

    def _state(self) -> None:
        """State the actor once for a transaction, again where a savepoint may have undone it."""
        text = json.dumps(self._describe())
        savepoints = frozenset(filter(None, connection.savepoint_ids))
        outermost = connection.atomic_blocks[0] if connection.atomic_blocks else None
        if self._stated is not None:
            known, within, before = self._stated
            if known is outermost and within <= savepoints and before == text:
                return
        self._set(text)
        self._stated = (outermost, savepoints, text)

    def _set(self, text: str) -> None:
        self._is_stating = True
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config(%s, %s, true)", [SETTING, text])
        finally:
            self._is_stating = False

    def end(self) -> None:
        """Within a transaction that goes on, nobody acts from here."""
        if self._stated and connection.in_atomic_block and not connection.needs_rollback:
            self._set("")


@contextmanager
def acting(describe: Callable[[], Actor]) -> Iterator[None]:
    """What is written inside is ``describe()``'s doing; it is asked when something is written."""
    wrapper = _Acting(describe)
    with connection.execute_wrapper(wrapper):
        yield
    wrapper.end()


def person_acting(user: User, *, action: str, origin: str = "") -> Actor:
    """A person at a page or in the API."""
    kind = AuditEntry.Kind.PERSON
    return {"kind": kind, "person": user.pk, "actor": "", "action": action, "origin": origin}


def other_acting(kind: str, actor: str, *, action: str, origin: str = "") -> Actor:
    """A token, a command, or a stranger."""
    return {"kind": kind, "person": None, "actor": actor, "action": action, "origin": origin}


def note_event(user: User, *, action: str, origin: str) -> None:
    """What a person did that changes no row of ours: signing in and out."""
    actor = person_acting(user, action=action, origin=origin)
    AuditEntry.objects.create(
        kind=actor["kind"],
        person=user,
        actor="",
        action=action,
        origin=origin,
        operation=AuditEntry.Operation.EVENT,
        subject=User._meta.db_table,  # noqa: SLF001 (documented)
        row_key=str(user.pk),
    )


def prune_entries(days: int, most: int) -> int:
    """Remove up to ``most`` entries older than ``days`` (30 at least); how many they were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT driftline_prune_audit(%s, %s)", [days, most])
        return int(cursor.fetchone()[0])


def lines_of(entries: Iterable[AuditEntry], form: str) -> Iterator[str]:
    """Lines of an export in the ``form`` ``csv`` (with a head) or ``jsonl``; ``who`` is the present
    name."""
    if form == "jsonl":
        yield from (json.dumps(_columns(entry)) + "\n" for entry in entries)
        return
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(_columns(AuditEntry()))
    for entry in entries:
        writer.writerow([as_cell(_flat(value)) for value in _columns(entry).values()])
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


def _flat(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _columns(entry: AuditEntry) -> dict[str, Any]:
    return {
        "id": entry.pk,
        "at": entry.at.isoformat() if entry.pk else None,
        "kind": entry.kind,
        "person": entry.person_id,
        "who": entry.who if entry.pk else "",
        "origin": entry.origin,
        "action": entry.action,
        "operation": entry.operation,
        "table": entry.subject,
        "row": entry.row_key,
        "rows": entry.number,
        "before": entry.before,
        "after": entry.after,
    }
