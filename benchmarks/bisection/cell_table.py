"""The cells of the specification as Markdown tables, and those of peers beside them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from benchmarks.bisection.peers import git_bisect, pinpoint_like, try_peer
from webapp.stats.bisection.ending import Kind
from webapp.stats.simulate.bisect_cells import Cell, Result, Spread, counted, play_trials, simulate

KNOWN = {
    "2 %, 0.5/0.5": Cell(64, -2.0, 0.5, 0.5),
    "1 %, 0.5/0.5": Cell(64, -1.0, 0.5, 0.5),
    "1 %, 1/1": Cell(64, -1.0, 1.0, 1.0),
    "none (2 % alerted), 0.5/0.5": Cell(64, -2.0, 0.5, 0.5, false_alert=True),
}
"""The specification's cells: step, noise between runs and between boots."""

HISTORY = 30
BUILD_NOISES = (0.0, 0.3, 1.0)

HEAD = (
    "| cell | right | wrong | range (holds it; median) | two steps | not reproduced | inconclusive "
    "| boots median, p95 |\n|---|---|---|---|---|---|---|---|"
)


def lines(*, trials: int, seed: int, spread: Spread) -> Iterator[str]:
    """Each line as soon as it is known."""
    play = partial(simulate, trials=trials, seed=seed, spread=spread)
    yield f"{trials} trials a cell, seed {seed}.\n\n### Noise known\n\n{HEAD}"
    for name, cell in KNOWN.items():
        yield _row(name, play(cell))
    yield f"\n### Noise known, and nothing measured before\n\n{HEAD}"
    for name, cell in KNOWN.items():
        alone = replace(cell, neighbours=0)
        yield _row(name, play(alone))
    yield f"\n### Noise estimated from {HISTORY} revisions, builds scatter\n\n{HEAD}"
    for build in BUILD_NOISES:
        for name, cell in KNOWN.items():
            estimated = replace(cell, build=build, history=HISTORY)
            yield _row(f"{name}/{build:g}", play(estimated))
    yield f"\n### The same with rebuilds\n\n{HEAD}"
    for build in BUILD_NOISES[1:]:
        for name, cell in KNOWN.items():
            again = replace(cell, build=build, history=HISTORY, rebuilds=True)
            yield _row(f"{name}/{build:g}", play(again))
    for peer, search in (("git-bisect", git_bisect), ("pinpoint-like", pinpoint_like)):
        yield f"\n### {peer}\n\n{HEAD}"
        by_peer = partial(play_trials, trials=trials, seed=seed, spread=spread)
        for name, cell in KNOWN.items():
            yield _row(name, counted(by_peer(cell, play_one=partial(try_peer, search))))


def _row(name: str, result: Result) -> str:
    share = result.outcomes
    ranges = f"{share[Kind.RANGE]:.1%}"
    if result.range_right is not None:
        ranges += f" ({result.range_right:.0%}; {result.range_median:g})"
    cells = [
        name,
        f"{result.right_single:.1%}",
        f"{result.wrong_single:.1%}",
        ranges,
        f"{share[Kind.TWO_STEPS]:.1%}",
        f"{share[Kind.NOT_REPRODUCED]:.1%}",
        f"{share[Kind.INCONCLUSIVE]:.1%}",
        f"{result.boots_median:g}, {result.boots_p95:g}",
    ]
    return "| " + " | ".join(cells) + " |"
