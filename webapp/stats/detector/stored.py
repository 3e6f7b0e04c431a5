"""The window of a series as plain data, and back."""

from collections.abc import Sequence
from typing import Any

from webapp.stats.changes import At
from webapp.stats.detector.rows import Rows
from webapp.stats.detector.window import Settled, Window
from webapp.stats.levels import Finding, Findings, ModeChange, NoiseChange, Step, Stretch
from webapp.stats.packed import pack_data, unpack_data

Row = list[Any]


def window_to_data(window: Window) -> dict[str, Any]:
    """Return numbers, strings, lists and dicts only: what JSON can hold."""
    settled = window.settled
    if not window.settled_text:
        window.settled_text = pack_data(_findings_to_data(settled.findings))
    return {
        "values": window.rows.to_data(),
        "since": window.since,
        "open_from": settled.open_from and _at(settled.open_from),
        "open_count": settled.open_count,
        "settled": window.settled_text,
        "looked": window.looked,
        "is_stirred": window.is_stirred,
        "seen": window.seen and _findings_to_data(window.seen),
    }


def window_from_data(data: dict[str, Any]) -> Window:
    """Return the window that `window_to_data` wrote, also after a passage through JSON."""
    begun, seen, settled = data["open_from"], data["seen"], data["settled"]
    return Window(
        Rows(stored=data["values"]),
        data["since"],
        Settled(
            _read_findings(unpack_data(settled)), At(*begun) if begun else None, data["open_count"]
        ),
        data["looked"],
        data["is_stirred"],
        _read_findings(seen) if seen else None,
        settled_text=settled,
    )


def _findings_to_data(found: Findings) -> dict[str, Any]:
    """All of them, kind by kind."""
    return {
        "has_modes": found.has_modes,
        "noise_pct": found.noise_pct,
        "excursions": [_finding(one) for one in found.excursions],
        "slow": [_finding(one) for one in found.slow],
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


def _read_findings(data: dict[str, Any]) -> Findings:
    return Findings(
        excursions=tuple(_read_finding(row) for row in data["excursions"]),
        noise_changes=tuple(
            NoiseChange(At(*first), ratio, At(*previous))
            for first, ratio, previous in data["noise_changes"]
        ),
        modes=tuple(
            ModeChange(At(*first), before, after, gap, At(*previous))
            for first, before, after, gap, previous in data["modes"]
        ),
        slow=tuple(_read_finding(row) for row in data["slow"]),
        noise_pct=data["noise_pct"],
        steps=tuple(_read_step(row) for row in data["steps"]),
        stretches=tuple(
            Stretch(At(*first), At(*last), *rest) for first, last, *rest in data["stretches"]
        ),
        has_modes=data["has_modes"],
    )


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
