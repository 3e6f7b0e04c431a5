"""`/subscriptions/`: of which alerts one is mailed, and what such a mail looks like.

`/unsubscribe/<token>/`: GET shows, POST acts. The signed address is the right to do so.

Programs that look into mails follow every link, so following it changes nothing. One click in a
mail program is a POST without a session or a form token (RFC 8058).
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from csp.decorators import csp_replace
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.admin import ModelForm
from webapp.accounts.models import User
from webapp.accounts.services import signed_in_required, signed_in_user
from webapp.alerts.models import Alert
from webapp.alerts.queries import Suspicion, by_alert, findings_of, suspicions_of
from webapp.analysis.models import Finding
from webapp.charts.text import MARKS
from webapp.notifications.models import Subscription, SubscriptionQuerySet
from webapp.notifications.queries import BadToken, Target, matches
from webapp.notifications.services import NameTaken, delete_subscription, save_subscription, switch
from webapp.notifications.services import preview as preview_of
from webapp.outbox.services import Message
from webapp.pages.parts.links import NUMBER_MAX

NOT_FOUND = 404

TOGETHER = re.compile(r"[\s,;<>]")
"""As in `Ada <ada@example.org>`: commits are compared with names and with addresses."""

NAME_TAKEN = "You have a subscription of this name; choose another."


class SubscriptionForm(ModelForm):
    """A new or edited subscription; its person is that of the instance."""

    severity = forms.FloatField(
        label="At least, %",
        min_value=0,
        max_value=1000,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    class Meta:
        model = Subscription
        fields = [
            "name",
            "tree",
            "hardware",
            "mode",
            "metric",
            "severity",
            "direction",
            "author",
            "mine",
            "cadence",
        ]
        help_texts = {"mine": "by the names that your account lists"}
        labels = {"mine": "Only commits of mine", "cadence": "Mails"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField):
                field.empty_label = "any"

    def clean_name(self) -> str:
        """A person's subscriptions have different names."""
        name: str = self.cleaned_data["name"]
        others = Subscription.objects.filter(user=self.instance.user, name=name)
        if others.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(NAME_TAKEN)
        return name

    def is_saved(self) -> bool:
        """Store what was given; otherwise the form names what is to be mended."""
        if not self.is_valid():
            return False
        try:
            save_subscription(subscription=self.save(commit=False))
        except NameTaken:
            self.add_error("name", NAME_TAKEN)
            return False
        return True

    def clean_author(self) -> str:
        """The author as given. Raises ValidationError for more than an address alone."""
        author: str = self.cleaned_data["author"]
        check_author(author)
        return author

    def clean_severity(self) -> float:
        """Percent; nothing given is 0."""
        return self.cleaned_data["severity"] or 0.0


MARKS_OF = {
    Alert.Verdict.REGRESSION: MARKS["worse"],
    Alert.Verdict.IMPROVEMENT: MARKS["better"],
    Alert.Verdict.MIXED: MARKS["worse"] + MARKS["better"],
}
CLASSES = {
    Alert.Verdict.REGRESSION: "worse",
    Alert.Verdict.IMPROVEMENT: "better",
    Alert.Verdict.MIXED: "mixed",
}


@dataclass(frozen=True, slots=True)
class AlertSummary:
    """An alert with its findings, the weightiest first (regressions before improvements)."""

    alert: Alert
    findings: Sequence[Finding]
    suspicion: Suspicion

    @property
    def worst(self) -> Finding | None:
        """The largest finding; None when the findings of the alert are gone."""
        return self.findings[0] if self.findings else None

    @property
    def more(self) -> int:
        """How many findings there are besides the worst."""
        return max(len(self.findings) - 1, 0)

    @property
    def marks(self) -> str:
        """The sign of the verdict, for those who do not see colours."""
        return MARKS_OF[Alert.Verdict(self.alert.verdict)]

    @property
    def css_class(self) -> str:
        """The CSS class of the verdict."""
        return CLASSES[Alert.Verdict(self.alert.verdict)]


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
    """The person's subscriptions with what each would have sent lately; POST adds one."""
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
    return render(request, "pages/account/subscriptions.html", context, status=_status(request))


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
    return render(request, "pages/account/subscription.html", context, status=_status(request))


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
    return render(request, "pages/account/subscription_preview.html", context)


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


def summarise(alerts: Sequence[Alert], *, on: str = "") -> list[AlertSummary]:
    """The summaries of ``alerts`` in their order, in three queries; on the page of one
    hardware what was found ``on`` it comes first: its page is about its own losses.
    """
    if not alerts:
        return []
    rows = (
        findings_of(alerts).with_subjects().with_revisions().with_builds().with_today().defer("why")
    )
    members = {
        pk: sorted(found, key=lambda row: bool(on) and row.series.hardware.name != on)
        for pk, found in by_alert(rows).items()
    }
    suspicions = suspicions_of(alerts)
    return [AlertSummary(row, members.get(row.pk, []), suspicions[row.pk]) for row in alerts]


def check_author(text: str) -> None:
    """Raise ValidationError for an address that does not stand alone: it would match no commit."""
    if "@" in text and TOGETHER.search(text):
        raise forms.ValidationError(
            f"“{text}” is more than an address: give the address alone, or the name alone."
        )


@login_not_required
@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponse:
    """What the link of a mail stops; POST stops it, or switches it on again. Needs no sign-in."""
    try:
        target = Target.read(token)
    except BadToken as error:
        refusal = {"error": str(error)}
        return render(request, "pages/account/unsubscribe.html", refusal, status=NOT_FOUND)
    if request.method == "POST":
        switch(target.subscriptions(), on=request.POST.get("act") == "on")
    context = {"subscriptions": target.subscriptions(), "done": request.method == "POST"}
    return render(request, "pages/account/unsubscribe.html", context)
