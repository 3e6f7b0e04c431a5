"""Who acts in a request or a command: the one way by which changes enter the audit log."""

import getpass
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.http import HttpRequest, HttpResponseBase

from webapp.accounts.addresses import client_address
from webapp.accounts.models import AuditEntry, User
from webapp.accounts.services import audit
from webapp.config.all_views import ASKING

MEASURING = frozenset(
    f"api:{name}" for name in ("upload", "upload_profile", "poll", "heartbeat", "fail", "result")
)
"""What agents send all day. Runs, profiles and jobs name the agent themselves."""

UNNAMED = frozenset({"migrate", "runserver"})
"""Commands whose changes are nobody's: a version's own rows, and requests of people."""


class Acting:
    """Whoever sends a request that may write acts in it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, with the log following what the view writes."""
        with ExitStack() as stack:
            request.acting = stack  # type: ignore[attr-defined]
            return self._get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Begin when it is known which view answers."""
        if request.method not in ASKING and _view_of(request) not in MEASURING:
            describe = partial(_describe, request)
            request.acting.enter_context(audit.acting(describe))  # type: ignore[attr-defined]


def command_acting(arguments: Sequence[str]) -> AbstractContextManager[None]:
    """A command of ``manage.py`` with its arguments, started by a user of this machine."""
    name = arguments[1] if len(arguments) > 1 else ""
    if not name or name.startswith("-") or name in UNNAMED:
        return nullcontext()
    actor = audit.other_acting(AuditEntry.Kind.COMMAND, name, action=name, origin=_local_user())
    return audit.acting(lambda: actor)


def note_signing_in(request: HttpRequest, user: User, **_: Any) -> None:
    """A receiver of ``user_logged_in``."""
    audit.note_event(user, action="signed in", origin=_address_of(request))


def note_signing_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    """A receiver of ``user_logged_out``, which knows nobody where nobody was signed in."""
    if user is not None:
        audit.note_event(user, action="signed out", origin=_address_of(request))


def connect_signals() -> None:
    """Have signing in and out noted."""
    user_logged_in.connect(note_signing_in, dispatch_uid="audit")
    user_logged_out.connect(note_signing_out, dispatch_uid="audit")


def _describe(request: HttpRequest) -> audit.Actor:
    # The button that was pressed, and the action that was chosen in the admin
    acts = [request.POST.get(name, "")[:40] for name in ("act", "action")]
    action = " ".join(filter(None, (_view_of(request), *acts)))
    origin = _address_of(request)
    token = getattr(request, "agent_token", None)
    if token is not None:
        name = f"{token.agent} {token}"
        return audit.other_acting(AuditEntry.Kind.TOKEN, name, action=action, origin=origin)
    if isinstance(request.user, User):
        return audit.person_acting(request.user, action=action, origin=origin)
    return audit.other_acting(AuditEntry.Kind.STRANGER, "", action=action, origin=origin)


def _address_of(request: HttpRequest) -> str:
    forwarded = request.headers.get("X-Forwarded-For", "")
    peer = request.META.get("REMOTE_ADDR", "")
    return client_address(peer, forwarded, proxies=settings.PROXIES)[:64]


def _view_of(request: HttpRequest) -> str:
    match = request.resolver_match
    return match.view_name if match is not None else ""


def _local_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this number, as in a container
        return ""
