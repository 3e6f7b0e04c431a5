"""What agent and server report of the lab archive is what docs/figures.md lists, row by row."""

import json

import pytest

from benchmarks import recorded
from benchmarks.archives.outcomes import outcomes_of
from tests.archive.goldens import ARCHIVE

pytestmark = [
    pytest.mark.long,
    pytest.mark.archive,
    pytest.mark.skipif(not ARCHIVE.is_dir(), reason="no lab archive beside the checkout"),
]


def test_the_documentation_lists_every_rejection_skip_warning_remark_and_waiting_run() -> None:
    kept = json.loads((recorded.RESULTS / "archives-outcomes.json").read_text(encoding="utf-8"))

    assert kept["blocks"] == recorded.blocks(outcomes_of(ARCHIVE).to_markdown())
