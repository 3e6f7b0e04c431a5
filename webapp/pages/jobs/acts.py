"""What people can do to jobs from a page: a table from the name of an act to its service."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from webapp.accounts.models import User
from webapp.jobs import services
from webapp.jobs.models import Job
from webapp.jobs.services import ActRefused, Asked
from webapp.results.models import Hardware, Metric, Mode, Revision, Tree

Form = Mapping[str, str]
Row = TypeVar("Row")
MOST_REVISIONS = 2
"""In one request: a candidate and its parent."""


def act(name: str, form: Form, *, job: int, actor: User) -> Job:
    """Do what the form says. Raises JobsError, with words for people."""
    do = ACTS.get(name)
    if do is None:
        raise ActRefused("choose what to do")
    return do(_plain(form), job, actor)


def request_from(form: Form, revisions: Sequence[str], *, actor: User) -> Asked:
    """Queue a job for each of ``revisions``, the rest as ``form`` says, all described by names.

    Raises ActRefused, naming the field.
    """
    given = _plain(form)
    tree = _named("tree", Tree.objects.filter(name=given.get("tree", "")).first(), given)
    hardware = Hardware.objects.filter(name=given.get("hardware", "")).first()
    mode = Mode.objects.filter(name=given.get("mode", "")).first()
    if given.get("builds"):
        return services.request_builds(
            revisions=_revisions(tree, revisions),
            hardware=_named("hardware", hardware, given),
            mode=_named("mode", mode, given),
            boots=_number("boots", given.get("boots", "")),
            builds=_number("builds", given["builds"]),
            requested_by=actor,
        )
    return services.request_more_runs(
        revisions=_revisions(tree, revisions),
        hardware=_named("hardware", hardware, given),
        mode=_named("mode", mode, given),
        metric=_metric(given),
        boots=_number("boots", given.get("boots", "")),
        purpose=given.get("purpose", Job.Purpose.MORE_RUNS),
        reason=given.get("reason", "").strip(),
        requested_by=actor,
    )


def _revisions(tree: Tree, names: Sequence[str]) -> list[Revision]:
    """Each once, in the order given."""
    found: dict[int, Revision] = {}
    for name in names[:MOST_REVISIONS] or [""]:
        given = _plain({"revision": name})
        known = Revision.objects.placed().named(tree=tree, name=given["revision"])
        revision = _named("revision", known, given)
        found[revision.pk] = revision
    return list(found.values())


def _plain(form: Form) -> dict[str, str]:
    """PostgreSQL holds no NUL."""
    return {field: text.replace("\0", "")[:500] for field, text in form.items()}


def _metric(form: Form) -> Metric | None:
    """Left out: all metrics of the mode."""
    if not form.get("metric"):
        return None
    return _named("metric", Metric.objects.filter(name=form["metric"]).first(), form)


def _named(field: str, row: Row | None, form: Form) -> Row:
    if row is None:
        raise ActRefused(f"{field}: “{form.get(field, '')}” is not known here; name a known one")
    return row


def _number(field: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise ActRefused(f"{field}: give a number")
    return int(text)


def _cancel(form: Form, job: int, actor: User) -> Job:
    return services.cancel_job(job=job, reason=form.get("reason", ""), actor=actor)


def _retry(form: Form, job: int, actor: User) -> Job:
    return services.retry_job(job=job, actor=actor)


def _priority(form: Form, job: int, actor: User) -> Job:
    priority = _number("priority", form.get("priority", ""))
    return services.change_priority(job=job, priority=priority, actor=actor)


ACTS: dict[str, Callable[[Form, int, User], Job]] = {
    "cancel": _cancel,
    "retry": _retry,
    "priority": _priority,
}
