"""What `benchmarks.search` measures, once Django is there."""

import json
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from statistics import quantiles
from time import perf_counter

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from webapp.results.models import Revision, RevisionAlias
from webapp.search import Asked, find

SEED = 5
WORDS, PEOPLE = 8000, 400
MACHINES, MODES = 20, 60
SEARCHES = 400
GOAL_MS = 30.0


def run(commits: int) -> None:
    """Fill the database, search, print."""
    chance = Random(SEED)
    words = [_word(chance) for _ in range(WORDS)]
    people = [f"{_word(chance).title()} {_word(chance).title()}" for _ in range(PEOPLE)]
    _fill(commits, chance, words, people)
    for text in ("warm", "r1", "x y"):
        find(Asked.of(text))
    kinds: dict[str, list[float]] = {}
    statements = 0
    for kind, text in _texts(commits, chance, words, people):
        with CaptureQueriesContext(connection) as asked:
            begin = perf_counter()
            find(Asked.of(text))
            kinds.setdefault(kind, []).append((perf_counter() - begin) * 1000)
        statements = max(statements, len(asked))
    everything = [taken for times in kinds.values() for taken in times]
    for kind, times in [*kinds.items(), ("all", everything)]:
        goal = GOAL_MS if kind == "all" else None
        _print(f"search: {kind}: p50", quantiles(times, n=20)[9], "ms", len(times))
        _print(f"search: {kind}: p95", quantiles(times, n=20)[18], "ms", len(times), goal)
    _print("search: statements, at most", statements, "statements", len(everything))


def _fill(commits: int, chance: Random, words: list[str], people: list[str]) -> None:
    """One tree; words as frequent as words are (the n-th a n-th of the first)."""
    tree = make.tree("freebsd-head")
    weights = list(accumulate(1 / (rank + 1) for rank in range(len(words))))
    for first in range(0, commits, 10_000):
        numbers = range(first, min(first + 10_000, commits))
        rows = [
            Revision(
                tree=tree,
                name=f"n{number}",
                position=10**9 + number,
                author_name=chance.choice(people),
                subject=" ".join(
                    chance.choices(words, cum_weights=weights, k=chance.randint(4, 10))
                ),
            )
            for number in numbers
        ]
        made = Revision.objects.bulk_create(rows)
        names = [(row, row.name) for row in made]
        names += [(row, f"{chance.getrandbits(160):040x}") for row in made]
        RevisionAlias.objects.bulk_create(
            RevisionAlias(tree=tree, revision=row, name=name) for row, name in names
        )
    make.revision(f"n{commits + 1}", of=tree)
    for machine in range(MACHINES):
        for mode in range(MODES):
            make.series(
                in_mode=f"{words[mode % 7]}-{mode:02}@inet4",
                on=make.hardware(f"Machine_{machine:02}/{words[9]}"),
            )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _texts(
    commits: int, chance: Random, words: list[str], people: list[str]
) -> Iterator[tuple[str, str]]:
    """A kind and a text, in turn."""
    hashes = list(RevisionAlias.objects.exclude(name__startswith="n")[:50])
    for _ in range(SEARCHES // 8):
        number = chance.randrange(commits)
        yield "number", str(number)
        yield "revision", f"n{number}"
        yield "half a revision", str(number)[:4]
        yield "hash", chance.choice(hashes).name[:9]
        yield "author", chance.choice(people).split()[1].lower()
        yield "frequent word", chance.choice(words[:10])
        yield "start of a word", chance.choice(words)[:3]
        yield (
            "machine and mode",
            f"machine_{chance.randrange(MACHINES):02} {chance.choice(words[:7])}",
        )


def _word(chance: Random) -> str:
    return "".join(
        chance.choice("bcdfgklmnprstv") + chance.choice("aeiou")
        for _ in range(chance.randint(2, 4))
    )


def _print(name: str, value: float, unit: str, n: int, goal: float | None = None) -> None:
    line = {"name": name, "value": round(value, 2), "unit": unit, "n": n}
    print(json.dumps(line | ({"goal": goal} if goal else {})), flush=True)
