"""Which commit a run measured, by what kernel, image and directory name."""

from dataclasses import replace

import pytest

from webapp.results.identity import NEAR, Bound, Evidence, Identity, Known, Trust, identify

HASH = "97be6fced7d"
LABELLED = Evidence(label="fbsd12-head.r303642", label_revision="r303642")
HISTORY = Known(Bound("r303643", ["r303643", f"{HASH}{'0' * 29}"]))


def kernel(revision: str = "", *, of: Evidence = LABELLED, **fields: str) -> Evidence:
    return replace(of, kernel_revision=revision, **fields)  # type: ignore[arg-type]


def filed(sent: str, evidence: Evidence, known: Known | None = None) -> str:
    found = identify(sent, evidence, known)
    assert not found.waits
    return found.revision


def test_without_a_kernel_the_names_hold() -> None:
    assert identify("r303642", LABELLED) == Identity("r303642")
    assert identify("r303642", Evidence()) == Identity("r303642")


def test_a_kernel_that_agrees_changes_nothing() -> None:
    assert identify("r303642", kernel("r303642")) == Identity("r303642")


def test_without_a_name_the_kernel_holds_and_a_hash_that_history_knows_goes_before_its_number() -> (
    None
):
    alone = Evidence(kernel_revision="r303640")
    assert filed("r303640", alone) == "r303640"
    found = identify("r303640", replace(alone, kernel_hash=HASH), HISTORY)
    assert found.revision == "r303643"
    assert "sent as r303640" in found.remark


@pytest.mark.parametrize("apart", [1, -1, NEAR, -NEAR])
def test_subversion_numbers_that_are_near_are_the_kernels(apart: int) -> None:
    found = identify("r303642", kernel(f"r{303642 + apart}"))
    assert found.revision == f"r{303642 + apart}"
    assert not found.alias
    assert f"{abs(apart)} commits away" in found.remark


@pytest.mark.parametrize("apart", [NEAR + 1, -NEAR - 1, 40_000])
def test_subversion_numbers_further_apart_wait(apart: int) -> None:
    found = identify("r303642", kernel(f"r{303642 + apart}"))
    assert found.waits
    assert found.revision == "r303642"
    assert [(one.revision, one.source) for one in found.candidates] == [
        (f"r{303642 + apart}", "kernel"),
        ("r303642", "label"),
    ]
    assert "fbsd12-head.r303642 names r303642" in found.candidates[1].text


COUNTED = Evidence(image="n277567D33658", image_revision="n277567", kernel_hash=HASH)


def test_all_commits_against_first_parents_are_one_commit() -> None:
    found = identify("n277567", kernel("n257521", of=COUNTED))
    assert (found.revision, found.alias) == ("n257521", "c277567")
    assert filed("n277567", kernel("n257521", of=COUNTED), Known(counts_all=True)) == "n277567"


@pytest.mark.parametrize("count", ["n277566", "n267568", "n237566", "n297613", "n277568"])
def test_counts_that_differ_otherwise_wait(count: str) -> None:
    assert identify("n277567", kernel(count, of=COUNTED)).waits


def test_pairs_that_the_tree_knows_show_how_much_is_merged() -> None:
    first = kernel("n257521", of=COUNTED)
    assert filed("n277567", first, Known(pairs=[(240_000, 258_500), (257_000, 277_000)]))
    assert identify("n277567", first, Known(pairs=[(257_000, 272_000)])).waits


def test_merged_commits_only_add_up_between_known_pairs() -> None:
    first = kernel("n257521", of=COUNTED)
    assert filed("n277567", first, Known(pairs=[(257_500, 277_500), (257_600, 277_700)]))
    assert identify("n277567", first, Known(pairs=[(257_500, 277_547), (257_600, 277_700)])).waits
    assert identify("n277567", first, Known(pairs=[(257_500, 277_500), (257_600, 277_645)])).waits


@pytest.mark.parametrize("label", ["n275521", "n277521"])
def test_a_count_that_one_slip_of_typing_makes_of_the_kernels_is_asked_about(label: str) -> None:
    evidence = replace(COUNTED, image="", image_revision="", label=label, label_revision=label)
    assert identify(label, kernel("n257521", of=evidence)).waits
    known = Known(pairs=[(257_521, int(label[1:]))])
    assert filed(label, kernel("n257521", of=evidence), known) == "n257521"


def test_the_known_pair_of_a_commit_leaves_no_other_count() -> None:
    """One of both is of another commit: as an alias it would misfile whatever names it later."""
    first = kernel("n257521", of=COUNTED)
    assert filed("n277567", first, Known(pairs=[(257_521, 277_567)])) == "n257521"
    for other in (277_566, 277_568, 277_967):
        assert identify("n277567", first, Known(pairs=[(257_521, other)])).waits


def test_far_known_pairs_leave_room_for_what_was_merged_since() -> None:
    first = kernel("n257521", of=COUNTED)
    assert filed("n277567", first, Known(pairs=[(245_200, 255_632)])) == "n257521"
    assert filed("n277567", first, Known(pairs=[(270_000, 299_000)])) == "n257521"


def test_counts_of_two_kernels_are_no_pair_however_far_the_known_one() -> None:
    label = Evidence(label_revision="n248343")
    for pair in ((258_000, 272_000), (280_000, 308_000), (240_000, 250_400)):
        assert identify("n248343", kernel("n247738", of=label), Known(pairs=[pair])).waits


def test_a_label_that_repeats_the_kernels_number_does_not_contradict_its_hash() -> None:
    """History may call that commit otherwise: it counts first parents, old kernels all commits."""
    counted = Evidence(label_revision="c255632", kernel_revision="c255632", kernel_hash=HASH)
    found = identify("c255632", counted, Known(Bound("n245210", ["n245210"])))
    assert (found.revision, found.waits, found.alias) == ("n245210", False, "c255632")
    assert "c255632" in found.remark


@pytest.mark.parametrize("trust", ["", "kernel"])
def test_a_count_that_only_a_name_gives_is_not_among_first_parents(trust: Trust) -> None:
    label = Evidence(label_revision="n311215", trust=trust)
    for found in (identify("n311215", one) for one in (label, replace(label, kernel_hash=HASH))):
        assert (found.revision, found.waits) == ("c311215", False)
        assert "may count all commits" in found.remark
        assert "--trust label" in found.remark


def test_a_count_is_where_a_kernel_the_tree_or_the_uploader_puts_it() -> None:
    label = Evidence(label_revision="n311215")
    assert filed("n311215", replace(label, kernel_revision="n311215")) == "n311215"
    assert filed("n311215", replace(label, kernel_revision="c311215")) == "c311215"
    assert filed("n311215", label, Known(counts_all=True)) == "n311215"
    assert filed("n311215", replace(label, trust="label")) == "n311215"
    assert filed("n311215", Evidence()) == "n311215"  # a document that names it


def test_numbers_of_two_kinds_wait() -> None:
    assert identify("r303642", kernel("n257521")).waits
    assert identify("n277567", kernel("c255632", of=COUNTED)).waits


def test_history_binds_by_hash() -> None:
    ours = kernel(kernel_hash=HASH)
    assert filed("r303642", ours, HISTORY) == "r303643"  # near
    exact = replace(ours, label_revision="r303643")
    assert identify("r303643", exact, HISTORY) == Identity("r303643")
    far = replace(ours, label_revision="r309257")
    assert [one.revision for one in identify("r309257", far, HISTORY).candidates] == [
        "r303643",
        "r309257",
    ]


def test_a_hash_that_no_history_holds_contradicts_no_number() -> None:
    """One commit of the tree that builds images was in four kernels of four revisions."""
    found = identify("r309257", Evidence(image_revision="r309257", kernel_hash="f1e5c15"))
    assert found.revision == "r309257"
    assert "f1e5c15" in found.remark


def test_an_old_count_of_all_commits_is_no_hash() -> None:
    found = identify("c255632", Evidence(label_revision="c255632", kernel_hash=HASH))
    assert (found.revision, found.waits) == ("c255632", False)
    assert HASH in found.remark


def test_hashes_are_compared_by_their_start() -> None:
    short = Evidence(label_revision=HASH[:8], kernel_hash=HASH)
    assert filed(HASH[:8], short) == HASH[:8]
    assert filed(HASH[:8], kernel("n257521", of=short)) == "n257521"
    other = replace(short, label_revision="a1b2c3d")
    assert identify("a1b2c3d", other).waits
    assert identify("a1b2c3d", kernel("n257521", of=other)).waits


@pytest.mark.parametrize(("trust", "revision"), [("kernel", "r309257"), ("label", "r303642")])
def test_the_uploader_may_choose_whom_to_believe(trust: str, revision: str) -> None:
    assert filed("r303642", kernel("r309257", trust=trust)) == revision


def test_a_typing_error_of_a_label_does_not_matter_where_the_image_agrees_with_the_kernel() -> None:
    wrong = Evidence(label_revision="r654937", image_revision="r364937")
    assert filed("r364937", kernel("r364937", of=wrong)) == "r364937"


COUNTED_LABEL = f"fbsd14-main.n257521-{HASH}"
OF_GIT = Evidence(label=COUNTED_LABEL, label_revision="n257521", kernel_revision="n257521")


@pytest.mark.parametrize("own", [HASH, HASH[:9], f"{HASH}123456"])
def test_a_hash_in_the_label_that_begins_as_the_kernels_agrees(own: str) -> None:
    assert filed("n257521", replace(OF_GIT, kernel_hash=own)) == "n257521"


@pytest.mark.parametrize("known", [None, Known(Bound("n257521", ["n257521", "1234567890a" * 3]))])
def test_another_hash_in_the_label_waits_though_the_numbers_agree(known: Known | None) -> None:
    found = identify("n257521", replace(OF_GIT, kernel_hash="1234567890a"), known)
    assert [one.revision for one in found.candidates] == ["n257521", HASH]
    assert found.candidates[1].text == f"the label {COUNTED_LABEL} names {HASH}"


def test_a_hash_of_digits_alone_behind_a_count_is_one() -> None:
    label = OF_GIT.label.replace(HASH, "1234567")
    assert identify("n257521", replace(OF_GIT, label=label, kernel_hash=HASH)).waits
    assert filed("n257521", replace(OF_GIT, label=label, kernel_hash="1234567abcd")) == "n257521"


def test_a_hash_in_the_label_counts_for_nothing_where_the_kernel_has_none_or_the_image_agrees() -> (
    None
):
    assert filed("n257521", OF_GIT) == "n257521"
    images = replace(OF_GIT, image="n257521", image_revision="n257521", kernel_hash="1234567890a")
    assert filed("n257521", images) == "n257521"
    image = replace(images, image=f"n257521-{HASH}")
    assert identify("n257521", image).waits


def test_whom_the_uploader_trusts_decides_between_hashes() -> None:
    trusting = replace(OF_GIT, kernel_hash="1234567890a", trust="label")
    assert filed("n257521", trusting) == HASH
    assert filed("n257521", replace(trusting, trust="kernel")) == "n257521"


@pytest.mark.parametrize("word", ["D33658", "yandex", "fbsd14", "20160102", "facade", "e5-2650"])
def test_words_in_a_label_are_no_hashes(word: str) -> None:
    label = f"fbsd14-main.n257521.{word}"
    assert filed("n257521", replace(OF_GIT, label=label, kernel_hash="1234567890a")) == "n257521"


def test_a_hash_that_the_kernel_names_instead_of_a_number_is_no_second_candidate() -> None:
    of_commit = replace(OF_GIT, kernel_revision=HASH, kernel_hash="1234567890a")
    assert [one.revision for one in identify("n257521", of_commit).candidates] == [HASH, "n257521"]
