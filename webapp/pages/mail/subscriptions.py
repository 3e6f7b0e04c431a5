"""`/subscriptions/`: of which alerts one is mailed, and what such a mail looks like."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from csp.decorators import csp_replace
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import signed_in_required, signed_in_user
from webapp.alerts.models import Alert
from webapp.notifications.models import Subscription, SubscriptionQuerySet
from webapp.notifications.queries import matches
from webapp.notifications.services import delete_subscription, switch
from webapp.notifications.services import preview as preview_of
from webapp.outbox.services import Message
from webapp.pages.mail.alert_summaries import summarise
from webapp.pages.mail.subscription_form import SubscriptionForm
from webapp.pages.parts.numbers import NUMBER_MAX

DAYS = 30
SHOWN = 20
BAD_REQUEST = 400
MAIL_POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'none'"],
    "connect-src": ["'none'"],
    "img-src": ["'none'"],
    "form-action": ["'none'"],
    "style-src": ["'unsafe-inline'"],
    "frame-ancestors": ["'self'"],
}
"""Mails have inline styles, because mail programs know no other; nothing else is allowed."""


@signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The person's subscriptions with what each would have told lately; POST adds one."""
    user = signed_in_user(request)
    form = SubscriptionForm(request.POST or None, instance=Subscription(user=user))
    if request.method == "POST" and form.is_saved():
        messages.success(request, "Subscribed.")
        return redirect("subscriptions")
    own = list(_own(user))
    fitting = _lately(user)
    context = {
        "form": form,
        "rows": [(one, len(fitting.get(one.pk, ()))) for one in own],
        "days": DAYS,
        "alert": Alert.objects.order_by("-pk").first(),
    }
    return render(request, "pages/subscriptions.html", context, status=_status(request))


@signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, number: int) -> HttpResponse:
    """One subscription of the person's own; POST changes it."""
    subscription = _one(request, number)
    form = SubscriptionForm(request.POST or None, instance=subscription)
    if request.method == "POST" and form.is_saved():
        messages.success(request, "Saved.")
        return redirect("subscriptions")
    found = _lately(signed_in_user(request)).get(subscription.pk, [])
    alerts = Alert.objects.with_revisions().filter(pk__in=found[-SHOWN:]).order_by("-pk")
    context = {
        "subscription": subscription,
        "form": form,
        "alerts": summarise(list(alerts)),
        "count": len(found),
        "days": DAYS,
    }
    return render(request, "pages/subscription.html", context, status=_status(request))


@signed_in_required
@require_POST
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Switch a subscription on or off, or delete it."""
    wanted = request.POST.get("act", "")
    subscription = _own(signed_in_user(request)).filter(pk=min(number, NUMBER_MAX)).first()
    if subscription is None:
        messages.info(request, "You have no such subscription; it may be deleted already.")
    elif wanted == "delete":
        delete_subscription(subscription=subscription)
    elif wanted in ("on", "off"):
        switch(Subscription.objects.filter(pk=number), on=wanted == "on")
    else:
        messages.error(request, "Choose what to do.")
    return redirect("subscriptions")


@signed_in_required
@require_safe
def preview(request: HttpRequest, number: int) -> HttpResponse:
    """The mail about an alert as it would be sent to this person now."""
    alert, message = _message(request, number)
    context = {"alert": alert, "message": message}
    return render(request, "pages/subscription_preview.html", context)


@signed_in_required
@require_safe
@csp_replace(MAIL_POLICY)  # type: ignore[arg-type]  # typed for views without arguments
def preview_html(request: HttpRequest, number: int) -> HttpResponse:
    """The HTML of the mail alone, for a frame that may do nothing."""
    response = HttpResponse(_message(request, number)[1].html)
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response


def _message(request: HttpRequest, number: int) -> tuple[Alert, Message]:
    alert = get_object_or_404(Alert, pk=min(number, NUMBER_MAX))
    user = signed_in_user(request)
    return alert, preview_of(alert, _that_fits(user, alert))


def _that_fits(user: User, alert: Alert) -> Subscription:
    """The oldest of the person's that asks for the alert; where none does, one as an example."""
    fitting = matches(_own(user), [alert.pk], ever=True)
    if not fitting:
        return Subscription(user=user, name="an example")
    return _own(user).get(pk=fitting[0].subscription)


def _lately(user: User) -> Mapping[int, Sequence[int]]:
    """For each subscription of the person the alerts (ids) opened lately that fit."""
    since = timezone.now() - timedelta(days=DAYS)
    alerts = Alert.objects.filter(opened_at__gte=since, history=False)
    found: dict[int, list[int]] = defaultdict(list)
    for match in matches(_own(user), alerts.values_list("pk", flat=True), ever=True):
        found[match.subscription].append(match.alert)
    return found


def _own(user: User) -> SubscriptionQuerySet:
    return Subscription.objects.filter(user=user).with_parts()


def _one(request: HttpRequest, number: int) -> Subscription:
    """One of one's own; another person's is not there."""
    return get_object_or_404(_own(signed_in_user(request)), pk=min(number, NUMBER_MAX))


def _status(request: HttpRequest) -> int:
    """A form that comes back has something to be mended."""
    return BAD_REQUEST if request.method == "POST" else 200
