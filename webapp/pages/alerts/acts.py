"""What people can do to alerts from a page: a table from the name of an act to its service."""

from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_date

from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert
from webapp.pages.parts.links import read_number
from webapp.results.models import Revision

Form = Mapping[str, str]
Target = dict[str, Any]  # alert, actor, version


def act(name: str, form: Form, *, alert: int, version: int, actor: User) -> Alert:
    """Apply the form; PostgreSQL holds no NUL. Raises TriageError, whose message is for people."""
    do = ACTS.get(name)
    if do is None:
        raise alerts.TriageError("Choose what to do.")
    plain = {field: text.replace("\0", "") for field, text in form.items()}
    return do({"alert": alert, "version": version, "actor": actor}, plain)


def _reason(form: Form) -> str:
    return form.get("reason", "").strip()[:2000]


def _snooze(target: Target, form: Form) -> Alert:
    """Until the start of a day, in the server's time zone, or until a revision is measured."""
    day, revision = form.get("until", "").strip(), form.get("until_revision", "").strip()
    if day and revision:
        raise alerts.TriageError("Give a day or a revision, not both.")
    if revision:
        return alerts.snooze_until_revision(**target, revision=revision, reason=_reason(form))
    return alerts.snooze(**target, until=_start_of(day), reason=_reason(form))


def _snooze_week(target: Target, form: Form) -> Alert:
    """Until the day a week from now begins: what one key can set."""
    day = timezone.localdate() + timedelta(days=7)
    until = timezone.make_aware(datetime.combine(day, time()))
    return alerts.snooze(**target, until=until, reason=_reason(form))


def _start_of(text: str) -> datetime:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise alerts.TriageError("Give a day, as 2026-12-31, or a revision, as r400000.")
    if day > timezone.localdate() + timedelta(days=3660):
        raise alerts.TriageError("Snooze for ten years at most.")
    return timezone.make_aware(datetime.combine(day, time()))


def _duplicate(target: Target, form: Form) -> Alert:
    of = _other(form, "of", "Duplicate of")
    return alerts.mark_duplicate(**target, of=of, reason=_reason(form))


def _merge(target: Target, form: Form) -> Alert:
    into = _other(form, "of", "Merge into")
    return alerts.merge(**target, into=into, reason=_reason(form))


def _move(target: Target, form: Form) -> Alert:
    to = _other(form, "to", "Move to")
    return alerts.move(**target, findings=_findings(form), to=to, reason=_reason(form))


def _split(target: Target, form: Form) -> Alert:
    name = form.get("at", "").strip()
    revision = _revision(target["alert"], name) if name else None
    return alerts.split(**target, findings=_findings(form), revision=revision, reason=_reason(form))


def _other(form: Form, field: str, label: str) -> int:
    number = read_number(form.get(field, "").strip())
    if not number:
        raise alerts.TriageError(f"{label}: name the other alert by its number, such as 12.")
    return number


def _findings(form: Form) -> list[int]:
    """The ids of the chosen findings, which arrive as one text."""
    return [number for text in form.get("findings", "").split() if (number := read_number(text))]


def _resolve_as(resolution: Alert.Resolution) -> Callable[[Target, Form], Alert]:
    def resolve(target: Target, form: Form) -> Alert:
        revision = None
        if resolution in Alert.BY_A_REVISION:
            revision = _revision(target["alert"], form.get("revision", "").strip())
        return alerts.resolve(
            **target, resolution=resolution, revision=revision, reason=_reason(form)
        )

    return resolve


def _revision(alert: int, name: str) -> Revision:
    found = Alert.objects.filter(pk=alert).select_related("tree").first()
    revision = (
        Revision.objects.placed().named(tree=found.tree, name=name) if found and name else None
    )
    if revision is None:
        raise alerts.TriageError(
            f"No revision “{name}” is known in this tree; give the id of one that is."
        )
    return revision


ACTS: dict[str, Callable[[Target, Form], Alert]] = {
    "acknowledge": lambda target, form: alerts.acknowledge(**target, reason=_reason(form)),
    "investigate": lambda target, form: alerts.investigate(**target, reason=_reason(form)),
    "reopen": lambda target, form: alerts.reopen(**target, reason=_reason(form)),
    "snooze": _snooze,
    "snooze-week": _snooze_week,
    "duplicate": _duplicate,
    "merge": _merge,
    "move": _move,
    "split": _split,
    "undo": lambda target, _: alerts.undo(**target),
    "expected": _resolve_as(Alert.Resolution.EXPECTED),
    "not-real": _resolve_as(Alert.Resolution.NOT_REAL),
    "wont-fix": _resolve_as(Alert.Resolution.WONT_FIX),
    "fixed": _resolve_as(Alert.Resolution.FIXED),
    "backed-out": _resolve_as(Alert.Resolution.BACKED_OUT),
}
