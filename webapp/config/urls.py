"""The URL table of the whole site."""

from django.contrib import admin
from django.urls import include, path

from webapp.config.middleware import at_one_moment, kept_whole
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

handler500 = "webapp.pages.urls.server_error"
