"""A README read: title, bullets, blocks with the prose above them."""

import pytest

from tests.experiments.steps import FAST, LABELS, SLOW, readme
from webapp.experiments.directories import Figures, Typed, read_typed, same_text, shared_label


def test_a_readme_is_a_title_bullets_blocks_and_prose() -> None:
    found = read_typed(readme())
    assert found.title == "Impact of r300001 on pf"
    assert found.bullets == ("Atom C2758 with 8 cores", "FreeBSD r300001")
    (block,) = found.blocks
    assert block.names == LABELS
    assert block.heading == "pf gains a quarter:"
    assert block.figures == (Figures.of(SLOW), Figures.of(FAST))
    assert found.closing.startswith("Thanks to <b>all</b>")


def test_a_name_that_looks_like_figures_is_a_name() -> None:
    """``x 325006 with …`` has a number and as many words as a row of figures."""
    labels = ("325006 with Some patches: inet4 pps", "325006 with More patches: inet4 pps")
    (block,) = read_typed(readme(labels=labels)).blocks
    assert block.names == labels


def test_the_sets_of_a_block_are_known_by_their_figures_in_any_order() -> None:
    (block,) = read_typed(readme()).blocks
    assert block.order_among([Figures.of(SLOW), Figures.of(FAST)]) == (0, 1)
    assert block.order_among([Figures.of(FAST), Figures.of(SLOW)]) == (1, 0)
    assert block.order_among([Figures.of(FAST), Figures.of((1.0, 2.0))]) is None
    assert block.order_among([Figures.of(SLOW)] * 2) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", Typed()),
        ("\n\n", Typed()),
        ("- a bullet\n", Typed(bullets=("a bullet",))),
        ("a title\nprose", Typed("a title", closing="prose")),
        ("a title\n```\ncode\n", Typed("a title", closing="```\ncode")),
        ("a\n![p](g.png)\n", Typed("a")),
    ],
)
def test_what_is_missing_is_empty(text: str, found: Typed) -> None:
    assert read_typed(text) == found


@pytest.mark.parametrize(
    ("labels", "shared"),
    [
        (["303642.forwarding.pps", "303642.pf.pps"], "303642"),
        (["r1 with VIMAGE forwarding", "r1 with VIMAGE.pf"], "r1 with VIMAGE"),
        (["patched: inet4 pps", "patched: inet6 pps"], "patched"),
        (["pf"], ""),
        (["pf", "pf"], ""),
        ([], ""),
        (["pf", "ipfw"], ""),
    ],
)
def test_a_side_is_called_what_its_labels_begin_with(labels: list[str], shared: str) -> None:
    assert shared_label(labels) == shared


def test_blocks_are_the_same_whatever_their_white_space() -> None:
    assert same_text("a\n\tb c\n\n", "a\n        b  c")
    assert not same_text("a\nb", "a b")
