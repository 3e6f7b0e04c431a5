"""Which events a feed holds: the newest that are news, of one tree, one hardware or a subscription.

What became of an alert stays in the feed when its findings are gone.
"""

from django.db.models import Q

from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding
from webapp.notifications.models import Subscription
from webapp.notifications.news import NEWS
from webapp.notifications.queries.matching import matches
from webapp.results.models import Hardware, Tree

ENTRIES = 50
ALERTS = 500
"""A subscription's feed looks at no more than the newest of them."""


def events_of_tree(tree: Tree) -> list[AlertEvent]:
    """The newest events that are news, of the alerts of a tree."""
    return _newest(Q(alert__tree=tree))


def events_of_hardware(hardware: Hardware) -> list[AlertEvent]:
    """The newest events that are news, of alerts that ever had a finding on the hardware."""
    findings = list(
        Finding.all_kinds.filter(series__hardware=hardware).values_list("pk", flat=True)
    )
    joined = AlertEvent.objects.filter(kind=AlertEvent.Kind.JOINED, findings__overlap=findings)
    return _newest(Q(alert__in=set(joined.values_list("alert", flat=True))))


def events_of_subscription(subscription: Subscription) -> list[AlertEvent]:
    """The newest events that are news, of the newest alerts that the subscription fits."""
    announced = Alert.objects.filter(history=False)
    newest = list(announced.order_by("-pk").values_list("pk", flat=True)[:ALERTS])
    own = Subscription.objects.filter(pk=subscription.pk)
    return _newest(Q(alert__in={match.alert for match in matches(own, newest, ever=True)}))


def _newest(about: Q) -> list[AlertEvent]:
    loud = AlertEvent.objects.filter(alert__history=False, is_quiet=False, actor=None)
    events = loud.filter(about, kind__in=NEWS)
    named = events.select_related(
        *(f"alert__{name}" for name in ("tree", "after", "revision", "likeliest"))
    )
    return list(named.order_by("-pk")[:ENTRIES])
