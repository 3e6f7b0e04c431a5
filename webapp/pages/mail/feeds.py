"""`/feeds/…atom`: what became of alerts, for readers of feeds."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.http import http_date
from django.views.decorators.http import conditional_page, require_safe

from webapp.alerts.models import AlertEvent
from webapp.alerts.queries import suspicions_of, worst_of
from webapp.notifications.models import Subscription
from webapp.notifications.queries import events_of_hardware, events_of_subscription, events_of_tree
from webapp.notifications.services import alert_line, one_line
from webapp.outbox.services import absolute
from webapp.results.models import Hardware, Tree

TITLE_MAX = 300
BEGAN = "2026-01-01"
"""A tag URI needs a day on which the name of the host was ours."""


@require_safe
@conditional_page
def of_tree(request: HttpRequest, tree: str) -> HttpResponse:
    """An Atom feed of the alerts of a tree."""
    found = get_object_or_404(Tree, name=tree)
    return _feed(request, f"Alerts of {found}", found.get_absolute_url(), events_of_tree(found))


@require_safe
@conditional_page
def of_hardware(request: HttpRequest, name: str) -> HttpResponse:
    """An Atom feed of the alerts on one machine."""
    found = get_object_or_404(Hardware, name=name)
    events = events_of_hardware(found)
    return _feed(request, f"Alerts on {found}", found.get_absolute_url(), events)


@login_not_required
@require_safe
@conditional_page
def of_subscription(request: HttpRequest, token: str) -> HttpResponse:
    """A feed whose address is the key (readers cannot sign in), as long as its person may."""
    readable = Subscription.objects.with_parts().filter(user__is_active=True)
    found = get_object_or_404(readable, feed_token=token)
    title = f"Alerts: {found.name} ({found.describe()})"
    return _feed(request, title, reverse("subscriptions"), events_of_subscription(found))


def _feed(
    request: HttpRequest, title: str, page: str, events: Sequence[AlertEvent]
) -> HttpResponse:
    feed = Atom1Feed(
        title=one_line(f"Driftline: {title}", TITLE_MAX),
        link=absolute(page),
        description=None,
        feed_url=absolute(request.path),
        feed_guid=absolute(request.path),
        language="en",
    )
    worst = worst_of({event.alert_id for event in events})
    suspicions = suspicions_of({event.alert_id: event.alert for event in events}.values())
    for event in events:
        _add(
            feed,
            event,
            alert_line(event.alert, worst.get(event.alert_id), suspicions[event.alert_id]),
        )
    response = HttpResponse(content_type=feed.content_type)
    feed.write(response, "utf-8")
    if events:
        response["Last-Modified"] = http_date(max(event.at for event in events).timestamp())
    return response


def _add(feed: Atom1Feed, event: AlertEvent, about: str) -> None:
    """``about`` is the present text on the alert."""
    what = event.get_kind_display().capitalize()
    sentence = one_line(f"{what}: {event.reason}" if event.reason else what, TITLE_MAX)
    line = one_line(about, TITLE_MAX)
    feed.add_item(
        title=f"{what}: {line}",
        link=absolute(event.alert.get_absolute_url()),
        description=escape(f"{sentence}. As it is now: {line}"),  # readers take it as HTML
        unique_id=_tag(event),
        unique_id_is_permalink=False,
        pubdate=event.at,
        updateddate=event.at,
        categories=[event.alert.verdict],
    )


def _tag(event: AlertEvent) -> str:
    """The same for ever, whatever the address of the page becomes (RFC 4151)."""
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    return f"tag:{host},{BEGAN}:alert/{event.alert_id}/event/{event.pk}"
