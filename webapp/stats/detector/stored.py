"""The window of a series as plain data, and back."""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

from webapp.stats.changes import At
from webapp.stats.changes.points import Value
from webapp.stats.detector.window import Settled, Window
from webapp.stats.levels import Finding, Findings, ModeChange, NoiseChange, Step, Stretch
from webapp.stats.packed import pack, unpack

Row = list[Any]

PLAIN, PACKED = ("position", "label", "freedom"), ("location", "variance", "share")
"""What levels need to know of a revision, beside the logarithms of its samples."""


def window_to_data(window: Window) -> dict[str, Any]:
    """Return numbers, strings, lists and dicts only: what JSON can hold."""
    settled = window.settled
    found = settled.findings
    return {
        "values": _columns(window.values),
        "since": window.since,
        "open_from": settled.open_from and _at(settled.open_from),
        "open_count": settled.open_count,
        "has_modes": found.has_modes,
        "excursions": [_finding(one) for one in found.excursions],
        "noise_changes": [
            [_at(one.first), one.ratio, _at(one.previous)] for one in found.noise_changes
        ],
        "modes": [
            [_at(one.first), one.share_before, one.share_after, one.gap_pct, _at(one.previous)]
            for one in found.modes
        ],
        "steps": [
            [
                _finding(one.finding),
                [[*_at(at), chance] for at, chance in one.locations],
                _at(one.shown_by),
                list(one.revisions),
            ]
            for one in found.steps
        ],
        "stretches": [
            [_at(one.first), _at(one.last), one.count, one.level, one.low, one.high, one.end_level]
            for one in found.stretches
        ],
    }


def window_from_data(data: dict[str, Any]) -> Window:
    """Return the window that `window_to_data` wrote, also after a passage through JSON."""
    steps = tuple(_read_step(row) for row in data["steps"])
    found = Findings(
        changes=tuple(one.finding for one in steps),
        excursions=tuple(_read_finding(row) for row in data["excursions"]),
        noise_changes=tuple(
            NoiseChange(At(*first), ratio, At(*previous))
            for first, ratio, previous in data["noise_changes"]
        ),
        modes=tuple(
            ModeChange(At(*first), before, after, gap, At(*previous))
            for first, before, after, gap, previous in data["modes"]
        ),
        steps=steps,
        stretches=tuple(
            Stretch(At(*first), At(*last), *rest) for first, last, *rest in data["stretches"]
        ),
        has_modes=data["has_modes"],
    )
    begun = data["open_from"]
    return Window(
        _read_columns(data["values"]),
        data["since"],
        Settled(found, At(*begun) if begun else None, data["open_count"]),
    )


def _columns(values: Sequence[Value]) -> dict[str, Any]:
    """Revisions column by column; of their logarithms all after each other, and how many each."""
    return {
        **{name: [getattr(value, name) for value in values] for name in PLAIN},
        **{name: pack([getattr(value, name) for value in values]) for name in PACKED},
        "sizes": [len(value.logs) for value in values],
        "logs": pack(list(chain.from_iterable(value.logs for value in values))),
    }


def _read_columns(data: dict[str, Any]) -> list[Value]:
    logs = unpack(data["logs"])
    ends = pairwise(accumulate(data["sizes"], initial=0))
    columns = [data[name] for name in PLAIN] + [unpack(data[name]) for name in PACKED]
    return [
        Value(position, label, location, variance, freedom, share, tuple(logs[first:stop]))
        for position, label, freedom, location, variance, share, (first, stop) in zip(
            *columns, ends, strict=True
        )
    ]


def _at(at: At) -> Row:
    return [at.position, at.label]


def _finding(one: Finding) -> Row:
    sizes = [one.pct, one.low_pct, one.high_pct, one.before, one.level, one.score]
    return [_at(one.first), _at(one.last), *sizes, _at(one.previous)]


def _read_finding(row: Sequence[Any]) -> Finding:
    first, last, pct, low, high, before, level, score, previous = row
    ends = At(*first), At(*last)
    return Finding(*ends, pct, low, high, before, level, score, At(*previous))


def _read_step(row: Sequence[Any]) -> Step:
    finding, locations, shown_by, revisions = row
    places = tuple((At(position, label), chance) for position, label, chance in locations)
    before, after = revisions
    return Step(_read_finding(finding), places, At(*shown_by), (before, after))
