"""From what is known of a tree to what is to be done to its alerts; without a database."""

from dataclasses import replace
from typing import Any

import pytest

from tests.alerts.plan.known import GAIN, alert, finding, held_by, retired
from webapp.alerts.assigned import Assigned
from webapp.alerts.plan import plan_changes
from webapp.alerts.plan.changes import (
    CommitRange,
    Join,
    Known,
    KnownFinding,
    KnownHold,
    Leave,
    MarkOneBuild,
    Move,
    Open,
    PlannedChange,
    Refine,
    Retire,
    Settle,
    Stand,
    TakeUp,
    Turn,
)


def plan(*args: Any, **fields: Any) -> list[PlannedChange]:
    return plan_changes(Known(*args, **fields))


def test_nothing_known_needs_nothing() -> None:
    assert plan([]) == []


def test_a_finding_opens_an_alert() -> None:
    assert plan([finding(1, 10, 12, at=11)]) == [
        Open(1, CommitRange(12, 10, 11), "regression", is_history=False),
        Join(1, (1,)),
    ]


def test_a_new_alert_is_called_by_a_number_that_no_other_has() -> None:
    there = alert(7, 20, 21)
    opened, *_ = plan([finding(1, 10, 12), *held_by(there, finding(2, 20, 21))], [there])
    assert opened == Open(8, CommitRange(12, 10, 12), "regression", is_history=False)


def test_findings_of_two_commits_open_two_and_those_of_one_open_one() -> None:
    changes = plan([finding(1, 10, 12), finding(2, 11, 13), finding(3, 20, 21)])
    assert changes == [
        Open(1, CommitRange(12, 11, 12), "regression", is_history=False),
        Open(2, CommitRange(21, 20, 21), "regression", is_history=False),
        Join(1, (1, 2)),
        Join(2, (3,)),
    ]


def test_a_small_finding_opens_nothing_and_comes_along() -> None:
    small = finding(2, 11, 12, is_large=False)
    assert plan([small]) == []
    assert plan([finding(1, 10, 12), small])[-1] == Join(1, (1, 2))


def test_what_is_not_proven_opens_nothing_and_is_let_go() -> None:
    there = alert(1, 10, 12)
    gone = replace(finding(1, 10, 12), is_proven=False)
    assert plan([gone]) == []
    assert plan(held_by(there, gone), [there]) == [
        Leave(1, (1,)),
        Retire(1, None, is_closed=True),
    ]


def test_findings_of_different_directions_make_it_mixed() -> None:
    there = alert(1, 10, 12)
    rows = [*held_by(there, finding(1, 10, 12)), finding(2, 10, 12, change_pct=GAIN)]
    assert plan(rows, [there]) == [Turn(1, "regression", "mixed"), Join(1, (2,))]


def test_where_alerts_are_in_line_nothing_is_to_be_done() -> None:
    first, second = alert(1, 10, 12), alert(2, 20, 21)
    rows = held_by(first, finding(1, 10, 12)) + held_by(second, finding(2, 20, 21))
    assert plan(rows, [first, second]) == []


def test_a_plan_that_was_done_leaves_nothing_to_do() -> None:
    commits = CommitRange(12, 11, 12)
    changes = plan([finding(1, 10, 12), finding(2, 11, 13)])
    assert changes[0] == Open(1, commits, "regression", is_history=False)
    there = changes[0].made()
    assert plan(held_by(there, finding(1, 10, 12), finding(2, 11, 13)), [there]) == []


class TestMoving:
    def test_an_alert_goes_where_its_findings_go(self) -> None:
        there = alert(1, 10, 12)
        moved = held_by(there, finding(1, 12, 14))
        assert plan(moved, [there]) == [Move(1, CommitRange(14, 12, 14))]

    def test_other_suspects_around_the_same_likeliest_commit_refine_it(self) -> None:
        there = alert(1, 10, 14, likeliest=12)
        narrower = held_by(there, finding(1, 11, 13, at=12))
        assert plan(narrower, [there]) == [Refine(1, CommitRange(13, 11, 12))]

    def test_it_follows_a_finding_that_took_the_place_of_its_own(self) -> None:
        there = alert(1, 10, 12)
        old = replace(finding(1, 10, 12), is_proven=False, superseded_by=2)
        rows = [*held_by(there, old), finding(2, 13, 14)]
        assert plan(rows, [there]) == [
            Move(1, CommitRange(14, 13, 14)),
            Leave(1, (1,)),
            Join(1, (2,)),
        ]

    def test_the_one_at_the_commit_goes_before_the_one_that_held_the_finding(self) -> None:
        there, other = alert(1, 10, 12), alert(2, 13, 15)
        moved = held_by(there, finding(1, 13, 15))
        assert plan(moved, [there, other]) == [
            Leave(1, (1,)),
            Join(2, (1,)),
            Retire(1, 2, is_closed=True),
        ]

    def test_of_two_commits_that_it_may_move_to_the_first_gets_it(self) -> None:
        there = alert(1, 10, 12)
        rows = held_by(there, finding(1, 13, 14), finding(2, 15, 16))
        assert plan(rows, [there]) == [
            Move(1, CommitRange(14, 13, 14)),
            Open(2, CommitRange(16, 15, 16), "regression", is_history=False),
            Leave(1, (2,)),
            Join(2, (2,)),
        ]

    def test_of_two_that_may_move_there_the_one_with_most_of_its_findings_does(self) -> None:
        few, most = alert(1, 10, 12), alert(2, 14, 15)
        rows = held_by(few, finding(1, 16, 18))
        rows += held_by(most, finding(2, 16, 18), finding(3, 16, 18))
        assert plan(rows, [few, most]) == [
            Move(2, CommitRange(18, 16, 18)),
            Leave(1, (1,)),
            Join(2, (1,)),
            Retire(1, 2, is_closed=True),
        ]

    def test_of_two_with_as_many_the_oldest_does(self) -> None:
        first, second = alert(1, 10, 12), alert(2, 14, 15)
        rows = held_by(second, finding(1, 16, 18)) + held_by(first, finding(2, 16, 18))
        assert Move(1, CommitRange(18, 16, 18)) in plan(rows, [first, second])

    def test_what_a_bisect_named_is_the_likeliest_while_it_is_suspected(self) -> None:
        there = alert(1, 10, 14, likeliest=12, named=12)
        assert plan(held_by(there, finding(1, 10, 14, at=13)), [there]) == []
        later = held_by(there, finding(1, 12, 14, at=13))
        assert plan(later, [there]) == [Move(1, CommitRange(14, 12, 13))]


class TestTwoAtOneCommit:
    def test_findings_go_to_the_alert_that_stands_there(self) -> None:
        there, other = alert(1, 10, 12), alert(2, 10, 15)
        rows = held_by(there, finding(1, 10, 12)) + held_by(other, finding(2, 10, 15))
        assert plan(rows, [there, other]) == [
            Leave(2, (2,)),
            Join(1, (2,)),
            Retire(2, 1, is_closed=True),
        ]

    def test_one_that_was_closed_there_stands_again_instead_of_another_one(self) -> None:
        before = retired(1, 10, 12)
        assert plan([finding(1, 10, 12)], [before]) == [Join(1, (1,)), Stand(1, "new")]


class TestHeirs:
    def test_an_alert_left_without_findings_has_the_heir_of_most_of_them(self) -> None:
        there = alert(1, 10, 30)
        few, most = alert(2, 11, 12), alert(3, 20, 22)
        rows = [
            *held_by(there, finding(1, 11, 12), finding(2, 20, 22), finding(3, 20, 22)),
            *held_by(few, finding(4, 11, 12)),
            *held_by(most, finding(5, 20, 22)),
        ]
        assert plan(rows, [there, few, most])[-1] == Retire(1, 3, is_closed=True)

    def test_of_two_heirs_of_as_many_it_is_the_oldest(self) -> None:
        there = alert(9, 10, 30)
        first, second = alert(2, 11, 12), alert(3, 20, 22)
        rows = held_by(there, finding(1, 20, 22), finding(2, 11, 12))
        assert plan(rows, [first, second, there])[-1] == Retire(9, 2, is_closed=True)

    def test_findings_that_are_gone_have_none_unless_others_took_their_place(self) -> None:
        there, other = alert(1, 10, 12), alert(2, 20, 22)
        old = replace(finding(1, 10, 12), is_proven=False)
        rows = [*held_by(there, old), *held_by(other, finding(2, 20, 22))]
        assert plan(rows, [there, other])[-1] == Retire(1, None, is_closed=True)
        rows[0] = replace(rows[0], superseded_by=2)
        assert plan(rows, [there, other])[-1] == Retire(1, 2, is_closed=True)

    def test_an_heir_that_was_its_duplicate_waits_in_its_place(self) -> None:
        there = alert(1, 10, 12, state="investigating", triaged=True)
        closed = {"state": "resolved", "resolution": "duplicate", "duplicate_of": 1}
        heir = alert(2, 13, 15, **closed)
        moved = held_by(there, finding(1, 13, 15))
        assert plan(moved, [there, heir])[2:] == [
            TakeUp(2, 1, "investigating", triaged=True),
            Retire(1, 2, is_closed=True),
        ]

    def test_an_heir_of_what_was_closed_stays_closed(self) -> None:
        there = alert(1, 10, 12, state="resolved", resolution="expected", triaged=True)
        closed = {"state": "resolved", "resolution": "duplicate", "duplicate_of": 1}
        heir = alert(2, 13, 15, triaged=True, **closed)
        moved = held_by(there, finding(1, 13, 15))
        assert plan(moved, [there, heir])[2:] == [Retire(1, 2, is_closed=False)]


class TestHolds:
    HELD = KnownHold(alert=1, series=5, after=10, last=20, is_loss=True)

    def within(self, **fields: Any) -> KnownFinding:
        after, last = fields.pop("after", 14), fields.pop("last", 16)
        return finding(1, after, last, **{"series": 5, **fields})

    def test_an_alert_stands_without_findings_while_it_is_held(self) -> None:
        there = alert(1, 10, 20)
        assert plan([], [there], [self.HELD]) == []
        assert plan([], [there]) == [Retire(1, None, is_closed=True)]

    def test_a_finding_below_the_threshold_is_enough(self) -> None:
        there = alert(1, 10, 20)
        small = self.within(after=10, last=20, is_large=False)
        assert plan([small], [there], [self.HELD]) == [Join(1, (1,))]

    def test_a_new_finding_of_its_step_moves_it(self) -> None:
        there = alert(1, 10, 20)
        assert plan([self.within()], [there], [self.HELD]) == [
            Move(1, CommitRange(16, 14, 16)),
            Join(1, (1,)),
        ]

    @pytest.mark.parametrize(
        "fields",
        [{"change_pct": GAIN}, {"change_pct": None}, {"after": 20, "last": 22}, {"series": 6}],
        ids=["a gain", "without a figure", "elsewhere", "another series"],
    )
    def test_another_change_opens_an_alert_of_its_own(self, fields: dict[str, Any]) -> None:
        there = alert(1, 10, 20)
        changes = plan([self.within(**fields)], [there], [self.HELD])
        assert [type(change) for change in changes] == [Open, Join]

    def test_its_finding_joins_it_where_another_keeps_it_at_its_commit(self) -> None:
        there = alert(1, 18, 20)
        rows = [self.within(), *held_by(there, finding(2, 18, 20))]
        assert plan(rows, [there], [self.HELD]) == [Join(1, (1,))]

    def test_of_two_that_hold_it_the_first_gets_it(self) -> None:
        first, second = alert(1, 10, 20), alert(2, 21, 23)
        holds = [self.HELD, replace(self.HELD, alert=2)]
        assert plan([self.within()], [first, second], holds)[-1] == Join(1, (1,))

    def test_one_that_does_not_stand_takes_nothing(self) -> None:
        closed = retired(1, 10, 20)
        changes = plan([self.within()], [closed], [self.HELD])
        assert changes[-1] == Join(2, (1,))

    def test_what_people_gave_away_leaves_it_closed_all_the_same(self) -> None:
        there, other = alert(1, 10, 20), alert(2, 30, 31)
        rows = [*held_by(there, self.within()), *held_by(other, finding(2, 30, 31))]
        given = [Assigned(2, 5, 14, 16)]
        assert plan(rows, [there, other], [self.HELD], given) == [
            Leave(1, (1,)),
            Join(2, (1,)),
            Retire(1, 2, is_closed=True),
        ]


class TestAssigned:
    def test_a_finding_goes_to_the_alert_that_a_person_named(self) -> None:
        there, other = alert(1, 10, 12), alert(2, 20, 22)
        rows = held_by(there, finding(1, 10, 12), finding(2, 11, 12))
        rows += held_by(other, finding(3, 20, 22))
        assert plan(rows, [there, other], assigned=[Assigned(2, 1, 10, 12)]) == [
            Refine(1, CommitRange(12, 11, 12)),
            Leave(1, (1,)),
            Join(2, (1,)),
        ]

    def test_what_a_person_gave_does_not_move_the_alert_but_counts_for_its_verdict(self) -> None:
        there = alert(1, 20, 22)
        rows = [*held_by(there, finding(1, 20, 22)), finding(2, 10, 12, change_pct=GAIN)]
        assert plan(rows, [there], assigned=[Assigned(1, 2, 10, 12)]) == [
            Turn(1, "regression", "mixed"),
            Join(1, (2,)),
        ]

    def test_a_split_off_finding_backs_an_alert_of_its_own(self) -> None:
        there = alert(1, 10, 14)
        apart = alert(2, 10, 13)
        rows = held_by(there, finding(1, 10, 14), finding(2, 10, 13))
        assert plan(rows, [there, apart], assigned=[Assigned(2, 2, 10, 13)]) == [
            Leave(1, (2,)),
            Join(2, (2,)),
        ]

    def test_a_finding_too_small_to_open_one_backs_none_alone(self) -> None:
        there = alert(1, 10, 13)
        rows = held_by(there, finding(1, 10, 13, is_large=False))
        assert plan(rows, [there], assigned=[Assigned(1, 1, 10, 13)]) == [
            Leave(1, (1,)),
            Retire(1, None, is_closed=True),
        ]

    def test_an_alert_whose_findings_point_at_anothers_commit_stays_where_it_stands(self) -> None:
        there, other = alert(1, 9, 10), alert(2, 11, 14)
        rows = [
            *held_by(there, finding(1, 11, 14, series=1)),
            *held_by(other, finding(2, 11, 14)),
        ]
        assert plan(rows, [there, other], assigned=[Assigned(1, 1, 11, 14)]) == []

    def test_a_group_that_was_merged_goes_whole(self) -> None:
        there, other = alert(1, 10, 12), alert(2, 20, 22)
        rows = held_by(there, finding(1, 10, 12), finding(2, 10, 12))
        rows += held_by(other, finding(3, 20, 22))
        assert plan(rows, [there, other], assigned=[Assigned(2, None, 10, 12)]) == [
            Leave(1, (1, 2)),
            Join(2, (1, 2)),
            Retire(1, 2, is_closed=True),
        ]


class TestBack:
    def test_an_alert_that_does_not_stand_moves_to_the_findings_it_gets_back(self) -> None:
        closed = retired(1, 10, 12, resolution="duplicate", duplicate_of=2)
        other = alert(2, 20, 22)
        rows = held_by(other, finding(1, 13, 14), finding(2, 20, 22))
        assert plan(rows, [closed, other], back={1: 1}) == [
            Move(1, CommitRange(14, 13, 14)),
            Leave(2, (1,)),
            Join(1, (1,)),
            Stand(1, "new"),
        ]

    def test_without_that_word_another_one_is_opened(self) -> None:
        closed = retired(1, 10, 12)
        other = alert(2, 20, 22)
        rows = held_by(other, finding(1, 13, 14), finding(2, 20, 22))
        assert plan(rows, [closed, other])[0] == Open(
            3, CommitRange(14, 13, 14), "regression", is_history=False
        )


class TestHistory:
    def test_an_alert_from_history_alone_is_born_asleep(self) -> None:
        opened, _ = plan([finding(1, 10, 12, is_history=True)])
        assert opened == Open(1, CommitRange(12, 10, 12), "regression", is_history=True)
        assert isinstance(opened, Open)
        assert (opened.made().state, opened.made().history) == ("snoozed", True)

    def test_one_present_opener_keeps_it_awake_and_a_small_one_does_not(self) -> None:
        old = finding(1, 10, 12, is_history=True)
        now = plan([old, finding(2, 10, 12)])[0]
        small = plan([old, finding(2, 10, 12, is_large=False)])[0]
        assert [isinstance(one, Open) and one.is_history for one in (now, small)] == [False, True]

    def test_one_that_all_recovered_from_is_recovered_when_it_opens(self) -> None:
        assert plan([finding(1, 10, 12, is_recovered=True)])[-1] == Settle(
            1, "recovered", "recovered"
        )


def test_one_build_a_side_opens_an_alert_that_states_it() -> None:
    doubtful = replace(finding(1, 10, 12), is_one_build=True)
    opened, *_ = plan([doubtful])
    assert opened == Open(
        1, CommitRange(12, 10, 12), "regression", is_history=False, is_one_build=True
    )


def test_a_finding_of_another_kind_beside_it_settles_the_alert() -> None:
    doubtful = replace(finding(1, 10, 12), is_one_build=True)
    opened, *_ = plan([doubtful, finding(2, 10, 12)])
    assert isinstance(opened, Open)
    assert not opened.is_one_build


def test_more_builds_confirm_it_and_fewer_leave_it_in_doubt_again() -> None:
    there = alert(1, 10, 12)
    held = held_by(there, finding(1, 10, 12))
    doubtful = [replace(one, is_one_build=True) for one in held]
    assert plan(held, [replace(there, one_build=True)]) == [MarkOneBuild(1, is_one_build=False)]
    assert plan(doubtful, [there]) == [MarkOneBuild(1, is_one_build=True)]
    assert plan(doubtful, [replace(there, one_build=True)]) == []


def test_what_passed_a_gate_of_its_own_is_not_asked_again() -> None:
    """Of 1,000 series that received the commit, .2 % is nothing; of one pair it is."""
    row = finding(1, 10, 12)
    row = replace(row, evidence=replace(row.evidence, p_value=0.002))
    passed = replace(row, evidence=replace(row.evidence, has_passed=True))
    assert plan([row], received={12: 1000}) == []
    assert plan([passed], received={12: 1000}) != []
