"""Who may do what: a view states by its decorator which role it needs.

No cache keeps the answer of such a view: it is a person's own.

Roles include one another: an operator may all that a triager may, who may all that a viewer may.
Whether reading needs an account too is a matter of the instance, not of a view: see
``webapp.config.middleware``.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.accounts.models import User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
Somebody = AbstractBaseUser | AnonymousUser
NOT_DONE = (
    "You were not signed in any more, so nothing was done. Sign in, then send the form again."
)


class RoleNeeded(PermissionDenied):
    """Signed in, but without the role; the message names which one, and who gives it."""

    def __init__(self, role: str, user: User) -> None:
        super().__init__(
            f"This needs the role {role}; the role of {user.get_username()} is {user.role}. "
            "An operator of this instance gives roles."
        )


def is_signed_in(user: Somebody) -> bool:
    """Whether this is a person with an active account."""
    return isinstance(user, User) and user.is_active


def is_triager(user: Somebody) -> bool:
    """Whether ``user`` may act on alerts."""
    return isinstance(user, User) and user.is_active and user.is_triager


def is_operator(user: Somebody) -> bool:
    """Whether ``user`` may operate the instance."""
    return isinstance(user, User) and user.is_active and user.is_operator


def signed_in_required(view: View[P]) -> View[P]:
    """For what is one's own: settings, subscriptions, tokens."""
    return _required(view, is_signed_in, User.Role.VIEWER)


def triager_required(view: View[P]) -> View[P]:
    """The view for triagers and operators alone; others sign in, or get 403."""
    return _required(view, is_triager, User.Role.TRIAGER)


def operator_required(view: View[P]) -> View[P]:
    """The view for operators alone; others sign in, or get 403."""
    return _required(view, is_operator, User.Role.OPERATOR)


def signed_in_user(request: HttpRequest) -> User:
    """Who asks, in a view behind one of the decorators."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user


def _required(view: View[P], may: Callable[[Somebody], bool], role: str) -> View[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return way_to_sign_in(request)
        if not may(request.user):
            raise RoleNeeded(role, request.user)
        response = view(request, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        return response

    return guarded


def way_to_sign_in(request: HttpRequest) -> HttpResponse:
    """To the form to sign in, and from there back to the page; of a form that was sent the next
    page states that nothing was done. A script that sent the form is made to leave its page.
    """
    way = redirect_to_login(_page_asked_from(request))
    if request.method in ("GET", "HEAD"):
        return way
    messages.warning(request, NOT_DONE, fail_silently=True)
    is_script = request.headers.get("HX-Request") == "true"
    return HttpResponse(headers={"HX-Redirect": way.url}) if is_script else way


def _page_asked_from(request: HttpRequest) -> str:
    """Where to go after signing in: the page itself, or that of the form that was sent."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}):
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    parts = urlsplit(page)
    return parts._replace(scheme="", netloc="").geturl()
