"""Names of modes as labs write them over the years, drawn from a seed, with what is one thing."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from random import Random

# Written by labs; many of them one letter apart, and two things.
WORKLOADS = [
    *("forwarding", "fastforwarding", "bridge", "no-bridge", "ipsec", "openvpn", "wireguard"),
    *("ipf-stateful", "ipfw-stateful", "pf-stateful", "ipf-stateless", "ipfw-stateless"),
    *("pf-stateless", "ipfw-table-size", "ipfw-at-nic-level", "aes-gcm-128", "aes-gcm-256"),
    *("aes-cbc-128-hmac-sha1", "aes-cbc-256-hmac-sha2-256", "null", "null-fastio", "netmap"),
    *("symmetric-flows", "asymmetric-flows", "multicast-inbound", "multicast-unbound"),
]
OPTIONS = [
    *("D12685", "D12686", "D4304", "D4306", "r317849", "VIMAGE", "yandex", "mbuf", "RSS", "RSS2"),
    *("1rx", "2rx", "8rx", "16rx", "v1", "v2", "hw.igb.num_queues=1", "hw.igb.num_queues=11"),
    *("simple_tx_on", "simple_tx_off", "txabdicate_on", "txabdicate_off", "NOaesni", "aesni"),
    *(
        "scheduler",
        "scheduled",
        "receiver",
        "received",
        "polling",
        "pooling",
        "deferred-interrupts",
    ),
    *("11.1", "1.11", "hyperthreading", "interrupt-moderation", "checksum-offload", "nullfs"),
]
TRAFFIC = ["", "", "inet4", "inet6", "64", "1518", "imix"]
SYLLABLES = [
    *("ba", "ke", "lo", "mi", "nu", "ra", "te", "so", "di", "fu", "ga", "he", "pi"),
    *("qua", "ster", "ven", "tor", "lin"),
]


@dataclass(frozen=True)
class Drawn:
    """Names, the pairs of them that are one thing, and those measured side by side."""

    names: list[str]
    truth: set[frozenset[str]]
    together: set[frozenset[str]]


def draw(seed: int, things: int = 120) -> Drawn:
    """``things`` modes, many beside another that differs in a word: in two spellings; in what only
    looks like it, as the lab measured both side by side; in the nearest other word there is.
    """
    random = Random(seed)
    names: set[str] = set()
    truth, together = set(), set()
    vocabulary = [*OPTIONS, *(_invented(random) for _ in range(30))]
    workloads = [*WORKLOADS, *(_invented(random) for _ in range(15))]
    while len(names) < things:
        parts = [random.choice(workloads), random.choice(TRAFFIC)]
        parts += sorted(random.sample(vocabulary, random.choice([0, 1, 1, 2])))
        name = _written(parts)
        kind = random.random()
        names.add(name)
        if kind > 0.7:
            names.add(_neighbour(random, parts, workloads, vocabulary))
        if kind < 0.4 and (other := _misspelt(random, parts)) and other not in names:
            names.add(other)
            pair = frozenset({name, other})
            if kind < 0.33:
                truth.add(pair)
            else:
                together.add(pair)
    return Drawn(sorted(names), truth - together, together)


def _written(parts: list[str]) -> str:
    traffic = f"@{parts[1]}" if parts[1] else ""
    return parts[0] + traffic + "".join(f"+{option}" for option in sorted(set(parts[2:])))


def _neighbour(
    random: Random, parts: list[str], workloads: list[str], vocabulary: list[str]
) -> str:
    """The mode with one of its words in the place of that which is nearest to it."""
    at = random.choice([0, *range(2, len(parts))])
    known = {*(vocabulary if at else workloads)} - {parts[at]}
    nearest = max(sorted(known), key=lambda one: SequenceMatcher(None, one, parts[at]).ratio())
    return _written([*parts[:at], nearest, *parts[at + 1 :]])


def _misspelt(random: Random, parts: list[str]) -> str:
    """The mode with one of its words spelt otherwise; empty where that is no other spelling."""
    at = random.choice([0, *range(2, len(parts))])
    ways: list[Callable[[Random, str], str]] = [_capitals, _separators, _doubled, _typo]
    other = random.choice(ways)(random, parts[at])
    changed = _written([*parts[:at], other, *parts[at + 1 :]])
    return changed if other not in {*parts, *WORKLOADS, *OPTIONS} else ""


def _capitals(random: Random, word: str) -> str:
    return random.choice([word.upper(), word.lower(), word.capitalize()])


def _separators(random: Random, word: str) -> str:
    if "=" in word or any(a.isdigit() and b.isdigit() for a, b in _beside(word)):
        return word
    return word.replace(random.choice("-_"), random.choice(["", "-", "_", "."]))


def _beside(word: str) -> list[tuple[str, str]]:
    """The characters on both sides of each separator."""
    inner = range(1, len(word) - 1)
    return [(word[at - 1], word[at + 1]) for at in inner if word[at] in "-_."]


def _doubled(random: Random, word: str) -> str:
    places = [at for at, letter in enumerate(word) if letter.isalpha()]
    if len(places) < 6 or "=" in word:
        return word
    at = random.choice(places)
    return word[:at] + word[at] + word[at:]


def _typo(random: Random, word: str) -> str:
    """Anywhere in the longest run of letters, where that is long: the first and the last too."""
    start, length, longest = 0, 0, (0, 0)
    for at, letter in enumerate([*word, "-"]):
        if letter.isalpha():
            length += 1
            continue
        longest = max(longest, (length, start), key=lambda one: one[0])
        start, length = at + 1, 0
    if longest[0] < 9 or "=" in word:
        return word
    at = longest[1] + random.randrange(longest[0] - 1)
    way, letter = random.randrange(4), random.choice("abcdefghiklmnoprstuvw")
    return [
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ][way]


def _invented(random: Random) -> str:
    """A name of nothing: many are near each other by chance, and are two things all the same."""
    word = "".join(random.choices(SYLLABLES, k=random.randint(2, 5)))
    return word + random.choice(["", "", "-on", "-off", str(random.randint(1, 20))])
