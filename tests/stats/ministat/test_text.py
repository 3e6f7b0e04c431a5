import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats import OutOfRangeError
from webapp.stats.ministat import LEVELS, difference, difference_lines, render, summarize

IGUANA = [50, 200, 150, 400, 750, 400, 150]
CHAMELEON = [150, 400, 720, 500, 930]
FLAT = [0, 5, 10]
TALL = [0, 5, 5, 5, 5, 10]
HEADER = "    N           Min           Max        Median           Avg        Stddev"

any_points = st.lists(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float),
    min_size=3,
    max_size=20,
)


def picture(*sets: list[float], width: int, separate_bars: bool = False) -> list[str]:
    """The lines inside the frame of a plot."""
    named = [("set", values) for values in sets]
    text = render(named, width=width, separate_bars=separate_bars, quiet=True)
    frame = "+" + "-" * width + "+"
    assert text.count(frame) == 2
    return text.split(frame)[1].strip("\n").split("\n")


def statistics_of(*sets: list[float], **options) -> list[str]:
    named = [("set", values) for values in sets]
    return render(named, plot=False, quiet=True, **options).splitlines()


def test_the_manual_pages_example_prints_the_manual_pages_table() -> None:
    text = render([("iguana", IGUANA), ("chameleon", CHAMELEON)], plot=False)
    assert text == (
        "x iguana\n"
        "+ chameleon\n"
        f"{HEADER}\n"
        "x   7            50           750           200           300     238.04761\n"
        "+   5           150           930           500           540     299.08193\n"
        "No difference proven at 95.0% confidence\n"
    )


def test_a_real_change_prints_what_its_author_published() -> None:
    before = [635734, 625167, 629014, 636936.5, 641688]
    after = [1207046, 1150867, 1139815.5, 1138692, 1146448]
    text = render([("r303642", before), ("r303643", after)], separate_bars=True)
    assert text == (
        "x r303642\n"
        "+ r303643\n"
        "+--------------------------------------------------------------------------+\n"
        "|xx                                                               +        |\n"
        "|xxx                                                             +++      +|\n"
        "||A|                                                                       |\n"
        "|                                                               |_M_A__|   |\n"
        "+--------------------------------------------------------------------------+\n"
        f"{HEADER}\n"
        "x   5        625167        641688        635734      633707.9     6580.0951\n"
        "+   5       1138692       1207046       1146448     1156573.7     28649.353\n"
        "Difference at 95.0% confidence\n"
        "\t522866 +/- 30314.6\n"
        "\t82.509% +/- 5.05534%\n"
        "\t(Student's t, pooled s = 20785.6)\n"
    )


def test_every_later_set_is_compared_with_the_first_at_once() -> None:
    lines = statistics_of([1, 2, 3], [1, 2, 3], [101, 102, 103])
    assert [line[0] for line in lines] == ["x", "+", "N", "*", "D", "\t", "\t", "\t"]
    assert lines[5] == "\t100 +/- 2.26659"


def test_brief_leaves_plot_and_comparison_out_and_quiet_the_names() -> None:
    sets = [("a", [1, 2, 3]), ("b", [5, 6, 7])]
    rows = [
        "x   3             1             3             2             2             1",
        "+   3             5             7             6             6             1",
    ]
    assert render(sets, brief=True).splitlines() == ["x a", "+ b", HEADER, *rows]
    assert render(sets, brief=True, quiet=True).splitlines() == rows


def test_overlapping_points_show_the_symbol_of_the_ored_set_numbers() -> None:
    sets = [FLAT] * 7
    corners = [picture(*sets[:n], width=11)[0][1] for n in range(1, 8)]
    assert corners == ["x", "*", "*", "O", "O", "O", "O"]
    assert picture(FLAT, [1, 2, 3], FLAT, [5, 6, 7], width=11)[0] == "|*+++ O%%  *|"


def test_the_plot_is_as_high_as_the_last_set_only() -> None:
    assert picture(FLAT, TALL, width=11)[:4] == ["|     +     |"] * 3 + ["|*    *    *|"]
    assert picture(TALL, FLAT, width=11)[0] == "|*    *    *|"


def test_rows_added_by_a_later_set_start_blank() -> None:
    rows = picture(TALL, FLAT, [0, 7, 7, 7, 10], width=11)
    assert rows[:3] == ["|       *   |", "|       *   |", "|*    * *  *|"]


def test_the_bar_spans_one_standard_deviation_with_median_and_mean() -> None:
    assert picture(FLAT, width=11)[-1] == "||____A____||"
    assert picture([0, 4, 4, 7, 10], width=11)[-1] == "| |__MA___| |"


def test_bars_share_a_row_unless_separated() -> None:
    other = [0, 4, 4, 7, 10]
    assert picture(FLAT, other, width=11)[2:] == ["|||__MA___|||"]
    assert picture(FLAT, other, width=11, separate_bars=True)[2:] == [
        "||____A____||",
        "| |__MA___| |",
    ]


def test_equal_values_have_no_plot() -> None:
    text = render([("a", [2, 2, 2]), ("b", [2, 2, 2])])
    assert text.splitlines()[2] == "[no plot, span is zero width]"


def test_values_whose_span_overflows_have_no_plot() -> None:
    text = render([("a", [-1e308, 0, 1e308])], quiet=True)
    assert text.splitlines()[0] == "[no plot, span is not finite]"


def test_zero_means_print_what_c_prints() -> None:
    assert statistics_of([-1, 0, 1], [9, 10, 11])[4] == "\tinf% +/- inf%"
    assert statistics_of([0, 0, 0], [9, 10, 11])[4] == "\tinf% +/- -nan%"
    assert statistics_of([0, 0, 0], [9, 10, 11], flavour="2015")[4] == "\tinf% +/- inf%"
    assert statistics_of([0, 0, 0], [-9, -9, -9])[4] == "\t-inf% +/- -nan%"


def test_a_negative_first_mean_prints_a_negative_relative_error() -> None:
    assert statistics_of([-1, -2, -3], [9, 10, 11])[4].startswith("\t-600% +/- -")


def test_constant_sets_that_differ_are_a_difference_without_error() -> None:
    assert statistics_of([1, 1, 1], [2, 2, 2])[3:5] == ["\t1 +/- 0", "\t100% +/- 0%"]


def test_levels_are_named_as_the_program_names_them() -> None:
    baseline, other = summarize([1, 2, 3]), summarize([1, 2, 4])
    sentences = [difference_lines(difference(baseline, other, c), baseline)[0] for c in LEVELS]
    assert sentences[0] == "No difference proven at 80.0% confidence"
    assert sentences[-1] == "No difference proven at 99.5% confidence"


@pytest.mark.parametrize("count", [0, 8])
def test_one_to_seven_sets_are_taken(count: int) -> None:
    with pytest.raises(OutOfRangeError, match="1 to 7"):
        render([("a", [1, 2, 3])] * count)


def test_impossible_widths_and_levels_are_refused() -> None:
    with pytest.raises(OutOfRangeError, match="at least 2"):
        render([("a", [1, 2, 3])], width=1)
    with pytest.raises(OutOfRangeError, match="no support"):
        render([("a", [1, 2, 3])], confidence=97)


@given(
    st.lists(any_points, min_size=1, max_size=7),
    st.integers(2, 120),
    st.sampled_from(LEVELS),
    st.booleans(),
)
def test_any_finite_points_render_in_a_closed_frame(sets, width, level, separate) -> None:
    named = [(f"set {i}", values) for i, values in enumerate(sets)]
    lines = render(named, width=width, confidence=level, separate_bars=separate).splitlines()
    assert {len(line) for line in lines if line.startswith("|")} <= {width + 2}
    assert lines.count(HEADER) == 1


@given(st.lists(st.integers(0, 1000).map(float), min_size=3, max_size=40), st.integers(2, 120))
def test_a_single_set_draws_each_point_once(values: list[float], width: int) -> None:
    if len(set(values)) > 1:
        assert "".join(picture(values, width=width)[:-1]).count("x") == len(values)
