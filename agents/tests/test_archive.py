"""The lab archive beside the checkout, against its golden files."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from labagent.model import Overrides, runs_of, skips_of
from labagent.readers.benchlab import read_directories
from labagent.readers.benchlab.pairing import NO_OWNER, PROFILED, SAME
from labagent.readers.benchlab.reader import CONSOLE_ONLY, NO_SAMPLE
from labagent.readers.profiles import read_profile

SHARED = Path(__file__).parents[2].parent / "shared"
ARCHIVE = SHARED / "netbenches"
GOLDENS = SHARED / "goldens"

LONG = pytest.mark.long
pytestmark = [
    pytest.mark.archive,
    pytest.mark.skipif(not ARCHIVE.is_dir(), reason="no lab archive beside the checkout"),
]

MACHINES = ("AMD_G-T40E_2Cores", "Atom_C2558_4Cores", "Xeon_E5-2650Lv2_10Cores")
"""Those that `make test` reads, a tenth of the archive with logs of every kind."""

METRIC = {"pps": "pps", "Mb/s": "equilibrium", "Mb/s (max)": "equilibrium_max"}
OLD_MEDIAN = {"pps.2", "pps.4"}
DELETED_BY_HAND = {"311703.pps": 1.0}


@pytest.fixture(scope="module")
def outcomes():
    return list(read_directories([ARCHIVE], Overrides()))


@pytest.fixture(scope="module")
def runs(outcomes):
    return runs_of(outcomes)


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=LONG)])
def part(request):
    """The runs of some machines or all."""
    if request.param == "all":
        return request.getfixturevalue("runs")
    return runs_of(list(read_directories([ARCHIVE / name for name in MACHINES], Overrides())))


@pytest.fixture(scope="module")
def rows():
    with (GOLDENS / "archive.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def label_of(row):
    label = row["source_path"].split("/results/")[1].split("/")[0]
    return "/".join(filter(None, (label, row["subdir"])))


def golden_groups(rows, runs):
    """The golden values by what identifies them: place, names and metric."""
    groups, machines = defaultdict(list), {run.hardware for run in runs}
    for row in rows:
        hardware = f"{row['hardware']}/{row['nic']}"
        if not row["revision"] or hardware not in machines:
            continue
        names = (row["variant"], row["mode"], row["pktgen"])
        place = (hardware, row["bench_topic"], label_of(row), row["revision"])
        key = (*place, *names, METRIC[row["unit"]])
        groups[key].append((float(row["value"]), Path(row["source_path"]).name))
    return groups


def variant_of(run):
    image = run.facts.get("image", "")
    number = run.revision[1:]
    return image.removeprefix(run.revision).removeprefix(number)


def parsed_groups(runs):
    groups = {}
    for run in runs:
        facts = run.facts
        names = (variant_of(run), facts.get("cfg", ""), facts.get("pktgen", ""))
        for samples in run.samples:
            place = (run.hardware, facts["topic"], facts["label"], run.revision)
            groups[(*place, *names, samples.metric.name)] = list(samples.values)
    return groups


def test_every_golden_value_is_there_but_for_the_known_differences(rows, part):
    golden, parsed = golden_groups(rows, part), parsed_groups(part)
    assert golden
    assert golden.keys() == parsed.keys()
    for key, found in golden.items():
        file = found[0][1]
        values = [value for value, _ in found]
        if file in OLD_MEDIAN:
            assert len(values) == len(parsed[key])
            assert sum(a != b for a, b in zip(values, parsed[key], strict=True)) == 1
        elif file in DELETED_BY_HAND:
            assert parsed[key] == [*values, DELETED_BY_HAND[file]]
        else:
            assert parsed[key] == values, key


def runs_by_source(runs):
    return {
        f"{run.hardware}/{run.facts['topic']}/{source.path}": run
        for run in runs
        for source in run.sources
    }


def is_elsewhere(group, runs):
    """Whether it is of a machine that was not read."""
    machine = group["dir"].partition("/")[0]
    return not any(run.hardware.startswith(f"{machine}/") for run in runs)


def first_log(group, kind):
    name = ".".join(filter(None, ("bench", group["prefix"], "1", kind)))
    return f"{group['dir'].replace('/results', '')}/{name}"


def test_the_logs_give_the_golden_median_of_every_iteration(part):
    by_source = runs_by_source(part)
    for group in json.loads((GOLDENS / "receiver_medians.json").read_text()):
        if "/PMC/" in group["dir"] or group["status"] == "empty_both" or is_elsewhere(group, part):
            continue
        run = by_source[first_log(group, "receiver")]
        expected = [float(value) for value in group["expected_median"] if value is not None]
        assert list(run.samples[0].values) == expected, group["dir"]


def test_the_logs_give_the_golden_equilibrium_of_every_iteration(part):
    by_source = runs_by_source(part)
    for group in json.loads((GOLDENS / "equilibrium.json").read_text()):
        if is_elsewhere(group, part):
            continue
        run = by_source[first_log(group, "sender")]
        metrics = {samples.metric.name: list(samples.values) for samples in run.samples}
        for metric, name in (("equilibrium", "equilibrium"), ("equilibrium_max", "max")):
            assert metrics[metric] == [float(found[-1]) for found in group[name]]


@LONG
def test_what_is_no_measurement_is_skipped_and_named(outcomes):
    skips = skips_of(outcomes)
    assert Counter(skip.reason for skip in skips) == {
        CONSOLE_ONLY: 2,
        NO_SAMPLE: 1,
        PROFILED: 2,
        SAME: 4,
        NO_OWNER: 2,
    }
    assert all("fbsd11.0-aesni" in skip.where for skip in skips if skip.reason == CONSOLE_ONLY)


@LONG
def test_every_profile_is_of_a_run_or_named_and_all_are_read_in_seconds(runs):
    start = time.process_time()
    found = [read_profile(one.path) for run in runs for one in run.profiles]
    assert time.process_time() - start < 3
    assert len(found) == 36, "and two of runs that are not there"
    assert sum(one.truncated for one in found) == 5
    assert all(one.samples == sum(one.document()["count"]) for one in found)


@LONG
def test_two_runs_share_a_series_at_one_revision_only_where_they_repeat_each_other(runs):
    series = defaultdict(list)
    for run in runs:
        series[run.hardware, run.tree, run.revision, run.mode].append(run.facts["label"])
    shared = {
        (revision, str(mode)): labels
        for (_, _, revision, mode), labels in series.items()
        if len(labels) > 1
    }
    both = ["fbsd.2016", "fbsd12-head.r303643"]
    assert shared == {
        (revision, mode): both
        for revision in ("r303642", "r303643")
        for mode in ("ipfw-statefull", "pf-statefull")
    }


@LONG
def test_every_configuration_of_the_archive_is_a_mode_of_its_own(runs):
    """Whatever the golden columns can distinguish within a label, modes distinguish too."""
    configurations = defaultdict(set)
    for run in runs:
        facts = run.facts
        label = facts["label"] if facts["label"] not in ("fbsd.2016", "fbsd.2017") else ""
        key = (facts["topic"], label, facts.get("image"), facts.get("cfg"), facts.get("pktgen"))
        configurations[run.hardware, run.tree, run.revision, run.mode].add(key)
    several = {key for key, found in configurations.items() if len({k[0] for k in found}) > 1}
    assert not several


@LONG
def test_repeats_on_one_kernel_are_one_build(runs):
    builds = {run.build_id for run in runs if run.revision == "r303643"}
    assert len(builds) == 1


@LONG
def test_identities_are_unique(runs):
    assert len({run.uuid for run in runs}) == len(runs) == 424


@LONG
def test_each_label_read_alone_gives_the_same_runs(runs):
    labels = sorted(path for path in ARCHIVE.glob("*/*/*/results/*") if path.is_dir())
    alone = [
        run for label in labels for run in runs_of(list(read_directories([label], Overrides())))
    ]
    assert {str(run.document()) for run in alone} == {str(run.document()) for run in runs}


@LONG
def test_whole_logs_raise_no_doubt_but_the_one_that_was_cut(runs):
    """New warnings here must be true: this log is a second shorter and lacks its closing line."""
    marks = (": line ", "seconds, the others", "the same file", ".info: no", " no log", "the other")
    warnings = [warning for run in runs for warning in run.warnings]
    doubts = [
        w for w in warnings if any(mark in w for mark in marks) and not w.startswith("no .info")
    ]
    log = "bench.txabdicate_off.inet6.2.receiver"
    assert doubts == [f"{log}: no closing line, which the others have, after 61 seconds"]


@LONG
def test_sound_iterations_are_hardly_ever_marked(runs):
    """Whoever measured these kept them: but for full links and a handful of trends, all are
    sound."""
    judged = [one for run in runs for one in run.samples if one.findings is not None]
    findings = Counter(finding.code for one in judged for each in one.findings for finding in each)
    assert sum(len(one.values) for one in judged) > 2000
    assert set(findings) == {"sender-saturated", "warm-up"}
    assert findings["warm-up"] <= 10
    assert findings["sender-saturated"] <= 30
