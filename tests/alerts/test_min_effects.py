"""Setting the smallest effect worth an alert, and trying one on paper."""

from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.alerts.steps import arrive, open_alerts, runs_of
from tests.kept import kept
from webapp.accounts.models import User
from webapp.alerts.models import Alert, Assignment, MinEffectChange
from webapp.alerts.queries.dry_runs import dry_run
from webapp.alerts.queries.min_effects import EffectInForce, MinEffects, Scope, ScopeError
from webapp.alerts.services.triage import MinEffectError, set_min_effect, undo_min_effect
from webapp.merging.services import merge_hardware, merge_modes
from webapp.results.models import Hardware, Mode, Series

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
EVER = make.DAY_ONE
SCOPES = [f"hardware:{ATOM}", "mode:pf", "tree:freebsd-head"]


@pytest.fixture(autouse=True)
@kept
def three_changes() -> None:
    """12 % and 5 % at one commit of the Atom, 10 % at a later one of the Xeon."""
    arrive(
        runs_of(
            {(ATOM, "pf"): {12: 0.88}, (ATOM, "forwarding"): {12: 1.05}, (XEON, "pf"): {20: 0.9}}
        )
    )


@pytest.fixture
def ada() -> User:
    return make.user(role="operator")


def run(scope: str, percent: float | None, since: datetime = EVER) -> tuple[list[str], list[str]]:
    """The last suspects of the alerts that would be raised, and of those that would be gone."""
    found = dry_run(Scope.named(scope), percent, since=since)
    return tuple([case.worst.last.name for case in part] for part in (found.raised, found.gone))  # type: ignore[return-value]


def test_a_dry_run_lists_alerts_that_would_go() -> None:
    assert run(f"hardware:{ATOM}", 20) == ([], ["r112"])
    assert run("mode:pf", 20) == ([], ["r120"])  # forwarding still opens that of r112
    assert run("tree:freebsd-head", 20) == ([], ["r112", "r120"])
    assert run(f"hardware:{XEON}", 1) == ([], [])


def test_a_dry_run_lists_alerts_that_would_be_raised(ada: User) -> None:
    set_min_effect(scope=Scope.named("tree:freebsd-head"), percent=50, actor=ada)
    assert run(f"hardware:{XEON}", 2) == (["r120"], [])
    assert run("tree:freebsd-head", None) == (["r112", "r120"], [])


@pytest.mark.parametrize("percent", [1.0, 8.0, 11.0, 20.0])
@pytest.mark.parametrize("scope", SCOPES)
def test_what_a_dry_run_lists_is_what_setting_it_does(
    scope: str, percent: float, ada: User
) -> None:
    before = {name for name, *_ in open_alerts()}
    raised, gone = run(scope, percent)
    set_min_effect(scope=Scope.named(scope), percent=percent, actor=ada)
    assert {name for name, *_ in open_alerts()} == (before - set(gone)) | set(raised)


def test_a_dry_run_reads_only() -> None:
    with CaptureQueriesContext(connection) as captured:
        run("tree:freebsd-head", 20)
    assert {one["sql"].split()[0] for one in captured} == {"SELECT"}
    assert len(captured) <= 12


def test_a_dry_run_of_some_days_knows_only_what_was_detected_in_them() -> None:
    assert run("tree:freebsd-head", 20, since=datetime.max.replace(tzinfo=EVER.tzinfo)) == ([], [])


def test_a_threshold_is_set_with_a_log_and_taken_back(ada: User) -> None:
    scope = Scope.around(Series.objects.named().get(hardware__name=XEON))
    change = set_min_effect(scope=scope, percent=30, actor=ada, reason="a noisy machine")
    assert [name for name, *_ in open_alerts()] == ["r112"]
    assert (change.before, change.after, change.of) == (None, 30, scope.of)
    undo_min_effect(change=change.pk, actor=ada)
    assert [name for name, *_ in open_alerts()] == ["r112", "r120"]
    assert scope.percent() is None
    assert MinEffectChange.objects.get(pk=change.pk + 1).reason == f"change {change.pk} undone"
    assert Alert.objects.count() == 2


def test_only_the_last_change_of_a_thing_is_taken_back(ada: User) -> None:
    scope = Scope.named("mode:pf")
    first = set_min_effect(scope=scope, percent=30, actor=ada)
    set_min_effect(scope=scope, percent=40, actor=ada)
    with pytest.raises(MinEffectError, match="mode pf was set anew since"):
        undo_min_effect(change=first.pk, actor=ada)


@pytest.mark.parametrize("percent", [-1.0, 1001.0, float("nan"), float("inf")])
def test_a_percentage_out_of_range_is_refused_by_the_name_of_its_field(
    percent: float, ada: User
) -> None:
    with pytest.raises(MinEffectError, match="percent"):
        set_min_effect(scope=Scope.named("mode:pf"), percent=percent, actor=ada)


def test_setting_what_is_set_is_answered_and_not_logged(ada: User) -> None:
    with pytest.raises(MinEffectError, match="nothing is set for mode pf already"):
        set_min_effect(scope=Scope.named("mode:pf"), percent=None, actor=ada)
    assert not MinEffectChange.objects.exists()


@pytest.mark.parametrize("text", ["", "mode", "mode:x", "series:x", f"series:{10**30}", "a:b\0"])
def test_an_unknown_scope_is_refused_with_how_one_is_written(text: str) -> None:
    with pytest.raises(ScopeError, match="write it as tree:NAME"):
        Scope.named(text)


def test_each_threshold_states_what_it_hides(ada: User) -> None:
    series = Series.objects.get(hardware__name=XEON)
    for scope, percent in (("tree:freebsd-head", 3), ("mode:pf", 5), (f"series:{series.pk}", 7)):
        set_min_effect(scope=Scope.named(scope), percent=percent, actor=ada)
    assert MinEffects.of([series.pk]).chain(series) == [
        EffectInForce(7, "series"),
        EffectInForce(5, "mode"),
        EffectInForce(3, "tree"),
        EffectInForce(2, "default"),
    ]


def test_what_was_set_outlives_a_merge_of_what_it_was_set_for(ada: User) -> None:
    """Of two values that of what stays holds; the log of both is kept."""
    here = Series.objects.named().get(hardware__name=ATOM, mode__name="pf")
    there = Series.objects.named().get(hardware__name=XEON)
    Hardware.objects.update(lab=there.hardware.lab)
    for scope, percent in ((f"hardware:{ATOM}", 30), (f"series:{here.pk}", 7), ("mode:pf", 4)):
        set_min_effect(scope=Scope.named(scope), percent=percent, actor=ada)
    set_min_effect(scope=Scope.named("mode:forwarding"), percent=9, actor=ada)
    alert = Alert.objects.first()
    assignment = Assignment.objects.create(
        alert=alert, series=here, after=alert.after, last=alert.after
    )
    merge_hardware(source=here.hardware, into=there.hardware)
    merge_modes(source=here.mode, into=Mode.objects.get(name="forwarding"))
    left = Series.objects.named().get()
    assert MinEffects.of([left.pk]).chain(left) == [
        EffectInForce(7, "series"),
        EffectInForce(9, "mode"),
        EffectInForce(30, "hardware"),
        EffectInForce(2, "default"),
    ]
    assert MinEffectChange.objects.count() == 4
    assignment.refresh_from_db()
    assert assignment.series == left
