"""The outline of a page leaves out what differs from one instance to the next, and nothing else."""

import pytest
from pytest_django.live_server_helper import LiveServer

from benchmarks.outline import Outline, outlines, plain
from tests import make

pytestmark = pytest.mark.bench

PAGE = '<p class="a">r1<b>2.5 %</b> 3 minutes ago</p><script>x</script><br><i>on 2026-11-22</i>'


def lines(page: str) -> list[str]:
    outline = Outline()
    outline.feed(page)
    return outline.lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("−11.4 % ± 0.9", "# % ± #"),
        ("1,254,882 pps", "# pps"),
        ("2 hours, 3 minutes ago", "@"),
        ("since 2016-08-02 10:00 UTC", "since @"),
        ("Nov. 2, 2026", "@"),
        ("r303643 is worse", "r# is worse"),
    ],
)
def test_numbers_and_moments_are_left_out(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_elements_are_kept_with_their_depth_and_classes() -> None:
    assert lines(PAGE) == [
        '<p class="a">',
        "  r#",
        "  <b>",
        "    # %",
        "  @",
        "<br>",
        "<i>",
        "  on @",
    ]


def test_another_word_or_class_is_seen() -> None:
    assert lines(PAGE) != lines(PAGE.replace('class="a"', 'class="b"'))
    assert lines(PAGE) != lines(PAGE.replace("on ", "at "))


def test_every_page_that_is_linked_is_read(live_server: LiveServer) -> None:
    make.series(on=make.hardware("Atom/T540"), in_mode="pf")
    found = dict(outlines(f"{live_server.url}/"))
    assert {"/", "/hardware/Atom/T#/", "/alerts/", "/quality/"} <= found.keys()
    assert all(found.values())
