"""Flame graphs and differences as SVG."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.charts.flame.trees import HOSTILE, large_calls, random_calls, stacks
from webapp.charts.flame.layout import Flame, difference, frames
from webapp.charts.flame.svg import (
    CHARACTER,
    change_of,
    cut,
    cut_label,
    flame_picture,
    flame_svg,
    legend,
    title_of,
)
from webapp.pages.pictures import png_bytes, svg_bytes
from webapp.stats.profiles.calls import Function, calls_of
from webapp.stats.profiles.sides import aligned

SPACE = "{http://www.w3.org/2000/svg}"
SIMPLE = stacks("a@kernel;b;c@pf.ko 600", "a@kernel;b 300", "a@kernel;d@if_igb.ko 100")


def changed() -> Flame:
    both = aligned(stacks("a;b 60", "a;gone 40"), stacks("a;b 20", "a;new 60"))
    return difference(both.calls, a=both.a * 1.0, b=both.b * 1.0)


def groups(image: str) -> list[ET.Element]:
    """The rectangles of a drawing as groups."""
    return [one for one in ET.fromstring(image).iter(f"{SPACE}g") if one.get("data-x")]


def title(group: ET.Element) -> str:
    found = group.find(f"{SPACE}title")
    assert found is not None
    return found.text or ""


def test_a_page_has_each_frame_in_percent_with_its_name_and_its_tooltip() -> None:
    found = {title(one).split()[0]: one for one in groups(flame_svg(frames(SIMPLE), described=""))}
    d = found["d"]
    box = d.find(f"{SPACE}rect")
    assert box is not None
    assert (box.get("x"), box.get("width"), box.get("y")) == ("90.0000%", "10.0000%", "48")
    assert (d.get("data-x"), d.get("data-w"), d.get("data-depth")) == ("900", "100", "2")
    name = d.find(f"{SPACE}svg/{SPACE}text")
    assert name is not None
    assert name.text == "d"
    assert title(d) == "d (if_igb.ko)\n100 samples, 10.0 % of all\nitself 100 samples, 10.0 %"


def test_a_drawing_of_a_page_is_one_image_with_a_text_and_without_a_stop() -> None:
    image = ET.fromstring(flame_svg(frames(SIMPLE), described="Flame graph of r1 & r2"))
    assert (image.get("role"), image.get("width")) == ("img", "100%")
    assert image.findtext(f"{SPACE}title") == "Flame graph of r1 & r2"
    assert not any("tabindex" in one.attrib for one in image.iter())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_a_page_and_in_a_picture(name: str) -> None:
    calls = calls_of([{(Function(name, name), Function("b", "kernel")): 5}])
    flame = frames(calls)
    images = (
        flame_svg(flame, described=name),
        flame_picture(flame, title=name, lines=[name]),
        svg_bytes(flame_picture(flame, title=name)).decode(),
    )
    for image in images:
        tags = {one.tag.removeprefix(SPACE) for one in ET.fromstring(image).iter()}
        assert tags <= {"svg", "g", "rect", "text", "title", "defs", "pattern", "path", "style"}
        assert len(groups(image)) == 3
        label = groups(image)[1].get("data-name", "")
        assert "\n" not in label
        assert len(label) == len(name)
    assert png_bytes(flame_picture(flame, title=name)).startswith(b"\x89PNG")


@settings(max_examples=20)
@given(name=st.text(max_size=300))
def test_any_name_leaves_the_drawing_well_formed(name: str) -> None:
    flame = frames(calls_of([{(Function(name, name),): 5}]))
    assert len(groups(flame_svg(flame, described=name))) == 2


def test_no_drawing_has_a_style_or_a_script() -> None:
    image = flame_svg(frames(random_calls(1)), described="") + flame_svg(changed(), described="")
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", image)


def test_names_in_a_picture_end_where_their_frames_do() -> None:
    calls = stacks(*(f"a;{'long_name_' * 4}{one} {one}" for one in range(1, 30)))
    for group in groups(flame_picture(frames(calls), title="")):
        box, name = group.find(f"{SPACE}rect"), group.find(f"{SPACE}text")
        assert box is not None
        if name is not None and name.text:
            assert len(name.text) * CHARACTER <= float(box.get("width", ""))


@pytest.mark.parametrize(
    ("text", "pixels", "expected"),
    [("bcmp", 40, "bcmp"), ("ip_tryforward", 40, "ip_tr…"), ("bcmp", 18, ""), ("a", 6, "")],
)
def test_a_name_is_cut_with_a_mark_or_left_out(text: str, pixels: float, expected: str) -> None:
    assert cut(text, pixels) == expected


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [(90, "−12.3 bcmp"), (60, "−12.3 bc…"), (40, "−12.3"), (30, "−"), (7, "−"), (6, "")],
)
def test_a_change_is_never_cut_to_another_number(pixels: float, expected: str) -> None:
    assert cut_label("−12.3", "bcmp", pixels) == expected


def test_a_change_is_in_the_text_of_its_frame_and_of_its_tooltip() -> None:
    found = {one.name: one for one in changed().frames}
    assert change_of(found["b"]) == "−40.0"
    assert "−40.0 b" in flame_svg(changed(), described="")
    assert "−40.0 b" in flame_picture(changed(), title="")
    assert title_of(found["b"], changed()) == (
        "b\n60.0 → 20.0 %: −40.0 points\nitself 20.0 % on side B"
    )
    assert title_of(found["new"], changed()).startswith("new\nnew: 60.0 %, +60.0 points")
    assert "gone" not in found


def test_the_legend_of_a_difference_is_its_scale_in_points() -> None:
    texts = [one.text for one in legend(changed())]
    assert texts[0] == "8 points cheaper or more"
    assert texts[3] == "less than 0.5 points"
    assert texts[5] == "2 to 8 points dearer"
    assert len(texts) == 7


def test_the_legend_of_a_graph_has_its_modules_and_the_hatching_where_it_is_used() -> None:
    assert [one.text for one in legend(frames(SIMPLE))] == [
        "kernel",
        "no module",
        "if_igb.ko",
        "pf.ko",
    ]
    assert legend(frames(stacks("0xffffffff80a1b2c3 3")))[-1].text == "no symbol"


def test_a_picture_has_its_title_its_lines_and_its_legend() -> None:
    image = flame_picture(changed(), title="D12685", lines=["E5-2650, inet6", "5 boots a side"])
    texts = [one.text for one in ET.fromstring(image).iter(f"{SPACE}text")]
    assert {"D12685", "E5-2650, inet6", "5 boots a side", "2 to 8 points dearer"} <= set(texts)


def test_a_picture_has_the_colours_of_its_theme() -> None:
    light, dark = (
        svg_bytes(flame_picture(changed(), title=""), theme=one).decode()
        for one in ("light", "dark")
    )
    assert "cheaper-3 rect{fill: #82b8dc;}" in light
    assert "cheaper-3 rect{fill: #2b6290;}" in dark
    assert "var(--" not in light + dark


def test_a_page_of_the_largest_graph_has_five_thousand_rectangles_at_most() -> None:
    image = flame_svg(frames(large_calls(), least_px=0.05), described="")
    assert 2000 < image.count("<rect") <= 5002


def test_what_is_all_hidden_is_drawn_as_an_empty_frame() -> None:
    flame = frames(stacks())
    assert "0 samples" in title(groups(flame_svg(flame, described=""))[0])
    assert groups(flame_picture(flame, title="nothing"))
