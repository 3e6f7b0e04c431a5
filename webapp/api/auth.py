"""Who calls: the agent behind a bearer token, within its rate, or an operator who is signed in."""

import time

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer, SessionAuth
from redis.exceptions import RedisError

from webapp.accounts.models import User
from webapp.accounts.services import is_operator
from webapp.api.errors import ScopeMissing, TooManyRequests
from webapp.api.prometheus import REFUSED
from webapp.labs import services
from webapp.labs.models import Scope, Token

log = structlog.get_logger()
RATE_WINDOW_SECONDS = 60


class AgentToken(HttpBearer):
    """Authenticates an agent whose token has ``scope`` (None: any); the endpoint finds the token in
    ``request.auth``. Raises ScopeMissing.
    """

    def __init__(self, scope: Scope | None = Scope.UPLOAD) -> None:
        super().__init__()
        self._scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:
        """The token that is spelt, None: no valid one was given."""
        # A private instance asks before the endpoint does: a request is spent and noted once.
        known: Token | None = getattr(request, "agent_token", None)
        found = known or _sign_in(request, token)
        if found is not None and self._scope is not None and self._scope not in found.scopes:
            raise ScopeMissing(self._scope)
        return found


class OperatorSession(SessionAuth):
    """Authenticates an operator by the session of a browser; ``request.auth`` is the user. A
    request that writes carries the CSRF token, as a form does (``X-CSRFToken``).
    """

    def __call__(self, request: HttpRequest) -> User | None:
        """The operator; None for everybody else, who is not asked for a CSRF token."""
        return super().__call__(request) if is_operator(request.user) else None


def _sign_in(request: HttpRequest, token: str) -> Token | None:
    found = Token.objects.matching(token)
    if found is None:
        return None
    spend(found)
    services.note_use(token=found, now=timezone.now())
    request.agent_token = found  # type: ignore[attr-defined]
    return found


def token_of(request: HttpRequest) -> Token | None:
    """The good token that it carries; that is neither counted nor noted."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return Token.objects.matching(token) if scheme.lower() == HttpBearer.openapi_scheme else None


def spend(token: Token) -> None:
    """Count a request of ``token``. Raises TooManyRequests past its rate.

    Windows of a minute in Redis. Without Redis nobody is refused: losing an upload would be
    worse than an agent in a hurry.
    """
    window, elapsed = divmod(time.time(), RATE_WINDOW_SECONDS)
    key = f"rate:{token.pk}:{int(window)}"
    try:
        count = cache.incr(key)
    except ValueError:  # the first request of this window
        cache.add(key, 1, 2 * RATE_WINDOW_SECONDS)
        return
    except RedisError as error:
        log.warning("request not counted against its rate", error=str(error))
        return
    if count > settings.API_REQUESTS_A_MINUTE:
        REFUSED.labels("rate").inc()
        raise TooManyRequests(RATE_WINDOW_SECONDS - elapsed)
