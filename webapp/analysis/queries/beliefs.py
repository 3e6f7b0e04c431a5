"""What is believed of the noise between builds where a series does not know its own: by what other
series of its tree do.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from webapp.stats.decisive import Belief, Known, learn
from webapp.stats.decisive.belief import LEAST_FREEDOM

Row = tuple[Hashable, int, str, float, float]
"""Within what noises are compared (tree and metric), hardware and workload of a series, the
standard deviation of its builds in percent, and the degrees of freedom of that."""

NOISES = f"""
    (SELECT jsonb_agg(jsonb_build_array(
                metric.name, other.hardware_id, mode.workload,
                (known.summary -> 'noise' ->> 'build_pct')::float8,
                (known.summary -> 'noise' ->> 'freedom')::float8))
       FROM results_series AS other
       JOIN analysis_seriesanalysis AS known ON known.series_id = other.id
       JOIN results_mode AS mode ON mode.id = other.mode_id
       JOIN results_metric AS metric ON metric.id = other.metric_id
      WHERE other.tree_id = (SELECT tree_id FROM results_revision WHERE id = {{revision}})
        AND known.summary -> 'noise' ->> 'build_pct' IS NOT NULL
        AND (known.summary -> 'noise' ->> 'freedom')::float8 >= {LEAST_FREEDOM})
"""  # noqa: S608 (a constant of ours)
"""The noises that the series of a revision's tree know, as JSON; null: none does. It refers to no
row, so that a statement computes it once, and only where it is asked for."""


BLIND = "COALESCE((analysis.summary -> 'noise' ->> 'measured_freedom')::float8, 0) < 1"
"""Whether a series, with its ``analysis`` at hand, does not know its noise (`noise_from`)."""


class Beliefs:
    """What is believed of any series, by the noises that are known."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.known: defaultdict[Hashable, Counter[tuple[int, str, float, float]]]
        self.known = defaultdict(Counter)
        for scope, *noise in rows:
            self.known[scope][tuple(noise)] += 1  # type: ignore[index]
        self.found: dict[tuple[Hashable, int, str], Belief] = {}

    @classmethod
    def from_json(cls, text: str | None) -> "Beliefs":
        """Of `NOISES`, within the metrics of one tree."""
        return cls(json.loads(text)) if text else cls()

    def of(self, scope: Hashable, hardware: int, workload: str) -> Belief:
        """Of a series of that workload on that hardware (by id)."""
        key = scope, hardware, workload
        if key not in self.found:
            alike = self.known[scope].elements() if scope in self.known else ()
            self.found[key] = learn(
                Known(
                    percent,
                    freedom,
                    same_hardware=machine == hardware,
                    same_workload=its == workload,
                )
                for machine, its, percent, freedom in alike
            )
        return self.found[key]
