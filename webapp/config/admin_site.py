"""The admin, with two pages less: people sign in, and change a password, in one place."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


class Site(AdminSite):
    """The admin of operators; signing in and passwords are on the pages of everybody."""

    def register(self, model_or_iterable: Any, *arguments: Any, **options: Any) -> None:
        """Register a page; those that django-allauth brings would show secrets of people."""
        given = (
            model_or_iterable if isinstance(model_or_iterable, Iterable) else [model_or_iterable]
        )
        for model in given:
            if not model.__module__.startswith("allauth."):
                super().register(model, *arguments, **options)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of everybody, which asks for a second factor too."""
        to = request.GET.get(REDIRECT_FIELD_NAME, "")
        if not url_has_allowed_host_and_scheme(to, {request.get_host()}, request.is_secure()):
            to = reverse("admin:index")
        asked = urlencode({REDIRECT_FIELD_NAME: to}, safe="/")
        return redirect(f"{reverse('account_login')}?{asked}")

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of everybody, where wrong passwords are counted."""
        return redirect("account_password")


class SiteConfig(AdminConfig):
    """Make ``Site`` the admin's site."""

    default_site = "webapp.config.admin_site.Site"
