"""Which findings make one alert."""

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence, group, verdict_of


def finding(number: int, after: int, last: int, **changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "at": last,
        "verdict": "worse",
        "p_value": 1e-9,
        "is_large": True,
    }
    return Evidence(finding=number, after=after, last=last, **(fields | changes))


@st.composite
def findings(draw: st.DrawFn) -> Evidence:
    after = draw(st.integers(0, 60))
    last = after + draw(st.integers(1, 15))
    return finding(
        draw(st.integers(1, 10**6)),
        after,
        last,
        at=draw(st.integers(after + 1, last)),
        verdict=draw(st.sampled_from(["worse", "better"])),
        is_large=draw(st.booleans()),
        p_value=draw(st.sampled_from([1e-9, 1e-3, 0.3])),
    )


many = st.lists(findings(), max_size=25, unique_by=lambda row: row.finding)


def members(rows: list[Evidence], **received: int) -> list[tuple[int, list[int]]]:
    return [
        (one.suspect, sorted(row.finding for row in (*one.openers, *one.joiners)))
        for one in group(rows, {int(at[1:]): count for at, count in received.items()})
    ]


def test_findings_that_suspect_one_commit_make_one_alert() -> None:
    rows = [
        finding(1, 10, 20, at=17),
        finding(2, 15, 17),
        finding(3, 12, 30),
        finding(4, 17, 25),
    ]
    assert members(rows) == [(17, [1, 2, 3]), (25, [4])]


def test_a_finding_that_begins_after_the_suspect_is_not_its_own() -> None:
    assert members([finding(1, 10, 20), finding(2, 20, 30)]) == [(20, [1]), (30, [2])]


def test_signed_effects_make_a_regression_an_improvement_or_both() -> None:
    assert verdict_of(["worse", "worse"]) == "regression"
    assert verdict_of(["better"]) == "improvement"
    assert verdict_of(["better", "worse"]) == "mixed"


def test_a_small_finding_joins_and_opens_nothing() -> None:
    assert members([finding(1, 9, 10), finding(2, 8, 12, is_large=False)]) == [(10, [1, 2])]
    assert members([finding(2, 8, 12, is_large=False)]) == []


def test_a_small_finding_does_not_pull_the_suspect_to_its_right_end() -> None:
    rows = [finding(1, 9, 14), finding(2, 8, 12, is_large=False)]
    assert members(rows) == [(14, [1])]


def test_weak_evidence_among_many_series_opens_nothing_and_alone_it_does() -> None:
    weak = finding(1, 9, 10, p_value=0.01)
    assert members([weak], r10=2) == [(10, [1])]
    assert members([weak], r10=100) == []


def test_the_likeliest_revision_is_the_one_that_most_findings_name() -> None:
    rows = [finding(1, 9, 14, at=12), finding(2, 9, 15, at=12), finding(3, 9, 15, at=11)]
    assert [one.likeliest for one in group(rows, {})] == [12]


def test_findings_whose_revisions_exclude_each_other_make_two_alerts() -> None:
    """Only a commit that neither of them names could hold both."""
    assert members([finding(1, 4, 6, at=6), finding(2, 0, 5, at=1)]) == [(5, [2]), (6, [1])]


@given(rows=many, seed=st.integers(0, 99))
def test_the_order_of_the_findings_does_not_matter(rows: list[Evidence], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert group(shuffled, {}) == group(rows, {})


@given(rows=many)
def test_every_member_may_be_of_its_commit_and_no_finding_is_in_two_alerts(
    rows: list[Evidence],
) -> None:
    seen: list[int] = []
    for one in group(rows, {}):
        assert one.openers
        assert one.after < one.likeliest <= one.suspect
        pointing = [row for row in one.openers if row.suspects(one.likeliest)]
        assert any(row.at == one.likeliest for row in pointing)
        assert all(row.suspects(one.suspect) for row in pointing)
        for row in one.members:
            assert row.near[0] < one.likeliest <= row.near[1]
            seen.append(row.finding)
    assert len(seen) == len(set(seen))


@given(rows=many)
def test_no_large_finding_is_lost(rows: list[Evidence]) -> None:
    certain = {row.finding for row in rows if row.is_large and row.p_value < 1e-6}
    found = {row.finding for one in group(rows, {}) for row in one.openers}
    assert certain <= found


@given(rows=many)
def test_no_two_alerts_share_a_commit_that_is_named(rows: list[Evidence]) -> None:
    groups = sorted(group(rows, {}), key=lambda one: one.likeliest)
    for earlier, later in pairwise(groups):
        assert earlier.suspect < later.likeliest <= later.suspect


@given(rows=many, data=st.data())
def test_positions_that_changed_since_lose_no_finding(
    rows: list[Evidence], data: st.DataObject
) -> None:
    anywhere = st.integers(0, 80)
    places = st.lists(st.tuples(anywhere, st.floats(0, 1)), max_size=4).map(sorted).map(tuple)
    moved = [
        replace(
            row,
            is_large=True,
            p_value=1e-9,
            at=data.draw(anywhere),
            last=data.draw(anywhere),
            locations=data.draw(places),
        )
        for row in rows
    ]
    held = [row.finding for one in group(moved, {}) for row in one.members]
    assert sorted(held) == sorted(row.finding for row in moved)


def test_thousands_of_findings_that_overlap_are_grouped_by_what_they_share() -> None:
    """A lab of ten years: neighbours overlap, and each commit is shown by three series."""
    rows = [
        placed(3 * at + one, (at - 1, 0.0), (at, 0.9), (at + 1, 0.06), (at + 2, 0.04))
        for at in range(1, 1500)
        for one in range(3)
    ]
    found = group(rows, {})
    assert [one.likeliest for one in found] == list(range(1, 1500))
    assert {len(one.openers) for one in found} == {3}


def placed(number: int, *places: tuple[int, float], **changes: Any) -> Evidence:
    """A finding whose change began at one of ``places``, each with its probability."""
    likely = [one for one in places if one[1]]
    at = max(likely, key=lambda one: one[1])[0]
    return finding(number, places[0][0], places[-1][0], at=at, locations=places, **changes)


def test_series_that_can_hardly_tell_move_no_commit_that_others_tell_clearly() -> None:
    clear = [placed(one, (19, 0.0), (20, 0.97), (21, 0.03)) for one in (1, 2)]
    weak = [placed(one, (17, 0.0), (18, 0.38), (19, 0.25), (20, 0.27), (21, 0.1)) for one in (3, 4)]
    [one] = group([*clear, *weak], {})
    assert (one.likeliest, one.suspect, len(one.openers)) == (20, 21, 4)


def test_a_finding_that_names_another_commit_is_not_held_because_intervals_overlap() -> None:
    here = [placed(one, (19, 0.0), (20, 0.95), (21, 0.05)) for one in (1, 2)]
    near = placed(3, (19, 0.0), (20, 0.002), (21, 0.038), (22, 0.96))
    small = placed(4, (18, 0.0), (20, 0.02), (22, 0.98), is_large=False)
    found = [
        (one.likeliest, [row.finding for row in one.members])
        for one in group([*here, near, small], {})
    ]
    assert found == [(20, [1, 2]), (22, [3, 4])]


def test_a_commit_that_a_series_did_not_measure_shows_in_the_next_that_it_did() -> None:
    rows = [placed(1, (19, 0.0), (20, 1.0)), placed(2, (15, 0.0), (24, 0.9), (30, 0.1))]
    assert [(one.likeliest, len(one.openers)) for one in group(rows, {})] == [(20, 2)]


@given(rows=many, seed=st.integers(0, 99))
def test_what_people_assigned_is_where_they_put_it_whatever_the_order(
    rows: list[Evidence], seed: int
) -> None:
    rows = [replace(row, series=number) for number, row in enumerate(rows, 1)]
    assignments = [
        Assigned(alert=7, series=row.series, after=row.after, last=row.last) for row in rows[:3]
    ]
    shuffled = random.Random(seed).sample(rows, len(rows))
    found = group(rows, {}, assignments, {7: 30})
    assert group(shuffled, {}, assignments, {7: 30}) == found
    theirs = {row.finding for one in found if one.alert == 7 for row in one.members}
    assert theirs == {row.finding for row in rows[:3]}
    others = [one for one in found if one.alert is None]
    assert others == group(rows[3:], {})


def test_what_points_at_a_merged_commit_goes_to_the_alert_that_it_was_merged_into() -> None:
    rows = [finding(1, 9, 10), finding(2, 19, 20), finding(3, 18, 22)]
    found = group(rows, {}, [Assigned(alert=7, series=None, after=15, last=20)], {7: 10})
    alerts = [(one.alert, one.suspect, [row.finding for row in one.members]) for one in found]
    assert alerts == [(None, 10, [1]), (7, 20, [2, 3])]


class TestCosts:
    def test_a_cost_sharpens_where_its_parent_changed(self) -> None:
        rows = [finding(1, 22, 29, series=1), finding(2, 25, 26, series=9, parents=(1, 2))]
        assert members(rows) == [(26, [1, 2])]

    def test_a_cost_is_no_alert_of_its_own_beside_its_parent(self) -> None:
        """Another series stabs the parent's interval where the cost's does not reach."""
        rows = [
            finding(1, 20, 30, at=22, series=1),
            finding(2, 25, 30, series=9, parents=(1,)),
            finding(3, 20, 22, series=5),
        ]
        assert members(rows) == [(22, [1, 2, 3])]

    def test_from_a_strangers_alert_it_is_kept_apart(self) -> None:
        rows = [finding(2, 25, 30, series=9, parents=(1,)), finding(3, 20, 22, series=5)]
        assert members(rows) == [(22, [3]), (30, [2])]

    def test_a_parent_that_opens_nothing_joins_the_cost(self) -> None:
        rows = [
            finding(1, 20, 30, series=1, is_large=False),
            finding(2, 25, 28, series=9, parents=(1,)),
        ]
        assert members(rows) == [(28, [1, 2])]

    def test_a_cost_states_nothing_of_the_verdict_beside_its_parent(self) -> None:
        parent = finding(1, 22, 29, series=1, verdict="better")
        cost = finding(2, 25, 26, series=9, parents=(1, 2))
        assert [one.verdict for one in group([parent, cost], {})] == ["improvement"]
        alone = replace(parent, series=7)
        assert [one.verdict for one in group([alone, cost], {})] == ["mixed"]
        assert [one.verdict for one in group([cost], {})] == ["regression"]

    @given(many, st.data())
    def test_costs_never_make_more_alerts_of_their_parents_commits(
        self, rows: list[Evidence], data: st.DataObject
    ) -> None:
        measured = [replace(row, series=at) for at, row in enumerate(rows)]
        if not measured:
            return
        number = st.integers(0, len(measured) - 1)
        costs = [
            replace(one, finding=-1 - at, series=1000 + at, parents=(parent,))
            for at, (one, parent) in enumerate(
                (data.draw(findings()), data.draw(number)) for _ in range(3)
            )
        ]
        both = [*measured, *costs]
        groups = group(both, {})
        opening = {row.finding for one in groups for row in one.openers}
        for cost in costs:
            of_parent = [
                row
                for row in measured
                if row.series in cost.parents
                and row.finding in opening
                and cost.shares_a_commit_with(row)
            ]
            if of_parent:
                (its,) = [one for one in groups if of_parent[0] in one.members]
                assert cost in its.members
                assert sum(cost in one.members for one in groups) == 1
