"""Who may send a large body."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError, connection

from webapp.api.wiring import sent_by_an_agent
from webapp.config.serving.reading import Refused


def is_known(environ: dict[str, Any]) -> bool:
    """Whether the head of a request names an agent, or somebody who has signed in.

    The connection to the database is back in the pool when this returns: the body comes after it.
    Raises Refused when nobody can say.
    """
    request = WSGIRequest(environ)
    try:
        return sent_by_an_agent(request) or _sent_by_a_user(request)
    except (DatabaseError, InterfaceError) as error:
        unavailable = Refused(503, "the database cannot be reached", "Send it again later.")
        raise unavailable from error
    finally:
        connection.close()


def _sent_by_a_user(request: WSGIRequest) -> bool:
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    request.session = SessionStore(key)
    return get_user(request).is_authenticated
