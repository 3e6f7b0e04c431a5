"""What to compare, picked part by part: forms that lead to the address of a comparison. `/compare/`
without sides shows them below the comparisons that are at hand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse

from webapp.analysis import queries
from webapp.events.queries import ReleaseName, names_with, neighbouring, release_names
from webapp.pages.parts.links import releases_link, with_query
from webapp.results.models import Hardware, Metric, Mode, ModeName, Revision, Tree, Variant
from webapp.results.queries import newest_sessions
from webapp.search import Asked, revisions_named

PICK = "pick"
BY_OPTION = "option"
PARTS = ("tree", "revision", "variant", "hardware", "mode", "option", "metric", "session")
SUGGESTED = 50
"""Names that a list of suggestions offers; typing finds others."""

OPTIONS_OFFERED, PAIRS_OFFERED = 12, 6
AROUND = (5, 10, 25)
"""Numbers of revisions around one that are offered."""

NEVER = 2**62
NAME_LENGTH = 400

BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Ready:
    """A comparison at hand: its name, its address, and what it is over."""

    label: str
    link: str
    over: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name for a field, and what distinguishes it from others."""

    value: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One set of the form: its name, and what stands in its fields."""

    name: str
    tree: str = ""
    revision: str = ""
    variant: str = ""
    hardware: str = ""
    mode: str = ""
    option: str = ""
    metric: str = ""
    session: str = ""


def picked_address(query: QueryDict) -> str:
    """The address of a filled-in form. Raises SideError that names the field and the remedy."""
    rows = list(zip_longest(*(_values(query, part) for part in PARTS), fillvalue=""))
    columns = [dict(zip(PARTS, row, strict=True)) for row in rows]
    if query.get(PICK) == BY_OPTION:
        return queries.compare_link(*_by_option(query, columns[0] if columns else {}))
    return queries.compare_link(*_by_sets(columns))


def columns_of(sides: Sequence[queries.Side]) -> list[Column]:
    """The form for ``sides``, with an empty column while there is room; at least two."""
    filled = [
        Column(
            name=_name_of(number),
            tree=side.tree,
            revision=side.revision,
            variant=side.variant,
            hardware=side.hardware,
            mode="" if side.options else side.mode,
            option=queries.OPTION_MARK.join(side.options),
            metric=side.metric,
            session=side.session,
        )
        for number, side in enumerate(sides[: queries.MOST_SIDES])
    ]
    most = min(max(len(filled) + 1, 2), queries.MOST_SIDES)
    return [*filled, *(Column(_name_of(number)) for number in range(len(filled), most))]


def ready_made() -> dict[str, list[Ready]]:
    """What can be compared at once: with and without each option, the newest pair of each tree, of
    simulated machines only while there is no other; releases next to one another, of trees with a
    series in common. Five statements.
    """
    simulated = not queries.has_real_data()
    options = [
        Ready(
            f"with and without {one.name}",
            option_link(one.tree, one.name),
            f"{one.tree}: {_count(one.modes, 'mode')}, {_count(one.machines, 'machine')}",
        )
        for one in queries.measured_options(simulated=simulated, most=OPTIONS_OFFERED)
    ]
    pairs = [
        Ready(
            f"{pair.newer} against {pair.older}",
            queries.compare_link(
                queries.Side(pair.tree, pair.older), queries.Side(pair.tree, pair.newer)
            ),
            f"{pair.tree}: {pair.series} series",
        )
        for pair in queries.newest_pairs(simulated=simulated)[:PAIRS_OFFERED]
    ]
    names = neighbouring(release_names())
    shared = queries.series_in_both([(a.tree, b.tree) for a, b in names])
    releases = [
        Ready(
            f"{b.name} against {a.name}",
            releases_link(a.written, b.written),
            _over(a, b, shared[a.tree, b.tree]),
        )
        for a, b in names
        if (a.tree, b.tree) in shared
    ]
    return {"options": options, "pairs": pairs, "releases": releases[:PAIRS_OFFERED]}


def _over(a: ReleaseName, b: ReleaseName, series: int) -> str:
    if b.is_tree:
        return f"{series:,} series, at the newest measured revision of each"
    return b.tree if a.tree == b.tree else f"from {a.tree} to {b.tree}"


def option_link(tree: str, option: str) -> str:
    """With and without ``option`` at the newest revision of ``tree`` measured both ways."""
    return with_query(reverse("compare"), [(PICK, BY_OPTION), ("tree", tree), ("option", option)])


def suggestions(part: str, text: str, tree: str = "") -> list[Suggestion]:
    """Names for a field that begin with or hold ``text``; none for what is no part."""
    text, tree = (one.replace("\0", "")[:NAME_LENGTH] for one in (text, tree))
    found = _SOURCES[part](text, tree) if part in _SOURCES else []
    return list(found)[:SUGGESTED]


def _trees(text: str, _tree: str) -> Iterable[Suggestion]:
    names = Tree.objects.filter(name__icontains=text).values_list("name", flat=True)
    return (Suggestion(name) for name in names[:SUGGESTED])


def _revisions(text: str, tree: str) -> Iterable[Suggestion]:
    """Revisions; behind ``FROM..`` those that may end the range, behind ``NAME±`` how many around
    it. Also for the names of releases.
    """
    first, between, last = text.rpartition(queries.BETWEEN)
    if between and first:
        return (Suggestion(f"{first}..{one.value}", one.label) for one in _revisions(last, tree))
    for mark in queries.AROUND_MARKS:
        name, found, _ = text.partition(mark)
        if found and name:
            return (Suggestion(f"{name}±{count}", _around(count)) for count in AROUND)
    return _single_revisions(text, tree)


def _around(count: int) -> str:
    return f"the {_count(count, 'measured revision')} before and after, and itself"


def _single_revisions(text: str, tree: str) -> Iterable[Suggestion]:
    known = [
        Suggestion(one.name, f"{one.tree} · {one.note}".strip(" ·"))
        for one in queries.known_revisions(tree=tree, most=SUGGESTED)
        if text.casefold() in one.name.casefold()
    ]
    found: Sequence[Revision] = revisions_named(Asked.of(text), SUGGESTED) if text else []
    others = [
        Suggestion(one.name, f"{one.tree.name} · {one.subject}")
        for one in found
        if tree in {"", one.tree.name}
    ]
    names = {one.value for one in others}
    return [*(one for one in known if one.value not in names), *others]


def _releases(text: str, _tree: str) -> Iterable[Suggestion]:
    found = names_with(text.split(), release_names())
    return (Suggestion(one.written, one.kind) for one in found)


def _hardware(text: str, _tree: str) -> Iterable[Suggestion]:
    rows = Hardware.objects.matching(text).order_by("name")[:SUGGESTED]
    return (Suggestion(one.name, str(one)) for one in rows)


def _modes(text: str, _tree: str) -> Iterable[Suggestion]:
    names = Mode.objects.matching(text).order_by("name").values_list("name", flat=True)
    return (Suggestion(name) for name in names[:SUGGESTED])


def _options(text: str, tree: str) -> Iterable[Suggestion]:
    found = queries.measured_options(simulated=True, most=SUGGESTED * 4)
    names = dict.fromkeys(one.name for one in found if text in one.name and tree in {"", one.tree})
    return (Suggestion(name) for name in names)


def _variants(text: str, _tree: str) -> Iterable[Suggestion]:
    names = Variant.objects.filter(name__icontains=text).values_list("name", flat=True)
    return (Suggestion(name) for name in names[:SUGGESTED])


def _metrics(text: str, _tree: str) -> Iterable[Suggestion]:
    names = Metric.objects.filter(name__icontains=text).values_list("name", flat=True)
    return (Suggestion(name) for name in names[:SUGGESTED])


def _measured(text: str, _tree: str) -> Iterable[Suggestion]:
    """Metrics that a run measures; costs follow from two of its modes."""
    found = Metric.objects.filter(name__icontains=text, of__isnull=True)
    return (Suggestion(name) for name in found.values_list("name", flat=True)[:SUGGESTED])


def _sessions(text: str, tree: str) -> Iterable[Suggestion]:
    rows = newest_sessions(tree=tree, before=NEVER, most=SUGGESTED * 4)
    return (
        Suggestion(one.name, f"{one.revision} on {one.hardware}")
        for one in rows
        if text.casefold() in one.name.casefold()
    )


_SOURCES = {
    "tree": _trees,
    "revision": _revisions,
    "release": _releases,
    "hardware": _hardware,
    "mode": _modes,
    "option": _options,
    "variant": _variants,
    "metric": _metrics,
    "measured": _measured,
    "session": _sessions,
}


def _values(query: QueryDict, part: str) -> list[str]:
    return [value.strip().replace("\0", "") for value in query.getlist(part)]


def _by_option(query: QueryDict, first: dict[str, str]) -> list[queries.Side]:
    """Without any of the options, then with each of them."""
    options = [option.lstrip(queries.OPTION_MARK) for option in _values(query, "option")]
    wanted = list(dict.fromkeys(filter(None, options)))
    if not wanted:
        raise queries.SideError(
            "option: name the option to compare with and without, for example VIMAGE"
        )
    tree, revision = first.get("tree", ""), first.get("revision", "")
    hardware, mode = first.get("hardware", ""), first.get("mode", "")
    if not (tree and revision):
        found = queries.newest_with_both(
            wanted[0],
            tree=tree,
            hardware=hardware,
            mode=mode,
            simulated=not queries.has_real_data(),
        )
        if found is None:
            raise queries.SideError(
                f"option: nothing was measured with and without {wanted[0]!r} at one revision"
                f"{f' of {tree}' if tree else ''}{f' on {hardware}' if hardware else ''}"
            )
        tree, revision = found[0], revision or found[1]
    modes = [mode, *(_with_option(mode, option) for option in wanted)]
    return [queries.Side(tree, revision, hardware, one) for one in modes]


def _by_sets(columns: Sequence[dict[str, str]]) -> list[queries.Side]:
    """Each set by its fields; an empty tree, revision, hardware, mode or metric is that of A."""
    base = columns[0] if columns else {}
    used = [base, *(one for one in columns[1:] if any(one.values()))]
    if not base.get("revision"):
        raise queries.SideError("revision: name the revision of A, for example r303642")
    if not base.get("tree"):
        raise queries.SideError("tree: name the tree of A, for example freebsd-head")
    if len(used) < 2:
        raise queries.SideError("name for B at least one thing in which it differs from A")
    return [_side(one, base) for one in used]


def _side(given: dict[str, str], base: dict[str, str]) -> queries.Side:
    parts = {
        part: given[part] or base[part]
        for part in ("tree", "revision", "hardware", "mode", "metric")
    }
    mode = _with_option(parts.pop("mode"), given["option"])
    return queries.Side(**parts, mode=mode, variant=given["variant"], session=given["session"])


def _with_option(mode: str, option: str) -> str:
    """The mode with the option; every mode that has it, where none is named."""
    options = [one for one in option.split(queries.OPTION_MARK) if one]
    if not options:
        return mode
    if not mode:
        return queries.OPTION_MARK + queries.OPTION_MARK.join(options)
    try:
        name = ModeName.parse(mode)
    except ValueError as error:
        raise queries.SideError(f"mode: {error}") from None
    return str(ModeName.of(name.workload, name.traffic, [*name.options, *options]))


def _name_of(number: int) -> str:
    return "ABCDEFG"[number]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def readable(texts: Sequence[str]) -> list[queries.Side]:
    """The sides that can be read, for the form that mends the others."""
    found = []
    for text in texts[: queries.MOST_SIDES]:
        try:
            found.append(queries.Side.parse(text))
        except queries.SideError:
            continue
    return found


def start(
    request: HttpRequest,
    sides: Sequence[queries.Side],
    error: str = "",
    releases: Sequence[str] = (),
) -> HttpResponse:
    """What to compare: what is at hand, and the forms with ``sides`` and ``releases`` in them."""
    context = {
        "error": error,
        "releases": [*releases, "", ""][:2],
        "ready": ready_made(),
        "columns": columns_of(sides),
        "has_sides": bool(sides or error),
        "suggestions": {part: suggestions(part, "") for part in (*PARTS, "release")},
        "parts": PARTS,
    }
    status = BAD_REQUEST if error else 200
    return render(request, "pages/compare/start.html", context, status=status)
