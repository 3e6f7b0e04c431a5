"""Small bench directories of our own through agent, API and worker."""

import re
from pathlib import Path

import pytest

from agents.tests.make import bench, label_dir, values_file
from tests.system.content import content
from tests.system.running import System
from webapp.results.packed import SamplesField

pytestmark = [pytest.mark.long, pytest.mark.stack]
HARDWARE = "Atom_C2558_4Cores/Intel_i350"
UNAME = (
    "FreeBSD bench 12.0-CURRENT FreeBSD 12.0-CURRENT #1 r{}M: Mon Aug  1 10:00:00 CEST 2016 amd64"
)
SLOW = (600_000.0, 601_000.0, 602_500.5, 599_000.0, 600_500.0)
FAST = tuple(value * 1.5 // 1 for value in SLOW)


def measure(label: Path, revision: int, configuration: str, values: tuple[float, ...]) -> None:
    """One run of one image, as the lab's scripts leave it."""
    bench(
        label,
        f"{revision}.{configuration}",
        values,
        image=str(revision),
        cfg=configuration,
        uname=UNAME.format(revision),
    )


@pytest.fixture
def results(system: System, tmp_path: Path) -> Path:
    """An empty instance, and a label in which r303643 makes forwarding faster and pf slower."""
    system.empty()
    label = label_dir(tmp_path, "fbsd12-head.r303643")
    measure(label, 303642, "forwarding", SLOW)
    measure(label, 303643, "forwarding", FAST)
    measure(label, 303642, "pf", FAST)
    measure(label, 303643, "pf", SLOW)
    return label


def samples(system: System) -> dict[tuple[str, str], list[float]]:
    """Mode and revision → what is stored."""
    rows = system.rows("""
        SELECT mode.name, revision.name, samples
          FROM results_measurement
          JOIN results_run AS run ON run.id = run_id
          JOIN results_mode AS mode ON mode.id = run.mode_id
          JOIN results_revision AS revision ON revision.id = run.revision_id""")
    return {(mode, revision): SamplesField.unpack(values) for mode, revision, values in rows}


def test_every_iteration_is_stored_with_its_value(
    system: System, results: Path, tmp_path: Path
) -> None:
    summary = system.upload(results, spool=tmp_path / "spool").wait()
    assert summary == "stored 4, known 0, rejected 0, skipped 0"
    assert samples(system) == {
        ("forwarding", "r303642"): list(SLOW),
        ("forwarding", "r303643"): list(FAST),
        ("pf", "r303642"): list(FAST),
        ("pf", "r303643"): list(SLOW),
    }


def test_the_commit_page_states_what_rose_and_what_fell(
    system: System, results: Path, tmp_path: Path
) -> None:
    system.upload(results, spool=tmp_path / "spool").wait()
    system.wait_until_analysed()
    page = " ".join(system.page("/commits/freebsd-head/r303643/").split())
    lost, gained = 'class="worse">33.3 % slower</span>', 'class="better">50.0 % faster</span>'
    assert f"Mixed</span> pf <span {lost}, forwarding <span {gained}" in page
    assert 'on Atom C2558 4Cores Intel i350 <span class="note">· pf: one build a side' in page
    assert re.search(r'title="better: 900,900 packets/s.{,700}\+50\.0.%</a>', page)
    assert re.search(r'title="worse: 600,600 packets/s.{,700}−33\.3.%</a>', page)
    assert page.count("builds believed to scatter by 1.8 %") == 2
    assert '<td class="cell worse' in page


def test_uploading_again_stores_nothing_new_and_changes_nothing(
    system: System, results: Path, tmp_path: Path
) -> None:
    system.upload(results, spool=tmp_path / "spool").wait()
    before = content(system)
    again = system.upload(results, spool=tmp_path / "spool").wait()
    assert again == "stored 0, known 4, rejected 0, skipped 0"
    assert content(system) == before
    assert [row[-1] for row in before["noted points"]] == [False, True, False, True]


def test_a_patched_kernel_is_a_series_of_its_own(
    system: System, results: Path, tmp_path: Path
) -> None:
    bench(
        results,
        "303643VIMAGE.forwarding",
        SLOW,
        image="303643VIMAGE",
        cfg="forwarding",
        uname=UNAME.format(303643),
    )
    system.upload(results, spool=tmp_path / "spool").wait()
    assert samples(system)["forwarding+VIMAGE", "r303643"] == list(SLOW)
    assert samples(system)["forwarding", "r303643"] == list(FAST)
    assert system.count("results_series") == 3


def test_what_the_logs_state_is_stored_where_the_value_file_differs(
    system: System, results: Path, tmp_path: Path
) -> None:
    values_file(results / "303642.pf.pps", [1.0, *FAST[1:]])
    system.upload(results, spool=tmp_path / "spool").wait()
    assert samples(system)["pf", "r303642"] == list(FAST)


def test_a_kernel_without_a_revision_is_left_out_and_named(
    system: System, results: Path, tmp_path: Path
) -> None:
    nameless = label_dir(tmp_path, "weekend")
    bench(nameless, "pf", cfg="pf", uname="FreeBSD bench 11.0-CURRENT FreeBSD 11.0-CURRENT amd64")
    summary = system.upload(tmp_path, spool=tmp_path / "spool").wait()
    assert summary.startswith("stored 4, known 0, rejected 0, skipped 1 (1 no revision in")
