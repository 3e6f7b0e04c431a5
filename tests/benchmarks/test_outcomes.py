"""What is reported of an archive: each kind once, counted, with its directories."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from agents.tests.make import TOPIC, bench, label_dir
from benchmarks.archives import __main__ as archives
from benchmarks.archives.outcomes import KINDS, masked, outcomes_of

pytestmark = pytest.mark.bench

KERNEL = "r317849"
"""The revision of the kernel that `bench` names."""

NEAR, FAR = "fbsd12-head.r317840", "fbsd12-head.r300000"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A sound directory, one nine commits off, one far off, one without a value, one of a machine
    that no server takes."""
    bench(label_dir(tmp_path, f"fbsd12-head.{KERNEL}"), "pf", cfg="pf")
    for at, prefix in enumerate(("ipfw", "pf")):
        values = [2000.0 + 10 * at + i for i in range(3)]
        bench(label_dir(tmp_path, NEAR), prefix, values, cfg=prefix)
    bench(label_dir(tmp_path, FAR), "pf", [3000.0, 3001.0, 3002.0], cfg="pf")
    empty = label_dir(tmp_path, f"fbsd12-head.{KERNEL}.D12685")
    bench(empty, "pf", [], cfg="pf")
    (empty / "bench.pf.1.receiver").write_text("CMD: pkt-gen -f rx\nTerminated\n")
    strange = label_dir(tmp_path, f"fbsd12-head.{KERNEL}", "Atom C2558/Intel_i350/firewalls")
    bench(strange, "pf", [4000.0, 4001.0, 4002.0], cfg="pf")
    return tmp_path


def test_each_kind_is_reported_once_with_count_and_directories(archive):
    found = outcomes_of(archive)

    assert (found.directories, found.runs) == (5, 5)
    directories = {(row.kind, row.reason): row.directories for row in found.rows}
    assert directories == {
        ("skipped", "no usable sample"): {f"{TOPIC}/fbsd12-head.{KERNEL}.D12685": 1},
        ("warning", "the kernel names …, image or label …"): {
            f"{TOPIC}/{FAR}": 1,
            f"{TOPIC}/{NEAR}": 2,
        },
        ("remark", "the kernel names …, the label …: filed at the kernel's, … commits away"): {
            f"{TOPIC}/{NEAR}": 2
        },
        ("waiting", "the kernel names …, the label … names …"): {f"{TOPIC}/{FAR}": 1},
        ("rejected", "hardware: 'Atom …' is no name that the server takes"): {
            f"Atom C2558/Intel_i350/firewalls/fbsd12-head.{KERNEL}": 1
        },
    }


def test_the_command_prints_a_row_for_each_reason_and_kind_in_order(archive, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["archives", "--sample", str(archive)])

    archives.main()

    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert heading == "5 directories, 5 runs."
    kinds = [row.split(" | ")[0].removeprefix("| ") for row in rows[2:]]
    assert kinds == list(KINDS)
    assert (
        f"| remark | the kernel names …, the label …: filed at the kernel's, … commits away | 2 | "
        f"`{TOPIC}/{NEAR}` (2) |"
    ) in rows


def test_what_does_not_occur_has_a_row_of_its_own(tmp_path):
    bench(label_dir(tmp_path, f"fbsd12-head.{KERNEL}"), "pf", cfg="pf")

    rows = outcomes_of(tmp_path).to_markdown().splitlines()[4:]

    assert Counter(rows) == {f"| {kind} | none | 0 |  |": 1 for kind in KINDS}


def test_a_directory_without_results_ends_with_an_error_that_names_it(tmp_path):
    with pytest.raises(SystemExit, match="no benchmark results below"):
        archives.sample_table(tmp_path)


def test_numbers_and_names_with_numbers_do_not_part_one_reason_into_many():
    assert masked("iteration 10, 5, 7 gave no value: log cut short at 21 lines") == (
        "iteration … gave no value: log cut short at … lines"
    )
    assert masked("files are named a, .info names b") == "files are named a, .info names b"
