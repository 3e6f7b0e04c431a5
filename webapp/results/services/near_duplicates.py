"""Modes that may be one in two spellings: what is suggested to operators, and what they dismiss.
People merge them, or make an alias.

Numbers never differ between two spellings: a version, a size, a patch (``D12685``) or the value of
a knob is what parts two things.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from django.db.models import Count
from django.utils import timezone
from django.utils.http import urlencode

from webapp.accounts.models import User
from webapp.results.models import DismissedTwins, Mode
from webapp.results.queries import rows_of
from webapp.results.spellings import ModeName

TOGETHER = """
SELECT pair.one, pair.other
  FROM unnest(%s::bigint[], %s::bigint[]) AS pair (one, other)
 WHERE EXISTS (
       SELECT FROM results_run AS run
         JOIN results_run AS beside
           ON beside.revision_id = run.revision_id AND beside.hardware_id = run.hardware_id
        WHERE run.mode_id = pair.one AND beside.mode_id = pair.other
          AND run.superseded_by_id IS NULL AND beside.superseded_by_id IS NULL)
"""
LONG = 8
"""Letters of a word in which one wrong letter is more likely than another word."""
LEAST_DOUBLED = 5
"""Letters of a word in which a doubled one means nothing: ``off`` and ``of`` are two."""
_NUMBERS = re.compile(r"[0-9]+")
_SEPARATORS = re.compile(r"[-._]+")
_DOUBLED = re.compile(r"([^\W\d_])\1")
Word = tuple[str, str]
"""The part of a mode that it is (workload, traffic or option), and how it is written."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """Two modes that may be one. ``goes`` has no more runs than ``stays``."""

    goes: Mode
    stays: Mode
    reason: str

    @property
    def alias(self) -> str:
        """The one part that differs, as a query of the form of an alias; empty: several do."""
        one, other = self.goes.parts, self.stays.parts
        pairs = [
            ("workload", {one.workload}, {other.workload}),
            ("traffic", {one.traffic or ""}, {other.traffic or ""}),
            ("option", set(one.options), set(other.options)),
        ]
        differing = [(kind, a - b, b - a) for kind, a, b in pairs if a != b]
        if len(differing) != 1 or any(len(names) != 1 for names in differing[0][1:]):
            return ""
        kind, (name,), (means,) = differing[0]
        return urlencode({"kind": kind, "name": name, "means": means}) if name and means else ""


@dataclass(frozen=True, slots=True)
class Twins:
    """Two modes that may be one: their names, in order, and what speaks for it."""

    one: str
    other: str
    reason: str


def suggested_twins() -> list[Suggested]:
    """What is suggested now, without what was dismissed. Four statements at most."""
    ids = dict(Mode.objects.values_list("name", "pk"))
    alike = spelt_alike(ids)
    if not alike:
        return []
    columns = [ids[one.one] for one in alike], [ids[one.other] for one in alike]
    names = {pk: name for name, pk in ids.items()}
    together = {frozenset((names[one], names[two])) for one, two in rows_of(TOGETHER, [*columns])}
    dismissed = set(DismissedTwins.objects.values_list("one", "other"))
    found = [one for one in suggest(ids, together) if (one.one, one.other) not in dismissed]
    wanted = {name for one in found for name in (one.one, one.other)}
    modes = {
        mode.name: mode for mode in Mode.objects.filter(name__in=wanted).annotate(n=Count("runs"))
    }
    return [
        _suggested(modes[one.one], modes[one.other], one.reason)
        for one in found
        if one.one in modes and one.other in modes  # unless it was merged at this moment
    ]


def dismiss_twins(*, one: str, other: str, by: User) -> None:
    """Two modes, by their names, are two things: do not suggest them again."""
    first, second = sorted((one, other))
    DismissedTwins.objects.get_or_create(
        one=first, other=second, defaults={"dismissed_by": by, "dismissed_at": timezone.now()}
    )


def suggest_again(*, one: str, other: str) -> None:
    """Take a dismissal back."""
    first, second = sorted((one, other))
    DismissedTwins.objects.filter(one=first, other=second).delete()


def suggest(
    names: Iterable[str], together: Collection[frozenset[str]] = frozenset()
) -> list[Twins]:
    """The pairs among ``names`` of modes that are likely one thing, in order.

    ``together`` are pairs that were measured on one hardware at one revision: they are two things,
    and so are their words in all other modes. Only pairs of ``spelt_alike`` matter there.
    """
    alike = spelt_alike(names)
    apart = {
        pair
        for one in alike
        if frozenset((one.one, one.other)) in together and len(pairs := _pairs(one)) == 1
        for pair in pairs
    }
    return [
        one
        for one in alike
        if frozenset((one.one, one.other)) not in together and apart.isdisjoint(_pairs(one))
    ]


def spelt_alike(names: Iterable[str]) -> list[Twins]:
    """The pairs among ``names`` that look like two spellings, whatever was measured."""
    modes = {name: ModeName.parse(name) for name in names}
    words = {word for mode in modes.values() for word in _parts(mode)}
    first = _first_spellings(words)
    groups: defaultdict[frozenset[Word], list[str]] = defaultdict(list)
    for name, mode in modes.items():
        groups[frozenset(first.get(word, word) for word in _parts(mode))].append(name)
    found = []
    for group in groups.values():
        for one, other in combinations(sorted(group), 2):
            pairs = _pairs_of(modes[one], modes[other])
            reasons = [alike(*(text for _, text in sorted(pair))) for pair in pairs]
            if reasons and all(reasons):
                found.append(Twins(one, other, "; ".join(sorted(set(reasons)))))
    return sorted(found, key=lambda twins: (twins.one, twins.other))


@lru_cache(maxsize=50_000)
def alike(one: str, other: str) -> str:
    """Why two words may be one in two spellings; empty: they are two."""
    is_two = (
        one == other
        or _NUMBERS.findall(one) != _NUMBERS.findall(other)
        or one.partition("=")[2] != other.partition("=")[2]
    )
    return "" if is_two else _same_text(one, other) or _one_word(one, other)


def _suggested(one: Mode, other: Mode, reason: str) -> Suggested:
    def runs(mode: Mode) -> tuple[int, str]:
        return (mode.n, mode.name)  # type: ignore[attr-defined]

    goes, stays = sorted((one, other), key=runs)
    return Suggested(goes, stays, reason)


def _same_text(one: str, other: str) -> str:
    if one.casefold() == other.casefold():
        return "only capitals differ"
    joined = [_SEPARATORS.sub("", word) for word in (one, other)]
    if joined[0] == joined[1]:
        return "only separators differ"
    if joined[0].casefold() == joined[1].casefold():
        return "only capitals and separators differ"
    return ""


def _one_word(one: str, other: str) -> str:
    """Of all words between separators just one differs, and that by a letter."""
    words = [_SEPARATORS.split(text.casefold()) for text in (one, other)]
    if len(words[0]) != len(words[1]):
        return ""
    differing = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    return _one_typo(*differing[0]) if len(differing) == 1 else ""


def _one_typo(one: str, other: str) -> str:
    """Two words without separators, in small letters."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) > LEAST_DOUBLED and _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other):
        return "only a doubled letter differs"
    # Words are mistyped within; what differs at the beginning or the end means something:
    # symmetric and asymmetric, scheduled and scheduler. Beside a number a letter may be a unit.
    is_word = len(shorter) >= LONG and (one + other).isalpha()
    if not is_word or one[0] != other[0] or one[-1] != other[-1]:
        return ""
    return "one letter differs in a long word" if _is_one_edit(shorter, longer) else ""


def _is_one_edit(shorter: str, longer: str) -> bool:
    """One letter more, another one, or two neighbours exchanged."""
    at = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), None)
    if at is None:
        return len(longer) == len(shorter) + 1
    if len(longer) == len(shorter) + 1:
        return shorter[at:] == longer[at + 1 :]
    if len(longer) != len(shorter):
        return False
    exchanged = shorter[at : at + 2] == longer[at : at + 2][::-1]
    return shorter[at + 1 :] == longer[at + 1 :] or (
        exchanged and shorter[at + 2 :] == longer[at + 2 :]
    )


def _parts(mode: ModeName) -> Iterator[Word]:
    yield "workload", mode.workload
    if mode.traffic:
        yield "traffic", mode.traffic
    for option in mode.options:
        yield "option", option


def _first_spellings(parts: Collection[Word]) -> Mapping[Word, Word]:
    """For each word that is spelt in several ways, directly or over a third, one of them."""
    buckets: defaultdict[tuple[object, ...], list[Word]] = defaultdict(list)
    for kind, text in sorted(parts):
        buckets[kind, text[0].casefold(), tuple(_NUMBERS.findall(text))].append((kind, text))
    first: dict[Word, Word] = {}
    for bucket in buckets.values():
        for at, word in enumerate(bucket):
            for former in bucket[:at]:
                if alike(former[1], word[1]):
                    root = first.setdefault(former, former)
                    gone = first.setdefault(word, root)
                    first.update({one: root for one, its in first.items() if its == gone})
    return first


def _pairs(twins: Twins) -> list[frozenset[Word]]:
    return _pairs_of(ModeName.parse(twins.one), ModeName.parse(twins.other))


def _pairs_of(one: ModeName, other: ModeName) -> list[frozenset[Word]]:
    """The words in which two modes differ, by pairs; empty where they do not pair."""
    mine, theirs = set(_parts(one)), set(_parts(other))
    left, right = sorted(mine - theirs), sorted(theirs - mine)
    if [kind for kind, _ in left] != [kind for kind, _ in right]:
        return []
    pairs = []
    for kind, text in left:
        fitting = [word for word in right if word[0] == kind and alike(*sorted((text, word[1])))]
        if not fitting:
            return []
        right.remove(fitting[0])
        pairs.append(frozenset({(kind, text), fitting[0]}))
    return pairs
