"""Tasks: thin, safe to run twice."""

from celery import shared_task

from webapp.notifications import services
from webapp.notifications.status import note_status


@shared_task(ignore_result=True)
def notify() -> None:
    """Notify people of alerts' events, until none is left unread."""
    while services.notify_events():
        pass


@shared_task(ignore_result=True)
def sweep_events() -> None:
    """Find events whose message was lost (beat runs this)."""
    notify()


@shared_task(ignore_result=True)
def post_digests() -> None:
    """Post the digests whose day or week is over (beat runs this)."""
    services.post_digests()


@shared_task(ignore_result=True)
def check_status() -> None:
    """Look at what the instance does, and mail operators what changed (beat runs this)."""
    note_status()
