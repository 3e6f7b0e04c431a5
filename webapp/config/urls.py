"""The URL table of the whole site."""

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, include, path
from django.views.defaults import page_not_found

from webapp.api.errors import missing
from webapp.api.urls import api
from webapp.config.middleware import API, at_one_moment, kept_whole
from webapp.demo import mail_pages
from webapp.pages.account.sign_in import urlpatterns as sign_in_addresses
from webapp.pages.urls import urlpatterns as page_addresses

urlpatterns = kept_whole(
    [
        path("", include("webapp.api.urls")),
        path("admin/", admin.site.urls),
        path("mail/", mail_pages.listing, name="mailbox"),
        path("mail/<slug:name>/", mail_pages.one, name="mailbox_mail"),
        path("mail/<slug:name>/html", mail_pages.html, name="mailbox_html"),
        # Outside the snapshots of pages: they sign people in, also where they are only asked.
        path("", include(sign_in_addresses)),
        path("", include(at_one_moment(page_addresses))),
    ]
)


def not_found(request: HttpRequest, exception: Http404) -> HttpResponse:
    """404: a page, or an error of the API below its address."""
    if request.path_info.startswith(API):
        return api.on_exception(request, exception)
    # Without a text the page names the address.
    text = missing(request, exception)
    return page_not_found(request, Http404(text) if text else Resolver404())


handler404 = "webapp.config.urls.not_found"
handler500 = "webapp.pages.urls.server_error"
