"""A bisect of one series, for tests that make its evidence by hand."""

from dataclasses import replace

from webapp.stats import bisection
from webapp.stats.bisection import Asked, Subject, playing
from webapp.stats.bisection.joint import views


def decide(plan, evidence, pending=(), agents=1, now=None):
    """The decision, its actions and outliers without the number of the only subject."""
    asked = [Asked(0, measure) for measure in pending]
    found = bisection.decide([Subject(plan, evidence)], asked, {"": agents}, now)
    actions = tuple(one.measure for one in found.actions)
    return replace(found, actions=actions, odd=found.odd[0])


def posterior(plan, evidence):
    (view,) = views([Subject(plan, evidence)])
    return view.posterior


def forecast(plan, evidence, **options):
    return bisection.forecast([Subject(plan, evidence)], **options)


def play(plan, evidence, lab):
    """All evidence in the end, and the outcome."""
    played = playing.play([Subject(plan, evidence)], [lab])
    return played.evidence[0], played.outcome
