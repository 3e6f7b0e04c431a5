"""Simulated profiles: what a planted loss costs is in one function, and nowhere else."""

from __future__ import annotations

import random
import re

import pytest
from labagent.readers.profiles import read_profile
from labagent.simulate import SAMPLES, simulated_graph

HARDWARE = "Simulated_Atom_8Cores/10G"
DEARER = {
    "forwarding": "ip_tryforward",
    "pf-statefull": "pf_find_state",
    "ipfw-statefull": "ipfw_dyn_lookup",
}


@pytest.fixture
def profile(tmp_path):
    def make(workload="forwarding", gain=1.0, seed=1, hardware=HARDWARE):
        path = tmp_path / "bench.graph"
        path.write_text(simulated_graph(hardware, workload, gain, random.Random(seed)))
        return read_profile(path)

    return make


def costs(profile, gain=1.0):
    """What each function itself costs, in percent of a packet before any step."""
    found = {}
    for section in profile.sections:
        for stack, count in section.items():
            name = stack[-1][0]
            found[name] = found.get(name, 0) + 100 * count / profile.samples / gain
    return found


def test_a_graph_is_whole_and_has_a_section_a_cpu(profile):
    found = profile()
    assert (found.truncated, found.warnings, found.cores) == (False, [], 8)
    assert found.samples == 8 * SAMPLES
    assert profile(hardware="box").cores == 4


@pytest.mark.parametrize(("workload", "dearer"), DEARER.items())
@pytest.mark.parametrize("gain", [0.9, 0.96, 1.05])
def test_a_step_changes_the_cost_of_one_function(profile, workload, dearer, gain):
    before, after = costs(profile(workload)), costs(profile(workload, gain, seed=2), gain)
    changes = {name: after[name] - before[name] for name in before}
    assert abs(changes.pop(dearer) - 100 * (1 / gain - 1)) < 1.5
    assert max(map(abs, changes.values())) < 1.5


def test_modules_are_read_back_as_they_were_written(profile):
    modules = {
        frame for section in profile("pf-statefull").sections for s in section for frame in s
    }
    assert ("pf_test", "pf") in modules
    assert ("pfil_run_hooks", "kernel") in modules
    assert {module for name, module in modules if not name.startswith("pf_")} == {"kernel"}


def test_rows_are_formed_as_pmcstat_forms_them():
    text = simulated_graph(HARDWARE, "pf", 1.0, random.Random(1))
    rows = [line for line in text.splitlines() if line and not line.startswith("@")]
    form = re.compile(r"( *)(\d\d\.\d\d|100\.0)%  \[\d+\] +\S+( @ /boot/kernel/\S+)?")
    assert all(form.fullmatch(row) for row in rows)
    assert all((" @ " in row) for row in rows if not row.startswith(" "))
