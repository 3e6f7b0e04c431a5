from webapp.stats.compare.comparing import BuildNoise, Samples, compare
from webapp.stats.compare.explain import explain

BEFORE = [635734, 625167, 629014, 636936.5, 641688]
AFTER = [1207046, 1150867, 1139815.5, 1138692, 1146448]
UNKNOWN = "the noise between boots and builds is not known and not counted"


def test_a_proven_change_is_explained_by_its_interval() -> None:
    assert explain(compare(BEFORE, AFTER)) == (
        "Better: 82.5 % more, and the 95 % interval from +77.1 to +88 % excludes 0; 5 against 5 "
        f"runs, Welch's t on logarithms with 5.4 degrees of freedom; {UNKNOWN}."
    )


def test_an_equivalence_names_the_margin() -> None:
    boots = range(3)
    a = Samples([100, 100.1, 100.2], boots=boots)
    b = Samples([101, 101.1, 101], boots=boots)
    assert explain(compare(a, b)) == (
        "Equivalent (different, but negligible): 0.932 % more, and the whole 95 % interval from "
        "+0.726 to +1.14 % lies within ±2 %; 3 against 3 boots, Welch's t on logarithms with 3.2 "
        "degrees of freedom; the noise between builds is not known and not counted."
    )


def test_an_open_question_names_the_smallest_visible_change_and_the_history() -> None:
    found = compare(BEFORE, [x * 0.99 for x in BEFORE], build_noise=BuildNoise(2, 30))
    assert explain(found) == (
        "Cannot tell: 1 % less, but the 95 % interval from −6.68 to +5.03 % includes 0 and is not "
        "within ±2 %; the smallest change seen four times in five is 8.74 %; 5 against 5 runs and "
        "2 % between builds from the history, Welch's t on logarithms with 33.0 degrees of "
        "freedom; the noise between boots is not known and not counted."
    )


def test_missing_scatter_is_named() -> None:
    assert explain(compare([1], [2, 3])) == (
        "Cannot tell: 1 against 2 runs leave a side without scatter to judge 145 % more by; "
        f"{UNKNOWN}."
    )
    assert explain(compare([2] * 3, [1] * 3)) == (
        "Cannot tell: no scatter at all in 3 against 3 runs to judge 50 % less by, and ranks alone "
        f"cannot reach 95 % (smallest possible p = 0.1); {UNKNOWN}."
    )
    assert "5 against 5 runs without any scatter, enough for ranks alone" in explain(
        compare([2] * 5, [1] * 5)
    )


def test_a_level_that_may_be_zero_is_named() -> None:
    assert explain(compare([0] * 5, [1, 2, 3, 4, 5])).startswith(
        "Better: more than A at 95 % confidence, but A's mean is not clearly different from zero, "
        "so there is no percentage; 5 against 5 runs, Welch's t on means, Fieller's limits"
    )
    assert explain(compare([0, 0, 1], [1, 2, 3])).startswith(
        "Cannot tell: the difference is not proven and has no percentage; 3 against 3 runs"
    )


def test_equal_levels_are_called_no_change() -> None:
    assert explain(compare([7.01] * 5, [7.01] * 5)).startswith(
        "Equivalent: no change, and the whole"
    )


def test_one_build_a_side_states_what_would_settle_it() -> None:
    found = compare([100, 101, 99], [89, 88.6, 88.2], same_build=False)
    assert explain(found).startswith(
        "Worse: 11.4 % less, and the 95 % interval from −16.9 to −5.57 % excludes 0; one build a "
        "side, 3 against 3 runs, builds believed to scatter by 1.8 %"
    )
    found = compare([100, 101, 99], [96, 95.6, 95.2], same_build=False)
    assert explain(found).startswith(
        "Cannot tell: runs of these builds differ (4.4 % less), but builds of equal code do too, "
        "and with their scatter the 95 % interval from −10.3 to +1.88 % includes 0: 2 more builds "
        "a side would settle it; one build a side, 3 against 3 runs"
    )
