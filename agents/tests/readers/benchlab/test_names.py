"""File names → image, configuration, preset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.readers.benchlab.drafts import Info, Names, names_of_prefix, read_names


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("1024", Names("", "", "1024")),
        ("8192", Names("", "8192", "")),
        ("1", Names("", "1", "")),
        ("ipfw-at-nic-level.8rx", Names("", "ipfw-at-nic-level.8rx", "")),
        ("net.isr.dispatch.10M", Names("", "net.isr.dispatch", "10M")),
        ("11.0.ipf-statefull.inet4", Names("11.0", "ipf-statefull", "inet4")),
        ("11.1BETA1.forwarding.inet6", Names("11.1BETA1", "forwarding", "inet6")),
        ("295150mbuf.ipfw-statefull", Names("295150mbuf", "ipfw-statefull", "")),
    ],
)
def test_a_prefix_alone_is_read_from_both_ends(prefix, names):
    assert names_of_prefix(prefix) == names


IMAGES = (
    *("303643", "n277567D33658", "MAIN_n268154", "STABLE13_n265892", "97be6fced7d"),
    *("HEAD120D12439", "GENERIC111yandex"),
)


@given(
    st.sampled_from(["", *IMAGES]),
    st.sampled_from(["", "forwarding", "pf", "ipf-statefull"]),
    st.sampled_from(["", "inet4", "inet6"]),
)
def test_the_names_of_which_a_prefix_is_made_are_read_from_it(image, configuration, preset):
    prefix = ".".join(filter(None, (image, configuration, preset)))
    assert names_of_prefix(prefix) == Names(image, configuration, preset)


def test_an_image_known_from_the_directory_is_recognised_without_a_number():
    assert names_of_prefix("tryfwd.v2.forwarding", ["tryfwd.v2"]) == Names(
        "tryfwd.v2", "forwarding"
    )


def test_the_info_distinguishes_a_numeric_configuration_from_a_preset():
    assert read_names("128", Info(cfg="128"), ()) == Names("", "128", "")
    assert read_names("128", Info(pktgen="128"), ()) == Names("", "", "128")


@pytest.mark.parametrize(
    ("prefix", "info"),
    [
        ("128KBhash", Info(cfg="4Mstates-128KBhash", pktgen="9800")),
        ("128", Info(cfg="pf-statefull", pktgen="128")),
        ("512.inet4", Info(cfg="state-512", pktgen="inet4")),
        ("forwarding", Info(image="HEAD120", cfg="forwarding")),
    ],
)
def test_a_file_name_that_is_only_a_part_leaves_the_word_to_the_info(prefix, info):
    assert read_names(prefix, info) == Names(info.image, info.cfg, info.pktgen)


@pytest.mark.parametrize(
    ("prefix", "info", "names"),
    [
        ("2048_default", Info(cfg="2046_default"), Names("", "2048_default", "")),
        ("forwarding", Info(cfg="fastforwarding"), Names("", "forwarding", "")),
        ("r368606D27401v4.inet4", Info(pktgen="inet4"), Names("r368606D27401v4", "", "inet4")),
    ],
)
def test_files_renamed_after_the_run_are_right(prefix, info, names):
    assert read_names(prefix, info) == names


def test_an_old_info_gives_the_configuration_and_the_file_name_the_image():
    info = Info(image="295150", cfg="fastforwarding", old=True)
    assert read_names("295150mbuf.fastforwarding", info) == Names("295150mbuf", "fastforwarding")
    assert read_names("fastforwarding", info) == Names("295150", "fastforwarding")
    assert read_names("2", Info(cfg="2", old=True)) == Names("", "2")
