"""Options: what labels, images and directories say was changed."""

import pytest

from agents.tests.make import (
    RELEASE_11_1,
    bench,
    label_dir,
    modes,
    read,
    skipped,
    values_file,
)


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


def test_named_images_that_nothing_tells_apart_carry_their_names(tmp_path):
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
