"""The admin, with one page less: a password is changed in one place."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class Site(AdminSite):
    """The admin of operators; passwords are changed on the page of everybody."""

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of everybody, where wrong passwords are counted."""
        return redirect("account_password")


class SiteConfig(AdminConfig):
    """Make ``Site`` the admin's site."""

    default_site = "webapp.config.admin_site.Site"
