"""Names of modes that may be one thing in two spellings. Suggestions only: people merge.

Numbers never differ between two spellings: a version, a size, a patch (``D12685``) or the value of
a knob is what tells two things apart.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from webapp.results.modes import ModeName

LONG = 8
"""Letters of a word in which one wrong letter is more likely than another word."""

LEAST_DOUBLED = 5
"""Letters of a word in which a doubled one says nothing: ``off`` and ``of`` are two."""

_NUMBERS = re.compile(r"[0-9]+")
_SEPARATORS = re.compile(r"[-._]+")
_DOUBLED = re.compile(r"([^\W\d_])\1")

Word = tuple[str, str]
"""The part of a mode that it is (workload, traffic or option), and how it is written."""


@dataclass(frozen=True, slots=True)
class Twins:
    """Two modes that may be one: their names, in order, and what speaks for it."""

    one: str
    other: str
    reason: str


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
