"""Take a bad run out of the statistics, and back in. It stays visible, with the reason."""

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Run, Series, WaitingRun
from webapp.results.services.locks import begin_writing
from webapp.results.services.points import refresh_points


@transaction.atomic
def withdraw_run(*, run: Run, by: User | None, reason: str) -> None:
    """Withdraw ``run``: its samples leave the points, and its series are analysed anew.

    Raises:
        Unprocessable: no reason is given.
    """
    if not reason.strip():
        raise Unprocessable([Problem("reason", "say why the run is withdrawn")])
    begin_writing()
    changed = Run.objects.counted().filter(pk=run.pk)
    if changed.update(
        withdrawn_at=timezone.now(), withdrawn_by=by, withdrawn_reason=reason.strip()
    ):
        _pool_again(run)


@transaction.atomic
def restore_run(*, run: Run) -> None:
    """Take a withdrawal back.

    Raises:
        Unprocessable: another run of its UUID took its place, and both would count; or it waits
            for the decision which commit it measured.
    """
    begin_writing()
    _refuse_superseded(run)
    _refuse_undecided(run)
    # Superseded meanwhile: it stays withdrawn.
    withdrawn = Run.objects.current().filter(pk=run.pk, withdrawn_at__isnull=False)
    if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason=""):
        _pool_again(run)


def _refuse_superseded(run: Run) -> None:
    now = Run.objects.select_related("superseded_by__agent__lab").get(pk=run.pk)
    by = now.superseded_by
    if by is not None:
        message = (
            f"run {run.uuid} was replaced by {by.agent} at {by.received_at:%Y-%m-%d %H:%M} UTC and "
            "stays withdrawn; to have its content count again, upload that with `replace`, or "
            "withdraw the run that replaced it"
        )
        raise Unprocessable([Problem("run", message)])


def _refuse_undecided(run: Run) -> None:
    if WaitingRun.objects.filter(run=run, chosen__isnull=True).exists():
        message = (
            f"which commit run {run.uuid} measured is not decided; choose it at /runs/waiting/, "
            "and it counts there"
        )
        raise Unprocessable([Problem("run", message)])


def _pool_again(run: Run) -> None:
    """``run`` may have been read before its revision moved, or was merged into another."""
    now = Run.objects.select_related("revision").get(pk=run.pk)
    series = list(
        Series.objects.filter(measurements__run=run)
        .order_by("pk")
        .select_for_update(of=["self"], no_key=True)
    )
    refresh_points(
        {(row.pk, now.revision_id) for row in series}, {now.revision_id: now.revision.position}
    )
