"""Which commit made the step? The heart of a bisect whose every measurement is noisy.

    plan = Plan(weights=(1.0,) * 64, effect=log_percent(98, 100), noise=Noise(run=0.5, boot=0.5))
    decision = decide([Subject(plan)])          # validating: boot good, boot bad …
    decision.actions                            # (Asked(0, Measure(0, Purpose.VALIDATING)), )
    evidence = Evidence(boots=(Boot(0, 0.1, purpose=Purpose.VALIDATING), …))
    decide([Subject(plan, evidence)])           # the same evidence, the same decision

Decisions are never final before the end: each one is made from all raw evidence. Everything is
pure; values are in log percent (`log_percent`). The method in words: docs/bisect.md.
"""

from webapp.stats.bisection.confirming import Measure, State
from webapp.stats.bisection.deciding import Asked, Decision, decide
from webapp.stats.bisection.ending import Kind, Outcome, credible_set
from webapp.stats.bisection.explain import leaders
from webapp.stats.bisection.forecast import TOLD_APART_FROM, TOLD_FROM, Forecast, Way, forecast
from webapp.stats.bisection.joint import View
from webapp.stats.bisection.noise import Noise, estimate_noise
from webapp.stats.bisection.plan import (
    SPARED,
    SPARED_UNTOLD,
    Boot,
    Budget,
    Companion,
    Costs,
    Evidence,
    Plan,
    Purpose,
    Subject,
    log_percent,
)
from webapp.stats.bisection.posterior import Lab, Posterior
from webapp.stats.bisection.validation import Outside, Side
