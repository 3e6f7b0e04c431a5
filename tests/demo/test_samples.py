"""Samples found again from figures."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.demo.benchdirs import FiguresError, solve_block
from webapp.demo.published import PUBLICATIONS, Block, PublishedRow, RowFigures
from webapp.stats import ministat

BLOCKS = [block for publication in PUBLICATIONS for block in publication.blocks]
OF_TEN = [block for block in BLOCKS if block.rows[0].figures.n == 10]


def figures_of(samples: list[float]) -> RowFigures:
    """What ministat prints for `samples`."""
    found = ministat.summarize(samples)
    numbers = (found.minimum, found.maximum, found.median, found.mean, found.stddev)
    return RowFigures(len(samples), *(float(f"{number:.8g}") for number in numbers))


def block_of(*rows: RowFigures) -> Block:
    named = tuple(PublishedRow("1", "forwarding", "", "r1", "forwarding", row) for row in rows)
    return Block(99, named, tuple(None for _ in rows[1:]))


def test_five_samples_are_those_that_made_the_figures() -> None:
    samples = [625167.0, 629014.0, 635734.0, 636936.5, 641688.0]
    assert solve_block(block_of(figures_of(samples))) == (tuple(samples),)


@given(st.lists(st.integers(200_000, 4_000_000), min_size=5, max_size=5))
def test_five_samples_are_found_again_or_refused_as_not_the_only_ones(halves: list[int]) -> None:
    samples = sorted(half / 2 for half in halves)
    try:
        found = solve_block(block_of(figures_of(samples)))
    except FiguresError as error:
        assert "sets of five samples" in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert found == (tuple(samples),)


def test_figures_that_no_samples_have_are_refused() -> None:
    good = figures_of([625167.0, 629014.0, 635734.0, 636936.5, 641688.0])
    with pytest.raises(FiguresError, match="no samples have the figures of block 99"):
        solve_block(block_of(replace(good, stddev=good.stddev * 2)))


def test_figures_that_two_sets_have_are_refused() -> None:
    # Around a wide scatter, moving the inner pair by half a packet changes no printed digit.
    samples = [100000.0, 2499999.0, 2500000.0, 2500001.0, 4900000.0]
    with pytest.raises(FiguresError, match="sets of five samples have the figures"):
        solve_block(block_of(figures_of(samples)))


def test_a_number_of_samples_without_a_rule_is_refused() -> None:
    with pytest.raises(FiguresError, match="rows of 4 samples"):
        solve_block(block_of(figures_of([1.0, 2.0, 3.0, 4.0])))


def test_a_difference_that_the_figures_do_not_carry_is_refused() -> None:
    block = BLOCKS[0]
    (difference,) = block.differences
    assert difference is not None
    wrong = replace(block, differences=(replace(difference, error=difference.error * 1.01),))
    with pytest.raises(FiguresError):
        solve_block(wrong)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(block.number))
def test_every_printed_figure_of_a_published_block_is_met(block: Block) -> None:
    rows = solve_block(block)
    assert all(row.figures.fit(samples) for row, samples in zip(block.rows, rows, strict=True))
    for figures, samples in zip(block.differences, rows[1:], strict=True):
        found = ministat.difference(rows[0], samples, flavour=block.flavour)
        assert found.proven == (figures is not None)
        assert figures is None or figures.fit(found)


@pytest.mark.parametrize("block", OF_TEN, ids=lambda block: str(block.number))
def test_ten_samples_lie_on_the_grid_and_are_the_same_at_every_call(block: Block) -> None:
    rows = solve_block(block)
    assert rows == solve_block(block)
    assert all(2 * sample == int(2 * sample) for samples in rows for sample in samples)
    assert all(list(samples) == sorted(samples) for samples in rows)
