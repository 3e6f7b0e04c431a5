"""What agent and server say of the lab archive is what docs/figures.md lists, row by row."""

import pytest

from benchmarks.archives.outcomes import outcomes_of
from tests.archive.goldens import ARCHIVE
from tests.places import PROJECT

pytestmark = [
    pytest.mark.long,
    pytest.mark.archive,
    pytest.mark.skipif(not ARCHIVE.is_dir(), reason="no lab archive beside the checkout"),
]
BEGIN, END = "<!-- outcomes -->\n", "\n<!-- end of outcomes -->"


def test_the_documentation_lists_every_rejection_skip_warning_remark_and_waiting_run() -> None:
    figures = (PROJECT / "docs" / "figures.md").read_text(encoding="utf-8")
    listed = figures.partition(BEGIN)[2].partition(END)[0]

    assert listed.split("\n") == outcomes_of(ARCHIVE).to_markdown().split("\n")
