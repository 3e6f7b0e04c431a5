"""The figures of the published comparisons, against the documents that printed them."""

import json
from pathlib import Path
from typing import Any

import pytest

from webapp.demo.benchdirs import solve_block
from webapp.demo.published import PUBLICATIONS, Block
from webapp.stats import ministat

GOLDENS = Path(__file__).parents[2].parent / "shared" / "goldens" / "seed_blocks.json"
BLOCKS = [block for publication in PUBLICATIONS for block in publication.blocks]

archive = [
    pytest.mark.archive,
    pytest.mark.skipif(not GOLDENS.exists(), reason="the lab archive is not beside the checkout"),
]


def golden(block: Block) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDENS.read_text())[block.number]
    return found


def without_names(text: str) -> str:
    """A block as printed from its plot on, white space as ministat prints it."""
    lines = text.splitlines()
    plot = next(i for i, line in enumerate(lines) if line.startswith("+--"))
    return "\n".join(
        "\t" + line.strip() if line[:1].isspace() and "N  " not in line else line
        for line in lines[plot:]
    )


def test_there_are_twelve_blocks_in_five_publications() -> None:
    assert len(PUBLICATIONS) == 5
    assert [block.number for block in BLOCKS] == list(range(12))


def test_no_two_rows_share_their_files() -> None:
    for publication in PUBLICATIONS:
        names = [row.prefix for block in publication.blocks for row in block.rows]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(block.number))
class TestAgainstTheDocuments:
    pytestmark = archive

    def test_the_figures_are_those_that_were_printed(self, block: Block) -> None:
        columns = ("min", "max", "median", "avg", "stddev")
        for row, printed in zip(block.rows, golden(block)["rows"], strict=True):
            assert row.figures.n == printed["n"]
            assert row.figures.printed == tuple(float(printed[name]) for name in columns)

    def test_the_differences_are_those_that_were_printed(self, block: Block) -> None:
        columns = ("delta", "delta_err", "pct", "pct_err", "pooled_s")
        for figures, printed in zip(block.differences, golden(block)["differences"], strict=True):
            assert (figures is not None) == printed["proven"]
            if figures is not None:
                assert figures.printed == tuple(float(printed[name]) for name in columns)

    def test_five_samples_are_those_that_the_lab_measured(self, block: Block) -> None:
        for samples, source in zip(solve_block(block), golden(block)["inputs"], strict=True):
            measured = sorted(float(value) for value in source["values"])
            assert len(samples) == 10 or list(samples) == measured

    def test_the_block_is_the_printed_one_and_with_five_samples_so_is_its_plot(
        self, block: Block
    ) -> None:
        rows = solve_block(block)
        sets = [(row.prefix, samples) for row, samples in zip(block.rows, rows, strict=True)]
        text = ministat.render(sets, separate_bars=True, flavour=block.flavour)
        ours, theirs = without_names(text), without_names(golden(block)["text"])
        if block.rows[0].figures.n == 10:
            ours, theirs = (one[one.index("    N  ") :] for one in (ours, theirs))
        assert ours == theirs
