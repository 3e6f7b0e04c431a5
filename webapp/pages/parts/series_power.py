"""How many boots of a revision to ask for, from what the history of its series tells of noise."""

from dataclasses import dataclass
from math import hypot
from typing import Any

from webapp.alerts.queries import MinEffects
from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.queries import build_noise_of
from webapp.charts.text import half_width
from webapp.pages.parts.power import A_FEW, MOST, MOST_ASKED, MOST_OF_ONE_KIND, measured, planned
from webapp.results.models import Series
from webapp.stats.compare import Level
from webapp.stats.power import NoiseLevels, plan_for


@dataclass(frozen=True, slots=True)
class BootsPlan:
    """``boots`` of one build to ask for, and in ``text`` what they are enough for.

    ``knows_builds``: the history of the series tells how builds scatter.
    """

    boots: int
    text: str
    knows_builds: bool


def boots_plan(series: Series) -> BootsPlan:
    """What would prove the smallest effect worth an alert of ``series``: three queries.

    Where nothing is known of the scatter, or no plan proves it, a few are proposed.
    """
    analysis = SeriesAnalysis.objects.filter(series=series).values_list("summary", flat=True)
    summary: dict[str, Any] = analysis.first() or {}
    least = MinEffects.of([series.pk], tree=series.tree_id).for_series(series).percent
    aim = f"a change of {half_width(least)} %, the smallest worth an alert here"
    noise, knows_builds = _noise(summary), build_noise_of(summary) is not None
    if noise is None:
        text = "How much this series scatters is not known yet: a few boots are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    most = MOST if noise.build else MOST_OF_ONE_KIND
    needed = plan_for(least, noise, most=most)
    if needed.plan is None:
        text = f"Not even {measured(most, Level.BOOT)} would prove {aim}: a few are proposed."
        return BootsPlan(A_FEW, text, knows_builds)
    several = "; a job measures one build" if needed.plan.builds > 1 else ""
    text = f"To prove {aim}, in 80 of 100 cases: {planned(needed, Level.BOOT)}{several}."
    return BootsPlan(min(needed.plan.boots, MOST_ASKED), text, knows_builds)


def _noise(summary: dict[str, Any]) -> NoiseLevels | None:
    """Of boots with one run each, as jobs have them; None where the data does not tell it."""
    noise = summary.get("noise") or {}
    run, boot, within = (noise.get(f"{name}_pct") for name in ("run", "boot", "within"))
    scatter = within if run is None or boot is None else hypot(run, boot)
    if not scatter:
        return None
    # What was analysed before the freedom was stored has that of revisions, which is less.
    df = max(noise.get("within_freedom") or noise.get("freedom") or 1.0, 1.0)
    build = build_noise_of(summary)
    if build is None:
        return NoiseLevels(run=0.0, boot=scatter, df=df)
    return NoiseLevels(run=0.0, boot=scatter, df=df, build=build.percent, build_df=build.df)
