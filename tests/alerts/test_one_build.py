"""One build a side: from two uploads to an alert, and what settles it."""

import random
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from tests import make
from tests.alerts.steps import arrive, log
from tests.documents import run_document
from tests.results.steps import analyse
from webapp.alerts.models import Alert, MinEffect
from webapp.alerts.services import resolve
from webapp.alerts.services.analysing import reconcile_trees
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.analysis.services import mark_for_analysis
from webapp.bisects.models import BisectSettings
from webapp.bisects.services import BisectError, draft_bisect
from webapp.bisects.services.automatic import start_automatic_bisects
from webapp.launcher.management.commands.digest import digest
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail
from webapp.results.models import Run, Series, Tree
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db

PF = [1100782.0, 1096501.0, 1097719.0, 1111744.5, 1091242.0]
PF_SLOWER = [978315.0, 972438.5, 963866.0, 981614.0, 977080.0]
FORWARDING = [635734.0, 625167.0, 629014.0, 636936.5, 641688.0]
FORWARDING_FASTER = [1207046.0, 1150867.0, 1139815.5, 1138692.0, 1146448.0]
IPFW = [800478.5, 863624.5, 848829.0, 848446.5, 844130.0]
IPFW_FASTER = [1046368.0, 986836.0, 930427.0, 1014607.0, 1055229.0]


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def run(
    revision: int, samples: Sequence[float], *, build: int = 0, workload: str = "pf", **fields: Any
) -> dict[str, Any]:
    """One build of a revision, as published for r303642 and r303643."""
    return run_document(
        uuid=str(uuid4()),
        revision=f"r{revision}",
        mode={"workload": workload, "traffic": None, "options": []},
        build_id=f"r{revision} #{build}",
        samples=list(samples),
        **fields,
    )


def times(samples: Sequence[float], factor: float) -> list[float]:
    return [sample * factor for sample in samples]


def the_pair() -> list[dict[str, Any]]:
    return [run(303642, PF), run(303643, PF_SLOWER)]


def mails() -> list[str]:
    return list(Mail.objects.order_by("pk").values_list("kind", flat=True))


def text_of(kind: str) -> str:
    return compose(Mail.objects.get(kind=kind)).text


def the_alert() -> Alert:
    return Alert.objects.with_revisions().get()


def test_two_uploads_open_an_alert_and_its_mail_states_what_it_rests_on() -> None:
    make.subscription()
    arrive(the_pair())

    alert, finding = the_alert(), Finding.objects.get()
    assert (alert.state, alert.verdict, alert.one_build) == ("new", "regression", True)
    assert finding.state == Finding.State.ONE_BUILD
    assert finding.change_pct == pytest.approx(-11.36, abs=0.01)
    assert (finding.low_pct, finding.high_pct) == pytest.approx((-16.7, -5.7), abs=0.05)
    assert finding.one_build["chance"] == pytest.approx(0.00156, abs=0.00001)
    assert log(alert) == ["opened", "joined"]
    message = compose(Mail.objects.get(kind="alert.opened"))
    assert message.subject.endswith(", one build a side: r303643 against r303642")
    assert " by r303643" not in message.subject + message.text
    lines = message.text.splitlines()
    assert lines[0].startswith("One build a side: pf on bench nic is 11.4 % slower [")
    assert "1 / 1  ? cannot tell, one build a side" in message.text
    assert "chance of 0.16 % (limit 0.25 %)." in message.text
    assert "is at least 6.9 % with 95 %" in message.text
    assert "Believed: builds scatter by 1.8 %" in message.text
    assert "If they scatter by 3.0 % or more here, it would not be an alert." in message.text
    assert "Another build of r303643, and of r303642, or the next revisions settle it" in lines[5]
    assert len(lines) < 60
    assert "Not a fact about the commit yet" in message.html


def test_the_example_with_its_three_modes_alerts_for_the_one_that_lost() -> None:
    arrive(
        [
            *the_pair(),
            run(303642, FORWARDING, workload="forwarding"),
            run(303643, FORWARDING_FASTER, workload="forwarding"),
            run(303642, IPFW, workload="ipfw"),
            run(303643, IPFW_FASTER, workload="ipfw"),
        ]
    )

    finding = the_alert().findings.get()
    assert finding.series.mode.name == "pf"
    assert finding.one_build["pairs"] == 3
    assert finding.one_build["chance"] < finding.one_build["limit"] == 0.005 / 3


def test_more_pairs_of_the_same_commit_withdraw_it() -> None:
    make.subscription()
    arrive(the_pair())
    for number in range(3):
        workload = f"forwarding{number}"
        arrive([run(303642, FORWARDING, workload=workload)])
        arrive([run(303643, FORWARDING, workload=workload)])

    assert the_alert().resolution == Alert.Resolution.RETRACTED
    assert Finding.objects.get().one_build["pairs"] == 4


@pytest.mark.parametrize("factor", [0.97, 1.0, 1.3])
def test_small_losses_and_gains_open_nothing(factor: float) -> None:
    arrive([run(303642, PF), run(303643, times(PF, factor))])

    assert not Alert.objects.exists()
    assert not Finding.objects.exists()


def test_history_opens_it_asleep_and_nobody_is_mailed() -> None:
    make.subscription()
    arrive(the_pair(), history=True)
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)], history=True)

    assert the_alert().state == Alert.State.SNOOZED
    assert mails() == []


def test_a_second_build_that_agrees_confirms_it_and_a_mail_states_it() -> None:
    make.subscription()
    arrive(the_pair())
    Mail.objects.update(state=Mail.State.SENT, composed_at=Alert.objects.get().opened_at)
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)])

    alert = the_alert()
    assert (alert.state, alert.one_build) == ("new", False)
    assert Finding.objects.get().state == Finding.State.CONFIRMED
    assert log(alert) == ["opened", "joined", "confirmed"]
    assert mails() == ["alert.opened", "alert.confirmed"]
    text = text_of("alert.confirmed")
    assert text.startswith(
        f"Alert {alert.pk} is confirmed: it no longer rests on one build a side."
    )
    assert "1 build before and 2 from it on agree" in text
    assert "Not a fact" not in text


def test_a_second_build_that_does_not_withdraws_it_and_a_mail_states_it() -> None:
    make.subscription()
    arrive(the_pair())
    Mail.objects.update(state=Mail.State.SENT, composed_at=Alert.objects.get().opened_at)
    arrive([run(303643, times(PF, 0.995), build=1)])

    alert = the_alert()
    assert (alert.state, alert.resolution) == ("resolved", "retracted")
    assert log(alert) == ["opened", "joined", "left", "retracted"]
    assert mails() == ["alert.opened", "alert.retracted"]
    text = text_of("alert.retracted")
    assert "is retracted: it rested on one build a side, and what was measured since does" in text
    assert "Withdrawn: 1 build before and 2 from it on, the last of r303643, do not show" in text


def test_another_build_of_the_revision_before_that_is_as_slow_withdraws_it() -> None:
    arrive(the_pair())
    arrive([run(303642, times(PF_SLOWER, 1.02), build=1)])

    assert the_alert().resolution == Alert.Resolution.RETRACTED


@pytest.mark.parametrize(("factor", "state"), [(0.99, "new"), (1.12, "resolved")])
def test_the_next_revision_settles_it_too(factor: float, state: str) -> None:
    arrive(the_pair())
    arrive([run(303650, times(PF_SLOWER, factor))])

    alert = the_alert()
    assert (alert.state, alert.one_build) == (state, state != "new")


def test_what_a_second_build_confirmed_may_recover() -> None:
    arrive(the_pair())
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)])
    arrive([run(303650, times(PF, 0.999))])

    finding = Finding.objects.get()
    assert (finding.state, str(finding.recovered_by)) == ("recovered", "r303650")
    assert the_alert().state == Alert.State.RECOVERED


def test_more_runs_of_the_same_build_settle_nothing() -> None:
    arrive(the_pair())
    arrive([run(303643, times(PF_SLOWER, 1.001))])

    assert the_alert().one_build


def test_a_withdrawn_run_takes_the_alert_along() -> None:
    arrive(the_pair())
    withdraw_run(run=Run.objects.get(revision__name="r303643"), by=None, reason="bad kernel")
    analyse()

    assert the_alert().resolution == Alert.Resolution.RETRACTED
    assert Finding.objects.get().why == "Withdrawn: what is measured now shows no such loss."


def test_a_threshold_above_what_is_sure_opens_nothing() -> None:
    arrive([run(303642, PF)])
    MinEffect.objects.create(tree=Tree.objects.get(), percent=8)
    arrive([run(303643, PF_SLOWER)])
    assert not Alert.objects.exists()

    MinEffect.objects.update(percent=6)
    reconcile_trees([Tree.objects.get().pk])
    assert the_alert().one_build


def test_what_other_series_show_of_builds_is_believed() -> None:
    """Modes whose builds scatter by some 5 % make 11.4 % nothing to speak of."""
    arrive(the_pair())
    alert = the_alert()
    scatter = random.Random(4)
    for mode in range(8):
        levels = [times(PF, 1 + scatter.gauss(0, 0.05)) for _ in range(16)]
        arrive([run(303700 + at, one, workload=f"pf{mode}") for at, one in enumerate(levels)])

    analysis = SeriesAnalysis.objects.get(series__mode__name="pf")
    alert.refresh_from_db()
    ((pairs, median, _),) = analysis.judged
    assert (pairs, analysis.series.dirty_from) == (1, None)
    assert median > 1.8
    assert alert.resolution == Alert.Resolution.RETRACTED


def shuffled(seed: int) -> list[dict[str, Any]]:
    found = [
        *the_pair(),
        run(303643, times(PF_SLOWER, 1.01), build=1),
        run(303642, FORWARDING, workload="forwarding"),
        run(303643, times(FORWARDING, 0.8), workload="forwarding"),
        run(303650, times(FORWARDING, 0.79), workload="forwarding"),
        run(303642, IPFW, workload="ipfw"),
        run(303643, times(IPFW, 0.6), workload="ipfw"),
    ]
    for number, one in enumerate(found):
        one["uuid"] = f"00000000-0000-4000-8000-{number:012d}"
    random.Random(seed).shuffle(found)
    return found


@pytest.mark.parametrize(
    "seed",
    [
        *(0, pytest.param(1, marks=pytest.mark.long)),
        *(pytest.param(seed, marks=pytest.mark.release) for seed in (2, 3)),
    ],
)
def test_any_order_and_one_upload_end_in_the_same(seed: int) -> None:
    arrive(shuffled(0))
    at_once = [str(line) for line in digest()]
    ends = sorted(Finding.objects.live().values_list("series__mode__name", "state"))
    assert ends == [("forwarding", "confirmed"), ("ipfw", "one build"), ("pf", "confirmed")]
    Alert.objects.all().delete()
    Run.objects.all().delete()
    Series.objects.all().delete()
    forget_names()

    for one in shuffled(seed):
        arrive([one])

    assert [str(line) for line in digest()] == at_once


def test_analysing_again_changes_nothing() -> None:
    arrive(the_pair())
    before = list(Alert.objects.values()), list(Finding.objects.values())

    mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()

    assert (list(Alert.objects.values()), list(Finding.objects.values())) == before


def test_no_bisect_begins_from_it_before_a_second_build() -> None:
    arrive([run(303640, PF), run(303650, PF_SLOWER)])
    alert = the_alert()
    make.revision("r303645")
    BisectSettings.objects.create(tree=alert.tree, automatic=True)

    assert start_automatic_bisects() == []
    with pytest.raises(BisectError, match="rests on one build a side"):
        draft_bisect(
            series=Series.objects.get(),
            good=alert.after,
            bad=alert.revision,
            effect_pct=-11.4,
            alert=alert,
        )


def test_what_people_decided_stays_when_more_builds_confirm_it() -> None:
    arrive(the_pair())
    alert = the_alert()
    resolve(alert=alert.pk, actor=make.user("ada"), version=alert.version, resolution="expected")
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)])

    assert (the_alert().state, the_alert().one_build) == ("resolved", False)
