"""Pages for operators only."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from webapp.accounts.models import User

View = Callable[..., HttpResponseBase]


def is_operator(user: object) -> bool:
    """Whether ``user`` may operate the instance."""
    return isinstance(user, User) and user.is_active and user.is_staff


def operator_required(view: View) -> View:
    """Strangers are asked to sign in; others who are no operators are refused."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not is_operator(request.user):
            raise PermissionDenied("This page is for operators.")
        return view(request, *args, **kwargs)

    return guarded
