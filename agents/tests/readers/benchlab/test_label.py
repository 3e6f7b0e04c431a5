"""What the names of directories and images state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.readers.benchlab.label import parse_image, parse_label

from agents.tests.make import (
    RELEASE_11_1,
    bench,
    label_dir,
    modes,
    read,
    skipped,
    values_file,
)


@pytest.mark.parametrize(
    ("name", "revision", "tree", "tokens"),
    [
        ("", None, None, ()),
        ("303643", "r303643", None, ()),
        ("r368606", "r368606", None, ()),
        ("317849VIMAGE", "r317849", None, ("VIMAGE",)),
        ("295150mbuf", "r295150", None, ("mbuf",)),
        ("325006yandexD12685", "r325006", None, ("yandex", "D12685")),
        ("r368606D27401v4", "r368606", None, ("D27401v4",)),
        ("n277567D33658", "n277567", None, ("D33658",)),
        ("c255632", "c255632", None, ()),
        ("n257521-97be6fced7d", "n257521", None, ()),
        ("97be6fced7d", "97be6fced7d", None, ()),
        ("964774cf41c", "964774cf41c", None, ()),
        ("c964774cf41cVIMAGE", "c964774cf41c", None, ("VIMAGE",)),
        ("c255632-97be6fced7d", "c255632", None, ()),
        ("97be6fced7d0VIMAGE", "97be6fced7d0", None, ("VIMAGE",)),
        ("MAIN_n268154", "n268154", "freebsd-head", ()),
        ("STABLE13_n265892", "n265892", "freebsd-stable-13", ()),
        ("RELEASE12", None, None, ()),
        ("HEAD120", None, "freebsd-head", ()),
        ("HEAD120D12439", None, "freebsd-head", ("D12439",)),
        ("11.0", None, None, ()),
        ("11.1BETA1", None, None, ()),
        ("11.1BETA1yandex", None, None, ("yandex",)),
        ("GENERIC111yandex", None, None, ("GENERIC", "yandex")),
        ("tryforward", None, None, ("tryforward",)),
        ("netmap_n268154", "n268154", None, ("netmap",)),
    ],
)
def test_an_image_is_a_revision_and_what_was_changed(name, revision, tree, tokens):
    image = parse_image(name)
    assert (image.revision, image.tree, image.tokens) == (revision, tree, tokens)


@pytest.mark.parametrize(
    ("name", "revision", "tree", "segments"),
    [
        ("fbsd10.3", None, None, ()),
        ("fbsd.2016", None, None, ()),
        ("fbsd11-head.2015", None, "freebsd-head", ()),
        ("fbsd11.0vs11.1", None, None, ()),
        ("fbsd11.1-yandex", None, None, ("yandex",)),
        ("fbsd10.3.default10K", None, None, ("default10K",)),
        ("fbsd13-head.340244.D17901", "r340244", "freebsd-head", ("D17901",)),
        ("fbsd12-head.r329155IPSEC", "r329155", "freebsd-head", ("IPSEC",)),
        ("fbsd11-routing", None, "freebsd-projects-routing", ()),
        ("fbsd11-stable.r320490.BSDRP.1.80.5k", "r320490", "freebsd-stable-11", ("BSDRP.1.80.5k",)),
        ("fbsd12-head.r325006.yandex.D12685", "r325006", "freebsd-head", ("yandex", "D12685")),
        ("fbsd16-n311215.option-RSS.net.isr", "n311215", None, ("option-RSS.net.isr",)),
        ("fbsd13-r357572-2M_leg-0to12M_dos", "r357572", None, ("2M_leg-0to12M_dos",)),
        ("fbsd13-r357572-2-10", "r357572", None, ("2-10",)),
        ("fbsd-c255761-mlxperf", "c255761", None, ("mlxperf",)),
        ("fbsd14-97be6fced7d-x", "97be6fced7d", None, ("x",)),
        ("fbsd14-964774cf41c-x", "964774cf41c", None, ("x",)),
        ("fbsd14-main.n252701-964774cf41c", "n252701", "freebsd-head", ()),
        ("fbsd14-main.n273756-95242750383", "n273756", "freebsd-head", ()),
        ("fbsd14-main.n273756-9524275d3.vti", "n273756", "freebsd-head", ("vti",)),
        ("fbsd14-main.c12345678ab", "c12345678ab", "freebsd-head", ()),
        ("fbsd14-main-vs-stable13", None, None, ("main-vs-stable13",)),
        ("main-vs-stable13", None, None, ("main-vs-stable13",)),
    ],
)
def test_a_label_is_version_branch_revision_and_what_was_changed(name, revision, tree, segments):
    label = parse_label(name)
    assert (label.revision, label.tree, label.segments) == (revision, tree, segments)


@given(
    st.integers(10, 16),
    st.sampled_from([("", None), ("-head", "head"), ("-routing", "projects-routing")]),
    st.sampled_from(["", "r303643", "n277567"]),
    st.sampled_from(["", "yandex", "D12685", "iflib", "VIMAGE", "vti"]),
    st.sampled_from(".-"),
)
def test_the_parts_of_which_a_label_is_made_are_read_from_it(
    major, branch, revision, changed, separator
):
    written, tree = branch
    label = parse_label(separator.join(filter(None, [f"fbsd{major}{written}", revision, changed])))
    assert label.revision == (revision or None)
    assert label.tree == (tree and f"freebsd-{tree}")
    assert label.segments == ((changed,) if changed else ())


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("fbsd10.1", "freebsd-releng-10.1"),
        ("fbsd11.0BETA2", "freebsd-stable-11"),
        ("fbsd14-n272525", "freebsd-head"),
        ("fbsd11.0vs11.1", None),
        ("something", None),
    ],
)
def test_a_version_alone_suggests_a_tree(name, tree):
    assert parse_label(name).release_tree == tree


def ab(tmp_path, label, *images, **names):
    directory = label_dir(tmp_path, label)
    for image in images:
        prefix = ".".join(filter(None, (image, "pf")))
        bench(directory, prefix, [float(len(image)), 2.0, 3.0], image=image, cfg="pf", **names)
    return modes(tmp_path)


@pytest.mark.parametrize(
    ("label", "images", "expected"),
    [
        ("fbsd12-head.r317849.VIMAGE", ["317849", "317849VIMAGE"], ["pf", "pf+VIMAGE"]),
        (
            "fbsd12-head.r325006.yandex.D12685",
            ["325006yandex", "325006yandexD12685"],
            ["pf+D12685+yandex", "pf+yandex"],
        ),
        ("fbsd12-head.r323724.D12439", ["HEAD120", "HEAD120D12439"], ["pf", "pf+D12439"]),
        ("fbsd12-head.r320000.D4306", ["320000", "320000D4304"], ["pf", "pf+D4304"]),
        ("fbsd12-head.r329155IPSEC", ["329155", "329155IPSEC"], ["pf", "pf+IPSEC"]),
        ("fbsd11-head.r295150.mbuf_cleanup", ["295150", "295150mbuf"], ["pf", "pf+mbuf"]),
        ("fbsd14-n277567-D33658", ["n277567D33658"], ["pf+D33658"]),
        ("fbsd12-head.iflib", ["301000", "302000"], ["pf+iflib", "pf+iflib"]),
        ("main-vs-stable13", ["MAIN_n268154", "STABLE13_n265892"], ["pf", "pf"]),
        ("fbsd16-n311215.D58513", [""], ["pf+D58513"]),
        ("fbsd13-r365873.vti", [""], ["pf+vti"]),
        ("fbsd16-n311215.option-RSS.net.isr", [""], ["pf+option-RSS.net.isr"]),
        ("fbsd11-stable.r320490.BSDRP.1.80.5k", [""], ["pf+BSDRP.1.80.5k"]),
        ("fbsd11.1-yandex", [""], ["pf+yandex"]),
    ],
)
def test_what_was_changed_is_an_option_but_not_of_the_base_it_is_compared_with(
    tmp_path, label, images, expected
):
    assert ab(tmp_path, label, *images) == expected


def test_named_images_that_nothing_distinguishes_carry_their_names(tmp_path):
    assert ab(tmp_path, "fbsd11.1-test", "RELEASE11", "11.1", uname=RELEASE_11_1) == [
        "pf+11.1+test",
        "pf+RELEASE11+test",
    ]


def test_a_label_that_names_one_of_two_paired_configurations_is_no_option(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r365328-fastio", "HW/NIC/openvpn")
    for cfg in ("null", "null-fastio"):
        bench(label, cfg, cfg=cfg)
    assert modes(tmp_path) == ["null+openvpn", "null-fastio+openvpn"]


def test_nested_directories_are_options(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572-2M_leg-0to12M_dos")
    bench(label / "fbsd13-r357572-2-2", "ipfw", cfg="ipfw")
    bench(label / "fbsd13-r357572-2-10" / "RAW", "ipfw", cfg="ipfw")
    values_file(label / "fbsd13-r357572-2-10" / "ipfw.pps")
    runs = read(tmp_path)
    assert [str(run.mode) for run in runs] == [
        "ipfw+2-10+2M_leg-0to12M_dos",
        "ipfw+2-2+2M_leg-0to12M_dos",
    ]
    assert {run.revision for run in runs} == {"r357572"}


def test_raw_directories_with_a_suffix_are_options(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572")
    for number, queues in enumerate(("1rx", "8rx", "16rx"), 1):
        values = [1000.0 * number + i for i in range(3)]
        bench(label / f"RAW.{queues}", "ipfw", values, cfg="ipfw")
        values_file(label / f"ipfw.{queues}.pps", values)
    assert modes(tmp_path) == ["ipfw+16rx", "ipfw+1rx", "ipfw+8rx"]
    assert not skipped(tmp_path)


def test_values_of_raw_directories_with_a_suffix_may_have_any_name(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572")
    bench(label / "RAW.8rx", "ipfw", cfg="ipfw")
    values_file(label / "eight-queues.pps")
    assert modes(tmp_path) == ["ipfw+8rx"]


def test_options_hold_only_what_a_written_mode_can_carry(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849.a+b@c")
    bench(label, "pf", cfg="pf")
    assert modes(tmp_path) == ["pf+a_2bb_40c"]


def test_the_kernels_own_hash_is_no_option_though_it_looks_like_a_number(tmp_path):
    """One hash of 12 digits in 200 has no letter."""
    uname = (
        "FreeBSD netgate 15.0-CURRENT FreeBSD 15.0-CURRENT #2 n273871-646964895897 GENERIC  amd64"
    )
    label = label_dir(tmp_path, "fbsd15-main.646964895897")
    bench(label, "64696489589.pf", image="64696489589", cfg="pf", uname=uname)
    bench(label, "201706121230.pf", [1.0, 2.0, 3.0], image="201706121230", cfg="pf", uname=uname)
    assert modes(tmp_path) == ["pf", "pf+201706121230"]
