"""What each machine and mode of a bisect over several shows: a lane of its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.bisects.question import Scope
from webapp.bisects.sentences import boots_text, chance_text

MOVED, SPARED = 0.8, 0.2
"""Chances that the commit moves a machine and mode, from which and up to which that is said."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One of them. ``figures`` are those of the newest decision, empty before the first."""

    scope: Scope
    figures: Mapping[str, Any]
    boots: int

    @property
    def number(self) -> int:
        """0 is the bisect's own series."""
        return self.scope.number

    @property
    def name(self) -> str:
        """``forwarding on Atom/T540``."""
        return f"{self.scope.series.mode} on {self.scope.series.hardware}"

    @property
    def leads(self) -> bool:
        """Whether the bisect's rules go by its boots."""
        return bool(self.figures.get("leads"))

    @property
    def sentence(self) -> str:
        """Whether the commit moves it and by how much, after how many boots."""
        measured = f"{boots_text(self.boots)} measured for it"
        if not self.figures:
            return f"Nothing is decided yet; {measured}."
        moved = self.figures["moved"]
        if not self.boots:
            return f"Not booted for this bisect; the commit moves it with {chance_text(moved)}."
        if moved <= SPARED:
            return f"Not moved by the commit ({chance_text(1 - moved)}); {measured}."
        low, high = (_signed(self.figures[f"effect_{end}_pct"]) for end in ("low", "high"))
        step = f"{_signed(self.figures['effect_pct'])} % (95 %: {low} to {high} %)"
        sure = "Moved" if moved >= MOVED else "Perhaps moved"
        return f"{sure} by {step}, {chance_text(moved)} sure; {measured}.{self._machine}"

    @property
    def _machine(self) -> str:
        lab = self.figures["lab"]
        unsteady = lab["drifts"] + lab["steps"]
        return (
            f" Its machine changed meanwhile ({chance_text(unsteady)})." if unsteady > 0.5 else ""
        )


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def lane_document(lane: Lane) -> dict[str, Any]:
    """The lane as plain data; null before the first decision."""
    series, known = lane.scope.series, lane.figures
    return {
        "number": lane.number,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "alerted": lane.scope.alerted,
        "expected_percent": lane.scope.effect_pct,
        "leads": lane.leads,
        "moved": known.get("moved"),
        "effect_percent": known.get("effect_pct"),
        "effect_low_percent": known.get("effect_low_pct"),
        "effect_high_percent": known.get("effect_high_pct"),
        "boots": lane.boots,
        "noise": lane.scope.noise,
        "machine": known.get("lab"),
        "sentence": lane.sentence,
    }
