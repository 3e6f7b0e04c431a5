"""A bisect in words."""

from dataclasses import replace

import pytest

from webapp.stats.bisection import (
    Boot,
    Evidence,
    Forecast,
    Kind,
    Noise,
    Plan,
    Purpose,
    decide,
    forecast_text,
    headline,
    report,
)
from webapp.stats.bisection.sentences import duration

PLAN = Plan((1.0,) * 8, -2.0, Noise(0.2), names=tuple(f"r{30 + i}" for i in range(9)))
SEARCH = tuple(
    Boot(i, -2.0 if i >= 4 else 0.0, purpose=Purpose.SEARCHING) for i in (0, 8, 0, 8, 4, 3)
)
CONFIRMED = SEARCH + tuple(
    Boot(i, -2.0 if i >= 4 else 0.0, purpose=Purpose.CONFIRMING) for i in (4, 3, 4)
)
COMING = Forecast(2.0, 5.0, 0.66, 1.5, {Kind.SINGLE: 0.95, Kind.RANGE: 0.05}, 40)


def said(evidence, plan=PLAN, coming=None):
    return headline(plan, decide(plan, evidence), coming)


def test_the_headline_names_the_leaders_and_what_is_left():
    weak = Evidence((*SEARCH[:5], Boot(3, -0.8, purpose=Purpose.SEARCHING)))

    text = said(weak, replace(PLAN, noise=Noise(0.5)), COMING)

    assert text.startswith(("5", "6", "7", "8", "9"))
    assert "r31" in text
    assert "r34" in text
    assert text.endswith("; 2 to 5 boots left, about 40 min")


def test_before_anything_is_known_nobody_leads():
    assert said(Evidence()).startswith("None of 8 candidates leads")


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (Evidence(CONFIRMED), "r34, over 99 %"),
        (
            Evidence((*SEARCH[:4], *(SEARCH[4], Boot(2, 0.0)) * 9), skipped=frozenset({3})),
            "One of r33, r34, over 99 %",
        ),
        (Evidence(failure="No power."), "Lab failed"),
    ],
)
def test_the_end_is_said_in_a_line(evidence, text):
    assert said(evidence) == text


def test_other_endings_are_said_in_a_line():
    ended = decide(PLAN, Evidence(CONFIRMED))

    def ending(kind, **more):
        outcome = replace(ended.outcome, kind=kind, **more)
        return headline(PLAN, replace(ended, outcome=outcome))

    assert ending(Kind.NOT_REPRODUCED) == "Not reproduced"
    assert ending(Kind.INCONCLUSIVE) == "Inconclusive"
    assert ending(Kind.INCONCLUSIVE, more_boots=12) == "Inconclusive, needs about 12 more boots"
    assert ending(Kind.TWO_STEPS, second=(6, 7)) == "Two steps: r34 and r36 to r37, over 99 %"
    assert ending(Kind.RANGE, candidates=tuple(range(1, 9))).startswith("One of 8 from r31 to r38")


def test_a_forecast_is_said_with_its_outcomes():
    assert forecast_text(COMING) == (
        "about 2 boots, 40 min; 90 %: 5 boots; likely to end as: 95 % single, 5 % range"
    )


def test_a_report_has_the_answer_the_reason_and_what_people_did():
    evidence = Evidence(CONFIRMED, skipped=frozenset({7}), excluded=frozenset({1}))

    text = report(PLAN, evidence, decide(PLAN, evidence))

    assert text.startswith("## Bisect of r30 … r38\n\n**r34, over 99 %**\n")
    assert "* Effort: 9 boots (6 searching, 3 confirming)" in text
    assert "* Could not be measured: r37" in text
    assert "* Ruled out by a person: r31" in text
    assert "| r34 | over 99 % | 3 |" in text
    assert "| 7 others | under 1 % | |" in text


def test_no_name_in_a_report_is_markup():
    names = tuple(f"r{i}|<b>[x](y)" for i in range(9))
    evidence = Evidence(CONFIRMED, skipped=frozenset({7}))

    text = report(replace(PLAN, names=names), evidence, decide(PLAN, evidence))

    assert text.count("r4\\|\\<b>\\[x\\](y)") >= 2
    assert "[x]" not in text
    assert "|<" not in text


def test_durations_are_short():
    assert [duration(h) for h in (0.0, 0.66, 2.17)] == ["0 min", "40 min", "2 h 10"]


def test_sizes_are_percent_of_the_level_before_and_not_logarithms():
    level = 1600.0
    far = tuple(
        Boot(i, level + (-36.0 if i >= 4 else 0.0), purpose=Purpose.SEARCHING)
        for i in (0, 8, 0, 8, 0, 8, 4, 3, 4, 3)
    )
    wild = Boot(2, level + 69.0, purpose=Purpose.SEARCHING)

    decision = decide(replace(PLAN, effect=-36.0), Evidence((*far, wild)))

    assert "r32 (+99." in decision.text
    assert "alerted −30.23 %" in report(
        replace(PLAN, effect=-36.0), Evidence((*far, wild)), decision
    )
