"""What each part of the detector buys: the same series with it and without it.

A part stays for the worlds named beside it. `found` is the step that is found least, in percent of
series; `false` are changes a series that nobody made, standing at the end. What a part of the
online update keeps from being raised is counted as well.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import log1p
from types import ModuleType

import numpy as np

from benchmarks.worlds.figures import Figure
from benchmarks.worlds.noises import with_modes
from benchmarks.worlds.reading import Floats, draw, read
from benchmarks.worlds.standing import (
    REPLAYED,
    Steps,
    World,
    false_of,
    least_of,
    levels,
    raised,
    rollout,
)
from benchmarks.worlds.standing import WORLDS as STANDING
from webapp.stats.changes import breaks, curves, level_findings, scatter, turns
from webapp.stats.changes import levels as level_search
from webapp.stats.simulate import Scatter

REVISIONS = 200


def _wave(period: int, steps: Steps = ()) -> World:
    """A slow thermal cycle of ± 2 %, begun anywhere."""

    def draw_one(rng: np.random.Generator) -> Floats:
        turns = np.arange(REVISIONS) / period + rng.uniform()
        return draw(rng, 0.02 * np.sin(2 * np.pi * turns) + levels(REVISIONS, steps))

    return World(draw_one, steps)


def _calm(scatter: Scatter) -> World:
    return World(lambda rng: draw(rng, np.zeros(REVISIONS), scatter))


WORLDS: Mapping[str, World] = {
    **STANDING,
    "a wave of 100": _wave(100),
    "a wave of 50": _wave(50),
    "a wave of 100 and a step": _wave(100, ((120, 6.0),)),
    "a slow loss of 10 %": World(
        lambda rng: draw(rng, log1p(-0.1) * np.arange(REVISIONS) / REVISIONS)
    ),
    "a loss of 10 % over 60 revisions": World(
        lambda rng: draw(rng, log1p(-0.1) * np.clip(np.arange(-70, REVISIONS - 70) / 60, 0, 1))
    ),
    "memory .7": _calm(Scatter(run=0.01, build=0.01, memory=0.7)),
    "one run in five 18 % slower from 100 on": World(lambda rng: with_modes(rng, 0.0, 0.2, -18.0)),
}

ROLLOUT = "a change over ten revisions is one of its size"

Replaced = tuple[ModuleType, str, Callable[..., object] | float]

PARTS: Mapping[str, tuple[Replaced, tuple[str, ...]]] = {
    "curves": (
        (curves, "curves_of", lambda *_: []),
        ("a wave of 100", "a wave of 50", "a wave of 100 and a step", "a slow loss of 10 %"),
    ),
    "memory": (
        (turns, "inflation_of", lambda _: 1.0),
        ("memory .5, no change", "memory .7", "wander and steps"),
    ),
    "jumps": ((scatter, "JUMP", 1e9), ("dips of two and three revisions",)),
    "stretches of noise": (
        (level_search, "stretches", lambda *_: [0]),
        ("ten noisy revisions at the end", "ten noisy revisions in the middle"),
    ),
    "modes": (
        (level_findings, "take_out", lambda values: (list(values), None)),
        ("one run in five 18 % slower from 100 on", "latencies"),
    ),
    "the last digit": (
        (level_findings, "_finest", lambda _: 1e-5),
        ("whole numbers near 40, scatter .6 %", "whole numbers near 40, a step of −7 %"),
    ),
    "moves over revisions": ((level_search, "rollouts", lambda *_: []), (ROLLOUT,)),
    "drift of the online update": (
        (breaks, "instead_of_step", lambda *_: None),
        ("a loss of 10 % over 60 revisions", "a wave of 100"),
    ),
}


@contextmanager
def _without(part: Replaced) -> Iterator[None]:
    module, name, other = part
    kept = getattr(module, name)
    setattr(module, name, other)
    try:
        yield
    finally:
        setattr(module, name, kept)


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what is found, and falsely, with and without each part in the worlds it is for."""
    return [
        row
        for part, (replaced, worlds) in PARTS.items()
        for name in worlds
        for row in _both(part, replaced, name, trials, seed)
    ]


def _both(part: str, replaced: Replaced, name: str, trials: int, seed: int) -> Iterator[Figure]:
    is_online = replaced[0] is breaks
    yield from _figures(f"{part}: {name}", name, trials, seed, is_online=is_online)
    with _without(replaced):
        yield from _figures(f"without {part}: {name}", name, trials, seed, is_online=is_online)


def _figures(label: str, name: str, trials: int, seed: int, *, is_online: bool) -> Iterator[Figure]:
    if name == ROLLOUT:
        yield replace(rollout(trials, seed), name=label, goal=None)
        return
    world, rng = WORLDS[name], np.random.default_rng([seed, len(name)])
    drawn = [world.draw(rng) for _ in range(trials)]
    found = [[one.index for one in read(values).changes] for values in drawn]
    if world.steps:
        yield Figure(f"{label}: found", least_of(found, world))
    yield Figure(f"{label}: false", false_of(found, world), digits=2)
    if is_online:
        yield from raised(label, world, drawn[: max(trials // REPLAYED, 1)])
