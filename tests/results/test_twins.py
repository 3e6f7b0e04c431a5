"""Names that may be one thing in two spellings, and names that are two things."""

import pytest

from tests.results.spellings import draw
from webapp.results.services.near_duplicates import suggest

SEEDS = range(100, 112)
"""None of them was looked at while the rules were written (these were 0 to 5)."""


def suggested(seed: int) -> tuple[set[frozenset[str]], set[frozenset[str]]]:
    """What is suggested of a drawn lab, and the truth."""
    drawn = draw(seed)
    found = {frozenset({one.one, one.other}) for one in suggest(drawn.names, drawn.together)}
    return found, drawn.truth


def test_nine_of_ten_suggestions_are_right_and_four_of_five_twins_are_found() -> None:
    suggestions = [suggested(seed) for seed in SEEDS]
    right = sum(len(found & truth) for found, truth in suggestions)
    precision = right / sum(len(found) for found, _ in suggestions)
    recall = right / sum(len(truth) for _, truth in suggestions)
    print(f"precision {precision:.3f}, recall {recall:.3f} of {right} right ones")
    assert precision >= 0.9
    assert recall >= 0.8


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("pf+Yandex", "pf+yandex", "only capitals differ"),
        ("pf+YANDEX", "pf+yandex", "only capitals differ"),
        ("no-bridge", "no_bridge", "only separators differ"),
        ("No.bridge", "no_bridge", "only capitals and separators differ"),
        ("ipfw-stateful", "ipfw-statefull", "only a doubled letter differs"),
        ("fastforwarding", "fastforwading", "one letter differs in a long word"),
        ("forwarding@inet4+a", "fowrarding@inet4+a", "one letter differs in a long word"),
        ("pf+a.b=5", "pf+A.b=5", "only capitals differ"),
    ],
)
def test_two_spellings_are_suggested_with_their_reason(one: str, other: str, reason: str) -> None:
    (twins,) = suggest([one, other])
    assert {twins.one, twins.other} == {one, other}
    assert twins.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pf+D12685", "pf+D12686"),
        ("pf+11.1", "pf+111"),
        ("pf+8rx", "pf+1rx"),
        ("pf@inet4", "pf@inet6"),
        ("pf+hw.cxgbe.nXxq=1", "pf+hw.cxgbe.nXxq=11"),
        ("pf+net.mode=On", "pf+net.mode=on"),
        ("4Mstates-32KBhash", "4Mstates-32MBhash"),
        ("ipf-stateful", "ipfw-stateful"),
        ("ipfw-stateful", "ipfw-stateless"),
        ("forwarding", "fastforwarding"),
        ("symmetric-flows", "asymmetric-flows"),
        ("pf+scheduler", "pf+scheduled"),
        ("pf+off", "pf+of"),
        ("pf", "pf+yandex"),
        ("pf+yandex", "pf@yandex"),
        ("pf@inet4+yandex", "pf@inet6+Yandex"),
    ],
)
def test_two_things_are_not_suggested(one: str, other: str) -> None:
    assert suggest([one, other]) == []


def test_what_was_measured_side_by_side_is_two_things_in_every_mode() -> None:
    names = ["pf+yandex", "pf+Yandex", "ipfw+yandex", "ipfw+Yandex", "ipfw-stateful+yandex"]
    assert len(suggest(names)) == 2
    assert suggest(names, {frozenset({"pf+yandex", "pf+Yandex"})}) == []


def test_modes_that_differ_in_two_words_are_suggested_with_both_reasons() -> None:
    (twins,) = suggest(["pf-statefull+Yandex", "pf-stateful+yandex"])
    assert twins.reason == "only a doubled letter differs; only capitals differ"


def test_of_three_spellings_all_pairs_are_suggested() -> None:
    assert len(suggest(["pf+YANDEX", "pf+Yandex", "pf+yandex"])) == 3
