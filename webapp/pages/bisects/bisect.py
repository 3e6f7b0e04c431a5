"""`/bisects/<n>/`: how a search stands, what it rests on, and what people can do to it; and the
bisect as a report in Markdown.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.analysis.queries import Subject, pair_around
from webapp.bisects import queries
from webapp.bisects.models import Bisect, BisectAct, BisectSettings
from webapp.bisects.services import BisectError, act_on_bisect, paste_boots
from webapp.charts.bisect import ALIKE, draw
from webapp.charts.text import better_text, direction, half_width
from webapp.pages.bisects.story import picture_of_missing_bits, story_of, to_come
from webapp.pages.parts.links import NUMBER_MAX, diff_link, read_number, refuse, typed_before
from webapp.results.models import Revision
from webapp.stats.markdown import block, inline

MOST_NAMED = 4
"""Commits that a heading names: of more it states how far the search is."""

SUSPECTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Headline:
    """``text`` is the heading; ``detail`` what stands under it, empty where nothing is left."""

    text: str
    detail: str = ""


Kind = BisectAct.Kind
ACTS_ON_REVISION = (
    (Kind.PIN, "Measure next"),
    (Kind.DISCARD, "Weak: measure again"),
    (Kind.SKIP, "Skip"),
    (Kind.UNSKIP, "Do not skip"),
    (Kind.EXCLUDE, "Exclude"),
    (Kind.FORCE, "Force"),
    (Kind.ALLOW, "As likely as others"),
)
NO_CONTENT = 204
NAME_MAX = 100


@require_safe
@vary_on_headers("HX-Request")
def page(request: HttpRequest, number: int) -> HttpResponse:
    """One bisect; asked for by htmx, only what changed since the version shown."""
    view = queries.view_of(_bisect(number))
    context = _context(view)
    if request.headers.get("HX-Request") == "true":
        return _news(request, view, context)
    context |= {
        "can_act": is_triager(request.user),
        "acts_on_revision": ACTS_ON_REVISION,
        "typed": typed_before(request),
    }
    return render(request, "pages/bisects/bisect.html", context)


def _news(
    request: HttpRequest, view: queries.BisectView, context: dict[str, object]
) -> HttpResponse:
    """What changed since the version that the page shows; when it ended, the page whole."""
    if read_number(request.GET.get("version", "")) == view.bisect.version:
        return HttpResponse(status=NO_CONTENT)
    response = render(request, "pages/bisects/_news.html", context)
    if view.bisect.has_ended:
        response["HX-Refresh"] = "true"
    return response


@require_safe
def as_json(request: HttpRequest, number: int) -> HttpResponse:
    """The document that the API gives, as a file to read."""
    document = queries.detail_document(queries.view_of(_bisect(number)))
    return JsonResponse(document, encoder=DjangoJSONEncoder, json_dumps_params={"indent": 1})


@require_safe
def as_text(request: HttpRequest, number: int) -> HttpResponse:
    """A report in Markdown."""
    text = as_markdown(queries.view_of(_bisect(number)))
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


@require_POST
@triager_required
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Apply a triager's form to the bisect."""
    bisect = _bisect(number)
    form = _form(request)
    try:
        act_on_bisect(
            bisect=bisect.pk,
            kind=form.get("act", ""),
            actor=signed_in_user(request),
            reason=form.get("reason", ""),
            version=read_number(form.get("version", "")),
            revision=_revision(bisect, form),
        )
    except BisectError as error:
        refuse(request, str(error))
    return redirect(bisect)


@require_POST
@triager_required
def paste(request: HttpRequest, number: int) -> HttpResponse:
    """Take the boots that a triager measured by hand."""
    bisect = _bisect(number)
    form = _form(request)
    try:
        count = paste_boots(
            bisect=bisect.pk,
            actor=signed_in_user(request),
            revision=_revision(bisect, form),
            text=form.get("values", ""),
        )
        messages.success(request, f"{count} boot{'' if count == 1 else 's'} taken in.")
    except BisectError as error:
        refuse(request, str(error))
    return redirect(bisect)


def _bisect(number: int) -> Bisect:
    return get_object_or_404(Bisect.objects.with_subjects(), pk=min(number, NUMBER_MAX))


def _form(request: HttpRequest) -> dict[str, str]:
    """PostgreSQL holds no NUL."""
    return {key: text.replace("\0", "") for key, text in request.POST.dict().items()}


def _revision(bisect: Bisect, form: dict[str, str]) -> Revision | None:
    name = form.get("revision", "").strip()[:NAME_MAX]
    return Revision.objects.placed().named(tree=bisect.series.tree, name=name) if name else None


def _outside_url(view: queries.BisectView) -> str:
    """The form of a bisect where the step lies, if that is outside this one's range and there are
    several commits; else empty.
    """
    found, series = view.outside, view.bisect.series
    if found is None or not found.has_several:
        return ""
    asked = {
        "tree": series.tree.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "good": found.after.name,
        "bad": found.up_to.name,
        "effect": f"{view.bisect.effect_pct:g}",
    }
    return f"{reverse('bisect_new')}?{urlencode(asked)}"


def _profiles_link(bisect: Bisect) -> str:
    """The difference of profiles of the culprit and of a revision before; empty where none is."""
    if bisect.culprit is None:
        return ""
    ends = pair_around(Subject.of(bisect.series), bisect.culprit.position)
    return diff_link(*ends) if ends else ""


def _context(view: queries.BisectView) -> dict[str, object]:
    bisect = view.bisect
    wanted = view.next[0] if view.next and not bisect.has_ended else None
    settings = BisectSettings.objects.filter(tree=bisect.series.tree_id).first()
    return {
        "bisect": bisect,
        "view": view,
        "headline": headline_of(view),
        "image": draw(view.chart()),
        "charts": [(lane, draw(view.chart(lane.number))) for lane in view.lanes],
        "wanted": wanted,
        "command": queries.command_for(wanted, bisect.series, settings) if wanted else "",
        "measuring": [
            (view.revisions[one.index], one.job) for one in view.asked if not one.job.has_ended
        ],
        "story": story_of(view),
        "bits": picture_of_missing_bits(view),
        "to_come": to_come(view),
        "ministat": view.ministat(),
        "outside_url": _outside_url(view),
        "profiles": _profiles_link(bisect),
    }


def headline_of(view: queries.BisectView) -> Headline:
    """``Most likely r4 or r5 made pf 2.0 % slower``, with every probability under it.

    Where no commit is named, what came of the search; while none leads, how far it is.
    """
    culprit = view.bisect.culprit
    if culprit is not None and view.bisect.outcome == "single":
        return Headline(f"{culprit} {_moved(view)}", view.headline)
    leaders = leading(view.chances)
    if view.bisect.has_ended or not 0 < len(leaders) <= MOST_NAMED:
        return Headline(view.headline)
    if not leaders or not set(view.bisect.gaps).isdisjoint(leaders):
        return Headline(view.headline)
    names = [view.revisions[index].name for index in leaders]
    return Headline(f"Most likely {_one_of(names)} {_moved(view)}", view.headline)


def leading(chances: list[float]) -> list[int]:
    """Indices of the likeliest commits; empty while none is worth a name."""
    most = max(chances, default=0.0)
    if most < queries.LEAST_LEAD:
        return []
    return [index for index, chance in enumerate(chances) if chance >= ALIKE * most]


def _moved(view: queries.BisectView) -> str:
    pct, series = float(view.figures["effect_pct"]), view.bisect.series
    word = direction(percent=pct, better=series.better, unit=series.metric.unit)
    return f"made {series.mode} {half_width(abs(pct))} % {word}"


def _one_of(names: list[str]) -> str:
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def as_markdown(view: queries.BisectView) -> str:
    """The answer, the suspects, the ministat block of parent and culprit, and every decision."""
    bisect = view.bisect
    parts = [
        f"# Bisect {bisect.pk}: {inline(view.sentence)}",
        inline(view.latest.text) if view.latest else "",
        _facts(view),
        inline(_outside(view)),
        _lanes(view),
        "\n\n".join(map(inline, view.remarks)),
        _suspects(view),
        _block(view),
        _decisions(view),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(view: queries.BisectView) -> str:
    bisect = view.bisect
    metric = bisect.series.metric
    better = better_text(bisect.series.better)
    between = "known revisions" if bisect.gaps else "commits"
    span = f"{bisect.good} (good) to {bisect.bad} (bad), {bisect.last_index} {between}"
    facts = (
        f"{bisect.series.mode} on {bisect.series.hardware}, {metric} ({metric.unit}, {better})",
        f"{bisect.series.tree}: {span}",
        f"state: {_state(view)}; {view.measured_for_it} boots measured for it",
    )
    return "\n".join(f"- {inline(fact)}" for fact in facts)


def _state(view: queries.BisectView) -> str:
    outcome = view.bisect.outcome
    return f"{view.bisect.state}, {outcome}" if outcome else view.bisect.state


def _lanes(view: queries.BisectView) -> str:
    if not view.lanes:
        return ""
    rows = [f"- {inline(lane.name)}: {inline(lane.sentence)}" for lane in view.lanes]
    return "\n".join(["## Machines and modes\n", *rows])


def _outside(view: queries.BisectView) -> str:
    found = view.outside
    if found is None:
        return ""
    then = ": bisect there" if found.has_several else ""
    return f"The step was measured after {found.after}, at the latest in {found.up_to}{then}."


def _suspects(view: queries.BisectView) -> str:
    suspects = view.suspects
    if not suspects:
        return ""
    rows = [
        f"| {inline(one.name)} | {queries.chance_text(one.chance)} | {inline(_about(one))} |"
        for one in suspects[:SUSPECTS_SHOWN]
    ]
    head = "## Not excluded\n\n| revision | probability | subject |\n|---|--:|---|"
    more = len(suspects) - SUSPECTS_SHOWN
    return "\n".join([head, *rows, *([f"\nand {more} more"] if more > 0 else [])])


def _about(suspect: queries.Suspect) -> str:
    subject = "" if suspect.after else suspect.revision.subject
    return f"{subject} [touches {suspect.likelier}]".strip() if suspect.likelier else subject


def _block(view: queries.BisectView) -> str:
    figures = view.ministat()
    if not figures:
        return ""
    title = " and ".join(label for label, _ in view.sides)
    return "\n\n".join([f"## {inline(title)}", block(figures)])


def _decisions(view: queries.BisectView) -> str:
    rows = [
        f"{row.number}. {row.at:%Y-%m-%d %H:%M} {row.state}, {inline(view.action_of(row))}: "
        f"{inline(row.text)}"
        for row in view.decisions
    ]
    return "\n".join(["## Decisions\n", *rows]) if rows else ""
