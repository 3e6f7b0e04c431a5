"""One build a side of unknown noise: these builds differ, and no more can be told."""

from webapp.stats.compare.comparing import BuildNoise, Samples, Verdict, compare

BEFORE = [635734, 625167, 629014, 636936.5, 641688]
AFTER = [1207046, 1150867, 1139815.5, 1138692, 1146448]


def test_one_build_a_side_of_unknown_noise_proves_nothing_of_what_is_built() -> None:
    found = compare(BEFORE, AFTER, same_build=False)
    assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, "one_build_a_side")
    assert found.builds_differ
    assert found.change == compare(BEFORE, AFTER).change


def test_the_same_build_on_both_sides_needs_no_noise_between_builds() -> None:
    found = compare(BEFORE, AFTER, same_build=True, build_noise=BuildNoise(60, 20))
    assert (found.verdict, found.why) == (Verdict.BETTER, "")
    assert found.change.history is None


def test_known_noise_between_builds_or_two_builds_a_side_settle_it() -> None:
    assert compare(BEFORE, AFTER, same_build=False, build_noise=BuildNoise(2, 20)).why == ""
    a = Samples([100, 101, 99, 100], builds="ppqq")
    b = Samples([200, 201, 199, 200], builds="rrss")
    assert compare(a, b, same_build=False).verdict is Verdict.BETTER


def test_what_lies_within_the_margin_is_equivalent_with_one_build_a_side_too() -> None:
    found = compare([100, 100.1, 99.9], [100, 100.1, 99.9], same_build=False)
    assert (found.verdict, found.why) == (Verdict.EQUIVALENT, "")
