"""Profiles of every format: what is read of them, and what is refused with which remedy."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.errors import AgentError
from labagent.readers.profiles import FORMATS, UnreadProfileError, perl_folded, read_profile
from labagent.readers.profiles.base import MOST_DEPTH, MOST_ROWS

from agents.tests import profiles as made
from agents.tests.test_fuzz import damaged

ARCHIVE = Path(__file__).parents[3].parent / "shared" / "netbenches"

SAMPLES = {
    "pmcstat": made.GRAPH.encode(),
    "folded": made.FOLDED.encode(),
    "perf": made.PERF.encode(),
    "bpftrace": made.BPFTRACE.encode(),
    "btrace": made.BTRACE.encode(),
    "pprof": made.packed_pprof(),
}


@pytest.fixture
def read(tmp_path):
    """Reads a profile of these bytes under this name."""

    def read(data, name="bench.pf.1.graph"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read_profile(path)

    return read


@pytest.fixture
def refused(read):
    """The error about these bytes."""

    def refused(data, name="x"):
        with pytest.raises(UnreadProfileError) as caught:
            read(data, name)
        assert caught.value.remedy
        assert caught.value.path.name == name
        return str(caught.value)

    return refused


def names(profile, section=0):
    """The stacks of a section by the names of their functions."""
    return {
        ";".join(name for name, _ in stack): count
        for stack, count in profile.sections[section].items()
    }


def test_each_format_is_known_by_its_content_whatever_the_name(read):
    assert set(SAMPLES) == {form.name for form in FORMATS}
    for name, data in SAMPLES.items():
        assert read(data, "bench.pf.svg").format == name


def test_a_graph_gives_every_sample_to_the_row_at_which_its_chain_ended(read):
    profile = read(made.GRAPH)
    assert names(profile) == {
        "ip_input;ipfw_chk;ipfw_dyn_lookup;bcmp": 3,
        "ip_input;bcmp": 2,
        "bcmp": 1,
        "fork_exit;sched_idletd;cpu_idle": 4,
    }
    assert profile.expected == [10, 3]
    assert (profile.samples, profile.truncated, profile.warnings) == (13, False, [])
    assert (profile.event, profile.cores) == ("CPU_CLK_UNHALTED_CORE", 2)


def test_a_row_without_a_module_has_that_of_the_row_printed_before_it(read):
    first = max(read(made.GRAPH).sections[0], key=len)
    assert first == (
        ("ip_input", "kernel"),
        ("ipfw_chk", "ipfw"),
        ("ipfw_dyn_lookup", "ipfw"),
        ("bcmp", "kernel"),
    )


def test_parts_of_a_function_are_that_function_and_addresses_are_counted(read):
    profile = read(made.GRAPH)
    assert names(profile, 1) == {"fork_exit;ip_input": 2, "0xffffffff80c2e4a1": 1}
    assert profile.unsymbolized == 1


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("ip_output.isra.12", "ip_output"),
        ("foo.part.3.constprop.0", "foo"),
        ("foo.cold", "foo"),
        ("foo.cold.7", "foo"),
        ("foo.coldly", "foo.coldly"),
        ("x.part", "x.part"),
    ],
)
def test_suffixes_of_compilers_belong_to_their_function(read, name, base):
    assert names(read(f"main;{name} 3\n")) == {f"main;{base}": 3}


def test_samples_that_the_perl_rule_drops_are_kept(read):
    lost = "ip_input;bcmp 2\n"
    assert perl_folded(made.GRAPH.encode()) == (
        "ip_input;ipfw_chk;ipfw_dyn_lookup;bcmp 3\n"
        + lost
        + "fork_exit;sched_idletd;cpu_idle 4\nfork_exit;ip_input.constprop.0 2\n"
        "0xffffffff80c2e4a1 1\n"
    )
    assert read(perl_folded(made.GRAPH.encode())).samples == 12
    assert read(made.GRAPH).samples == 13


@pytest.mark.parametrize(
    ("end", "has"),
    [
        ("fork_exit\n\n33", 12),
        ("33.33%  [1]", 12),
        ("@ CPU_CLK_UNHALTED_CORE [3 samples]\n", 10),
        ("sched_id", 10),
    ],
)
def test_a_cut_graph_is_truncated_with_both_totals_and_keeps_the_rest(read, end, has):
    at = made.GRAPH.rindex(end) + len(end)
    profile = read(made.GRAPH[:at])
    promised = sum(profile.expected)
    assert profile.truncated
    assert profile.samples == has
    assert profile.cores is None
    assert f"{has} of {promised} samples" in profile.warnings[-1]


def test_a_graph_whose_block_is_gone_is_truncated_although_it_ends_well(read):
    blocks = made.GRAPH.split("\n\n")
    profile = read("\n\n".join(blocks[:2] + blocks[3:]))
    assert profile.truncated
    assert profile.warnings == ["truncated: 9 of 13 samples are there, of the 2 CPUs that it names"]


def test_callers_with_more_samples_than_their_callee_are_named_with_the_line(read):
    profile = read(made.GRAPH.replace("[2]         ip_input", "[9]         ip_input", 1))
    assert profile.warnings == ["line 3: its callers have 6 samples more than bcmp"]


def test_a_row_whose_callee_is_missing_and_a_line_of_noise_are_named(read):
    noisy = made.GRAPH.replace(" 50.00%  [3]         ipfw_dyn_lookup", "what", 1)
    profile = read(noisy)
    assert profile.samples == 13
    assert profile.warnings == ["line 4 and 2 more not understood, left out"]


def test_a_line_of_noise_in_a_script_is_named_by_its_number(read):
    lines = made.PERF.splitlines(keepends=True)
    lines.insert(3, "???\n")
    assert read("".join(lines)).warnings[0] == "line 4 not understood, left out"


def test_a_document_has_parents_before_their_children_and_every_sample(read):
    profile = read(made.GRAPH)
    profile.iteration, profile.pps = 1, 1.5e6
    document = profile.document()
    assert document["name"] == "bench.pf.1.graph"
    assert (document["iteration"], document["pps"], document["boot"]) == (1, 1.5e6, None)
    assert all(parent < node for node, parent in enumerate(document["parent"]))
    assert sum(document["count"]) == 13
    assert document["functions"].count(["ip_input", "kernel"]) == 1
    assert stacks_of(document) == profile.sections


def stacks_of(document):
    """The sections of a document, by walking from each node to its callers."""
    sections = [{} for _ in document["expected"]]
    counted = zip(document["node"], document["section"], document["count"], strict=True)
    for leaf, section, count in counted:
        node, stack = leaf, []
        while node >= 0:
            stack.insert(0, tuple(document["functions"][document["function"][node]]))
            node = document["parent"][node]
        sections[section][tuple(stack)] = count
    return sections


def test_folded_stacks_are_read_and_a_cut_line_is_left_out(read):
    assert names(read(made.FOLDED))["Xapic_isr1"] == 1
    cut = read(made.FOLDED[:-1])
    assert cut.truncated
    assert cut.samples == 9
    assert "9 samples" in cut.warnings[0]


def test_frames_may_hold_spaces_and_a_difference_of_profiles_is_refused(read, refused):
    assert names(read("main;operator new(unsigned long) 4\n")) == {
        "main;operator new(unsigned long)": 4
    }
    assert "line 2: a stack has two counts" in refused("a;b 1\na;c 3 4\n")


def test_a_perf_script_counts_a_sample_each_on_its_cpu(read):
    profile = read(made.PERF)
    assert profile.event == "cycles"
    assert names(profile) == {"__netif_receive_skb;ip_rcv": 1, "ip_rcv;nft_do_chain": 1}
    assert names(profile, 1) == {"[unknown]": 1}
    assert [stack[-1] for stack in profile.sections[0]] == [
        ("ip_rcv", "kernel"),
        ("nft_do_chain", "nf_tables"),
    ]
    assert profile.unsymbolized == 1


def test_periods_of_a_perf_script_show_how_often_the_event_happened(read):
    script = made.PERF.replace("441: cycles", "441:  62500 cycles")
    seconds = 5076.837002 - 5076.836336
    assert read(script).event_rate == pytest.approx(562_500 / seconds)
    lone = "a 1 [000] 9999.0:  7 cycles:\n\n"
    assert read(script + lone).event_rate == pytest.approx(562_500 / (9999 - 5076.836336))
    assert read(made.PERF).event_rate is None
    once = script.replace("5076.836441", "5076.836336").replace("5076.837002", "5076.836336")
    assert read(once).event_rate is None
    assert read(script.replace("250000", "9" * 400)).event_rate is None
    assert read(script.replace("5076", "9" * 400)).event_rate is None


def test_a_perf_script_may_begin_with_many_comments(read):
    assert read("# cmdline : perf record -g\n" * 60 + made.PERF).samples == 3


def test_a_perf_script_without_stacks_or_of_two_events_is_reported(read, refused):
    lone = "a 1 [000] 1.0: cycles: \n\n"
    assert "1 samples without a stack" in read(made.PERF + lone).warnings[0]
    assert "cycles and of faults" in refused(made.PERF + lone.replace("cycles", "faults"))


def test_a_cut_perf_script_leaves_its_last_sample_out(read):
    profile = read(made.PERF[:-30])
    assert (profile.samples, profile.truncated) == (2, True)


def test_maps_of_kernel_stacks_count_what_ran_outside_the_kernel(read):
    assert names(read(made.BPFTRACE)) == {
        "__netif_receive_skb;ip_rcv": 17,
        "userland": 5,
        "ip_rcv;nft_do_chain": 3,
    }
    assert names(read(made.BTRACE)) == {"ether_input;ip_input": 17, "userland": 5}
    keyed = made.BPFTRACE.replace("]: 17", ", swapper/0]: 17")
    assert read(keyed).samples == 25


def test_a_cut_map_and_two_maps_are_reported(read, refused):
    cut = read(made.BPFTRACE[: made.BPFTRACE.rindex("]")])
    assert (cut.samples, cut.truncated) == (22, True)
    assert "@a and @b" in refused("@a[\n x+1\n]: 1\n@b[\n y+1\n]: 2\n")


def test_pprof_is_decoded_with_what_was_inlined(read):
    for data in (made.pprof(), made.packed_pprof()):
        profile = read(data)
        assert names(profile) == {"main;forward;route": 7, "main;0x403000": 2}
        assert (profile.event, profile.unsymbolized) == ("cpu", 2)
        assert {module for stack in profile.sections[0] for _, module in stack} == {"fwd"}


def test_pprof_with_period_and_duration_has_the_rate_of_its_event(read):
    """By hand: 9 samples of 10 ms in 2 s are 45 ms of CPU time a second."""
    assert read(made.pprof()).event_rate == pytest.approx(45e6)
    assert read(made.pprof() + made.message([(10, 0)])).event_rate is None
    assert (
        read(made.pprof() + made.message([(11, made.message([(1, 3), (2, 2)]))])).event_rate is None
    )


def test_pprof_without_counts_cut_or_of_a_difference_is_refused(refused):
    assert "holds cpu, not numbers of samples" in refused(made.pprof(types=(3, 4)))
    assert "ends early" in refused(made.packed_pprof()[:-9])
    assert "ends early" in refused(made.pprof()[:-3])
    assert "-1 samples" in refused(made.pprof(counts=(7, -1)))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "is empty"),
        (b'<?xml version="1.0"?>\n<svg/>', "is a picture (send the graph or folded file"),
        (b"\n<svg></svg>", "is a picture"),
        (b"\x20\x00\x01\xee" + bytes(60), "pmcstat -R FILE -z 100 -G FILE.graph"),
        (b"1001\n1002\n", "is no profile (what is read: pprof, pmcstat, btrace"),
        (b"@ E [0 samples]\n\n", "holds no sample"),
        (b"@ E [1 samples]\n\n1.0%  [1]  a\n\n@ F [1 samples]\n\n", "sections of E and F"),
    ],
)
def test_what_is_no_profile_is_refused_with_the_remedy(refused, data, text):
    assert text in refused(data)


def test_bounds_of_rows_depth_sections_and_size_hold(refused, tmp_path):
    head = "@ E [9 samples]\n\n"
    deep = "".join(f"{' ' * at}1.0%  [1]  f\n" for at in range(MOST_DEPTH + 1))
    assert f"line {MOST_DEPTH + 3}: {MOST_DEPTH + 1} levels" in refused(head + deep)
    assert f"{MOST_ROWS + 1} stacks" in refused("a;b 1\n" * (MOST_ROWS + 1))
    sections = "".join(f"{head}1.0%  [9]  f\n\n" for _ in range(65))
    assert "65 sections, more than the 64" in refused(sections)
    path = tmp_path / "large"
    path.write_bytes(bytes(3000))
    with pytest.raises(AgentError, match="more than the 1"):
        read_profile(path, 1024)


CARRIED = {
    "pmcstat": rb"^[0-9.]+%  \[(\d{1,15})\]\s+\S.*\n",
    "folded": rb"^\S.* (\d{1,15})\r?\n",
    "bpftrace": rb"\]: (\d{1,15})\r?\n",
    "btrace": rb"\]: (\d{1,15})\r?\n",
    "perf": rb"^\S.*\d:.*:\s*\n",
}


def carried(form, data):
    """The samples that the rows of a file carry, by a rule of one line."""
    rows = re.finditer(CARRIED[form], data, re.MULTILINE)
    return sum(int(row[1]) if row.re.groups else 1 for row in rows)


@pytest.mark.fuzz
@pytest.mark.parametrize("form", sorted(SAMPLES))
@given(data=st.data())
def test_any_damaged_profile_is_refused_or_keeps_its_samples_or_warns(tmp_path_factory, form, data):
    content = data.draw(damaged([SAMPLES[form]]))
    path = tmp_path_factory.getbasetemp() / f"profile.{form}"
    path.write_bytes(content)
    try:
        profile = read_profile(path)
    except AgentError:
        return
    document = profile.document()
    assert sum(document["count"]) == profile.samples > 0
    assert all(count > 0 for count in document["count"])
    if profile.format in CARRIED and not profile.warnings:
        assert profile.samples == carried(profile.format, content)


@pytest.mark.archive
@pytest.mark.skipif(not ARCHIVE.is_dir(), reason="no lab archive beside the checkout")
class TestOfTheArchive:
    def test_the_perl_rule_gives_the_stored_stacks_to_the_byte(self):
        pairs = [
            (path, path.with_suffix(".stack"))
            for path in sorted(ARCHIVE.rglob("*.graph"))
            if path.with_suffix(".stack").exists()
        ]
        assert len(pairs) == 4
        for graph, stack in pairs:
            assert perl_folded(graph.read_bytes()) == stack.read_text()

    def test_every_graph_is_read_and_the_cut_ones_are_known(self):
        found = {path: read_profile(path) for path in sorted(ARCHIVE.rglob("*.graph"))}
        assert len(found) == 32
        cut = {path for path, profile in found.items() if profile.truncated}
        assert {path.stat().st_size % 4096 for path in cut} == {0}
        assert len(cut) == 5
        for path, profile in found.items():
            if path not in cut:
                assert profile.samples == sum(filter(None, profile.expected))
                assert profile.warnings == []

    def test_no_function_of_the_kernel_is_in_two_modules(self):
        modules: dict[str, Counter[str]] = {}
        for path in sorted(ARCHIVE.rglob("*.graph")):
            profile = read_profile(path)
            for stack in () if profile.truncated else (s for one in profile.sections for s in one):
                for name, module in stack:
                    modules.setdefault(name, Counter())[module] += 1
        several = {name for name, found in modules.items() if len(found) > 1}
        assert several <= {"memcpy", "malloc"}, "those of libc"
