"""The outbox to look at; what is done to it is done on its own pages."""

from django.contrib import admin

from webapp.accounts.admin import ReadOnlyAdmin
from webapp.outbox.models import Endpoint, HookDelivery, Mail


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    list_display = ["pk", "kind", "about", "recipient", "state", "attempts", "due", "ended_at"]
    list_filter = ["state", "kind"]
    list_select_related = ["recipient"]
    search_fields = ["about", "recipient__username", "address", "message_id"]


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    list_display = ["name", "shown_url", "enabled", "failing_since", "created_by", "created_at"]
    list_filter = ["enabled"]
    exclude = ["secret", "url"]
    readonly_fields = ["shown_url"]
    search_fields = ["name"]


@admin.register(HookDelivery)
class HookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ["pk", "endpoint", "kind", "about", "state", "attempts", "status", "due"]
    list_filter = ["state", "endpoint"]
    list_select_related = ["endpoint"]
    search_fields = ["about", "uid"]
