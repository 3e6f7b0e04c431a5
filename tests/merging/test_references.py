"""Whatever points at hardware, a mode, a series or a revision has an answer to its merge.

A new foreign key fails here until its line names what becomes of it, and `GOES_WITH_…` too where
it is not simply to point at the one that stays.
"""

import pytest
from django.db.models import Model

from webapp.merging.services import GOES_WITH_HARDWARE, GOES_WITH_REVISION, GOES_WITH_SERIES
from webapp.results.models import Hardware, Mode, Revision, Series
from webapp.results.services.subjects import relations_to

FOLLOWS, GOES, HANDLED = "follows", "goes", "is moved with thought by its room"
FATES: dict[type[Model], dict[str, str]] = {
    Hardware: {
        "results.HardwareAlias.hardware": FOLLOWS,
        "results.HardwareFact.hardware": GOES,
        "results.HourlyRuns.hardware": GOES,
        "results.Run.hardware": FOLLOWS,
        "results.AliasedRun.hardware": FOLLOWS,
        "results.Series.hardware": HANDLED,
        "jobs.Job.hardware": FOLLOWS,
        "events.LabEvent.hardware": FOLLOWS,
        "events.Canary.hardware": FOLLOWS,
        "alerts.Alert.hardware": HANDLED,
        "alerts.MinEffect.hardware": FOLLOWS,
        "alerts.MinEffectChange.hardware": FOLLOWS,
        "notifications.Subscription.hardware": FOLLOWS,
        "experiments.Side.hardware": FOLLOWS,
        "experiments.Cell.hardware": FOLLOWS,
    },
    Mode: {
        "results.ModeAlias.mode": FOLLOWS,
        "results.Run.mode": FOLLOWS,
        "results.AliasedRun.mode": FOLLOWS,
        "results.Series.mode": HANDLED,
        "jobs.Job.mode": FOLLOWS,
        "events.Canary.mode": FOLLOWS,
        "alerts.MinEffect.mode": FOLLOWS,
        "alerts.MinEffectChange.mode": FOLLOWS,
        "notifications.Subscription.mode": FOLLOWS,
        "experiments.Side.mode": FOLLOWS,
        "experiments.Cell.mode": FOLLOWS,
    },
    Series: {
        "results.Measurement.series": HANDLED,
        "results.CostSamples.series": GOES,
        "results.Point.series": GOES,
        "analysis.SeriesAnalysis.series": GOES,
        "analysis.Checkpoint.series": GOES,
        "analysis.NotedPoint.series": GOES,
        "analysis.Finding.series": GOES,
        "analysis.SeriesSettings.series": FOLLOWS,
        "alerts.AlertHold.series": FOLLOWS,
        "alerts.Assignment.series": FOLLOWS,
        "alerts.MinEffectChange.series": FOLLOWS,
        "bisects.Bisect.series": FOLLOWS,
        "bisects.BisectSubject.series": FOLLOWS,
    },
    Revision: {
        "results.Run.revision": HANDLED,
        "results.Point.revision": GOES,
        "results.RevisionAlias.revision": FOLLOWS,
        "results.PlaceProposal.revision": GOES,
        "results.CostSamples.revision": GOES,
        "results.WaitingRun.chosen": FOLLOWS,
        "results.NameAlias.first": FOLLOWS,
        "results.NameAlias.last": FOLLOWS,
        "jobs.Job.revision": FOLLOWS,
        "jobs.Worker.last_revision": FOLLOWS,
        "events.LabEvent.first": FOLLOWS,
        "events.LabEvent.last": FOLLOWS,
        "events.Release.revision": FOLLOWS,
        "events.Canary.revision": FOLLOWS,
        "analysis.NotedPoint.revision": GOES,
        "analysis.Finding.revision": HANDLED,
        "analysis.Finding.previous": HANDLED,
        "analysis.Finding.after": FOLLOWS,
        "analysis.Finding.first": FOLLOWS,
        "analysis.Finding.last": FOLLOWS,
        "analysis.Finding.confirmed_by": FOLLOWS,
        "analysis.Finding.recovered_by": FOLLOWS,
        "analysis.FindingEvent.revision": FOLLOWS,
        "analysis.FindingEvent.after": FOLLOWS,
        "analysis.FindingEvent.last": FOLLOWS,
        "alerts.Alert.revision": HANDLED,
        "alerts.Alert.after": FOLLOWS,
        "alerts.Alert.likeliest": FOLLOWS,
        "alerts.Alert.named": FOLLOWS,
        "alerts.Alert.resolution_revision": FOLLOWS,
        "alerts.AlertHold.after": FOLLOWS,
        "alerts.AlertHold.last": FOLLOWS,
        "alerts.Assignment.after": FOLLOWS,
        "alerts.Assignment.last": FOLLOWS,
        "bisects.Bisect.good": FOLLOWS,
        "bisects.Bisect.bad": FOLLOWS,
        "bisects.Bisect.culprit": FOLLOWS,
        "bisects.BisectAct.revision": FOLLOWS,
        "bisects.BisectBoot.revision": FOLLOWS,
        "experiments.Side.revision": FOLLOWS,
    },
}


def name(field: object) -> str:
    return str(field)  # app.Model.field


@pytest.mark.parametrize("model", FATES)
def test_every_foreign_key_has_an_answer(model: type[Model]) -> None:
    assert {name(one.field) for one in relations_to(model)} == FATES[model].keys()


@pytest.mark.parametrize(
    ("model", "goes"),
    [
        (Hardware, GOES_WITH_HARDWARE),
        (Series, GOES_WITH_SERIES),
        (Revision, GOES_WITH_REVISION),
    ],
)
def test_what_goes_is_what_is_stated_to_go(model: type[Model], goes: tuple[object, ...]) -> None:
    stated = {field for field, fate in FATES[model].items() if fate == GOES}
    assert {name(field) for field in goes} == stated
