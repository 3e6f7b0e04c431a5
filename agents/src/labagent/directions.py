"""Which way is better, where a format does not say it: asked once, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from labagent.disk import write_durably
from labagent.errors import SettingsError
from labagent.model import Metric
from labagent.readers.formats import Content

BETTER = ("more", "less")
FILE = "directions.json"
NO_DIRECTION = "nothing states which way is better: pass --better METRIC=more or METRIC=less once"

Ask = Callable[[Metric], str]
"""Takes a metric; more, less, or nothing where nobody answers."""


@dataclass
class Directions:
    """Answers by `metric [unit]`: those given now, then those in the file at ``path``."""

    path: Path
    given: Mapping[str, str] = field(default_factory=dict)
    ask: Ask = lambda _metric: ""
    known: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            found = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise SettingsError(f"cannot read {self.path}: {error}", "remove it") from error
        if not isinstance(found, dict) or not set(found.values()) <= set(BETTER):
            raise SettingsError(f"{self.path} holds no directions", "remove it")
        self.known = found

    def complete(self, content: Content) -> tuple[Content, list[str]]:
        """The content with all directions; the metrics without one are left out, and named."""
        unknown = {one.metric for one in content.results if not one.metric.better}
        answers = {metric: self._answer(metric) for metric in sorted(unknown, key=lambda m: m.name)}
        results = [
            replace(
                one, metric=replace(one.metric, better=answers.get(one.metric) or one.metric.better)
            )
            for one in content.results
        ]
        left = [
            f"{metric.name} ({metric.unit})" for metric, answer in answers.items() if not answer
        ]
        return replace(content, results=[one for one in results if one.metric.better]), left

    def _answer(self, metric: Metric) -> str:
        key = f"{metric.name} [{metric.unit}]"
        answer = self.given.get(metric.name) or self.known.get(key) or self.ask(metric)
        if answer:
            self.known[key] = answer
        return answer

    def save(self) -> None:
        """Remember the answers."""
        if self.known:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(self.path, json.dumps(self.known, indent=1, sort_keys=True).encode())


def directions_given(texts: Iterable[str]) -> dict[str, str]:
    """``METRIC=more`` and ``METRIC=less`` by metric. Raises SettingsError."""
    given = {}
    for text in texts:
        name, _, better = text.rpartition("=")
        if not name or better not in BETTER:
            raise SettingsError(f"--better {text!r} is no direction", "write METRIC=more or =less")
        given[name] = better
    return given
