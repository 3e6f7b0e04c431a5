"""What colours the frames of a flame graph."""

import pytest

from tests.charts.flame.trees import stacks
from webapp.charts.flame.layout import difference, frames
from webapp.charts.flame.svg import (
    HUES,
    STEPS,
    classes_of,
    has_symbol,
    hues,
    step_class,
    step_of,
)
from webapp.stats.profiles.sides import aligned

MANY = [f"if_{one}.ko" for one in range(40)]


def test_the_kernel_is_apart_and_so_is_what_has_no_module() -> None:
    found = hues(["/boot/kernel/kernel", "[kernel.kallsyms]", "", "pf.ko"])
    assert found["/boot/kernel/kernel"] == found["[kernel.kallsyms]"] == "hue-kernel"
    assert found[""] == "hue-none"
    assert found["pf.ko"] in {f"hue-{one}" for one in range(HUES)}


def test_modules_differ_as_long_as_there_are_hues() -> None:
    for first in range(len(MANY) - HUES):
        assert len(set(hues(MANY[first : first + HUES]).values())) == HUES
    assert len(hues(MANY)) == len(MANY)


def test_a_module_keeps_its_hue_whatever_directory_and_order() -> None:
    assert hues(["/boot/kernel/pf.ko"]).popitem()[1] == hues(["/boot/modules/pf.ko"]).popitem()[1]
    assert hues(MANY[:4]) == hues(reversed(MANY[:4]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bcmp", True),
        ("added", True),
        ("0xffffffff80a1b2c3", False),
        ("ffffffff80a1b2c3", False),
        ("[unknown]", False),
        ("unknown_function", True),
        ("??", False),
    ],
)
def test_an_address_is_no_symbol(name: str, expected: bool) -> None:
    assert has_symbol(name) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (0.0, "same"),
        (0.49, "same"),
        (-0.49, "same"),
        (0.5, "dearer-1"),
        (-2.0, "cheaper-2"),
        (7.9, "dearer-2"),
        (30.0, "dearer-3"),
        (-22.0, "cheaper-3"),
    ],
)
def test_a_change_is_coloured_by_points_and_not_by_ratio(change: float, expected: str) -> None:
    assert step_class(step_of(change)) == expected
    assert step_of(-change) == -step_of(change)
    assert len(STEPS) == 3


def test_an_unchanged_function_stays_neutral_where_others_shrink() -> None:
    """Its share rises from 20 to 40 %, its cost does not."""
    both = aligned(stacks("same 20", "shrunk 80"), stacks("same 20", "shrunk 30"))
    flame = difference(both.calls, a=both.a * 1.0, b=both.b * 1.0)
    found = {one.name: css for one, css in zip(flame.frames, classes_of(flame), strict=True)}
    assert found["same"] == "frame same"
    assert found["shrunk"] == "frame cheaper-3"


def test_a_frame_has_the_hue_of_its_module_and_its_callers_fade() -> None:
    calls = stacks("a@kernel;b@pf.ko;0xffffffff80a1b2c3 3")
    whole = frames(calls)
    root = next(one.key for one in whole.frames if one.name == "b")
    hue = hues(["pf.ko"])["pf.ko"]
    above = ["frame hue-none above", "frame hue-kernel above"]
    assert classes_of(frames(calls, root=root)) == [*above, f"frame {hue}", "frame no-symbol"]
