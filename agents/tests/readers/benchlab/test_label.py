"""What a label says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.readers.benchlab.label import parse_label


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
