"""`/alerts/`: the inbox, and what is done to several alerts at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import signed_in_user, triager_required
from webapp.alerts.models import Alert
from webapp.alerts.services import TriageError
from webapp.pages.alert_acts import act, read_number
from webapp.pages.alert_summaries import summarise
from webapp.pages.links import with_query
from webapp.results.models import Hardware, Mode, Tree

ROWS = 50
MOST_AT_ONCE = 200
STATES = [("open", "open"), *Alert.State.choices, ("history", "history"), ("all", "all")]
PARTS = ("state", "tree", "hardware", "mode")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which alerts an inbox shows; a part left empty means all, no state the open ones."""

    state: str
    tree: str
    hardware: str
    mode: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        """The filters of the address; an unknown state is *open*."""
        given = {name: request.GET.get(name, "")[:300].replace("\0", "") for name in PARTS}
        if given["state"] not in dict(STATES):
            given["state"] = "open"
        return cls(**given)

    def address(self, **more: str) -> str:
        """The inbox with these filters, and ``more``."""
        pairs = [(name, getattr(self, name)) for name in PARTS]
        kept = [(name, value) for name, value in pairs if value and (name, value) != PARTS_DEFAULT]
        return with_query(reverse("alerts"), [*kept, *more.items()])


PARTS_DEFAULT = ("state", "open")


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The inbox: alerts by the filters of the address, newest first."""
    filters = Filters.of(request)
    before = read_number(request.GET.get("before", ""))
    done = _seen(request.GET.getlist("done")[:MOST_AT_ONCE])
    rows = _rows(filters, before)
    acted = _acted(done)
    context = {
        "filters": filters,
        "here": filters.address(),
        "states": STATES,
        "trees": Tree.objects.all(),
        "hardware": Hardware.objects.filter(series__findings__membership__isnull=False).distinct(),
        "modes": Mode.objects.filter(series__findings__membership__isnull=False).distinct(),
        "alerts": summarise(_with(rows[:ROWS], acted)),
        "acted": {alert.pk for alert in acted},
        "any": bool(rows) or Alert.objects.exists(),
        "in_history": 0 if rows else Alert.objects.in_state("history").count(),
        "older": filters.address(before=str(rows[ROWS - 1].pk)) if len(rows) > ROWS else "",
        "done": [(alert.pk, alert.version) for alert in acted],
    }
    return render(request, "pages/alerts.html", context)


def _rows(filters: Filters, before: int) -> list[Alert]:
    """One more than a page holds, to know whether there are older ones."""
    found = Alert.objects.in_state(filters.state).about(
        tree=filters.tree, hardware=filters.hardware, mode=filters.mode
    )
    if before:
        found = found.filter(pk__lt=before)
    return list(found.with_revisions().order_by("-pk")[: ROWS + 1])


def _acted(done: Sequence[tuple[int, int]]) -> list[Alert]:
    """The alerts that were just acted on, unless something happened to them since."""
    versions = dict(done)
    found = Alert.objects.with_revisions().filter(pk__in=versions).order_by("-pk")
    return [alert for alert in found if alert.version == versions[alert.pk]] if versions else []


def _with(rows: Sequence[Alert], acted: Sequence[Alert]) -> list[Alert]:
    """Also those that were just acted on, where they stood, though the filters leave them out now:
    who did it sees what became of them.
    """
    found = {alert.pk: alert for alert in (*rows, *acted)}
    return [found[pk] for pk in sorted(found, reverse=True)]


@require_POST
@triager_required
def act_on_many(request: HttpRequest) -> HttpResponse:
    """Do one thing to each chosen alert; those that cannot be are told one by one."""
    back = Filters.of(request)
    chosen = _seen(request.POST.getlist("alert")[:MOST_AT_ONCE])
    if not chosen:
        messages.error(request, "Choose one alert or more.")
    done = _act_on_each(request, signed_in_user(request), chosen)
    undoable = [] if request.POST.get("act") == "undo" else done
    pairs = [("done", f"{alert.pk}.{alert.version}") for alert in undoable]
    address = back.address()
    return redirect(f"{address}{'&' if '?' in address else '?'}{with_query('', pairs)[1:]}")


def _act_on_each(
    request: HttpRequest, actor: User, chosen: Sequence[tuple[int, int]]
) -> list[Alert]:
    done = []
    for number, version in chosen:
        try:
            name = request.POST.get("act", "")
            done.append(act(name, request.POST.dict(), alert=number, version=version, actor=actor))
        except TriageError as error:
            messages.error(request, str(error))
    if done:
        messages.success(request, f"Done: {', '.join(f'alert {alert.pk}' for alert in done)}.")
    return done


def _seen(texts: Sequence[str]) -> list[tuple[int, int]]:
    """(number, version) of ``12.3``: which alerts were looked at, and as what."""
    pairs = [text.split(".", 1) for text in texts if "." in text]
    seen = [(read_number(number), read_number(version)) for number, version in pairs]
    return [(number, version) for number, version in seen if number]
