"""Blocks that a lab published with its results, against what we print for the same samples."""

import json
from pathlib import Path

import pytest

from webapp.stats.ministat import render

GOLDENS = Path(__file__).parents[3].parent / "shared" / "goldens"
FILES = ("seed_blocks.json", "ministat_blocks.json")

pytestmark = [
    pytest.mark.archive,
    pytest.mark.skipif(not GOLDENS.is_dir(), reason="no lab archive beside the checkout"),
]


def blocks(identity: set[str]) -> list[dict]:
    read = [block for name in FILES for block in json.loads((GOLDENS / name).read_text())]
    return [block for block in read if block["reproduced_by"]["identity"] in identity]


def reproduced(block: dict) -> str:
    how = block["reproduced_by"]
    options = how["options"] or []
    return render(
        [(i["label"], [float(value) for value in i["values"]]) for i in block["inputs"]],
        width=int(options[options.index("-w") + 1]) if "-w" in options else 74,
        separate_bars="-s" in options,
        plot=block["plot_width"] is not None,
        flavour=how["flavour"] or "current",
    )


def test_every_block_that_is_identical_to_the_byte_is_reproduced() -> None:
    chosen = blocks({"byte"})
    assert len(chosen) == 41
    for block in chosen:
        assert reproduced(block) == block["text"], block["id"]


def test_every_block_whose_tabs_were_expanded_is_reproduced() -> None:
    chosen = blocks({"whitespace"})
    assert len(chosen) == 16
    for block in chosen:
        assert reproduced(block).replace("\t", " " * 8) == block["text"], block["id"]


def test_every_block_cut_by_hand_is_reproduced_up_to_the_cut() -> None:
    chosen = blocks({"fail"})
    assert len(chosen) == 6
    for block in chosen:
        *kept, cut = reproduced(block).splitlines(keepends=True)
        assert "".join(kept) == block["text"], block["id"]
        assert cut.startswith("\t(Student's t, pooled s = "), block["id"]
