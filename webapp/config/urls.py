"""The URL table of the whole site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("webapp.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("webapp.pages.urls")),
]
