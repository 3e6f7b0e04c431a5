"""The whole lab archive through agent, API and worker, against its golden files."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median

import pytest

from tests.archive.goldens import (
    ARCHIVE,
    FILED,
    VARIANTS,
    Group,
    Stored,
    golden_groups,
    golden_rows,
    raw_medians,
    stored_groups,
)
from tests.system.content import content
from tests.system.running import ANALYSIS_SECONDS, System, wait_for
from webapp.results.packed import SamplesField

pytestmark = [
    pytest.mark.long,
    pytest.mark.archive,
    pytest.mark.stack,
    pytest.mark.skipif(not ARCHIVE.is_dir(), reason="no lab archive beside the checkout"),
]
RUNS, SERIES = 424, 219
C2558, C2758 = "Atom_C2558_4Cores/Intel_i350", "Atom_C2758_8Cores/Chelsio_T540-CR"
E5_2650 = "Xeon_E5-2650_8Cores/Chelsio_T540-CR"
# Where the raw logs differ: the iteration (from 0), what the lab stored, what the logs contain
UPPER_MEDIAN_2 = (C2558, "hw.igb.num_queues", "fbsd10.2", "pps.2", 3)
UPPER_MEDIAN_4 = (C2558, "hw.igb.num_queues", "fbsd10.2", "pps.4", 2)
LEFT_OUT = (E5_2650, "firewalls", "fbsd.2017", "311703.pps", 4)
SUMMARY = (
    f"stored {RUNS}, known 0, rejected 0, skipped 11 (1 no usable sample; "
    "2 only console captures; 2 profiled, so not a measurement; "
    "2 a profile of no run that is here; 4 the same profile as the graph beside it)\n"
    "profiles stored 36, known 0, rejected 0"
)


@pytest.fixture(scope="module")
def imported(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """The instance with the archive, uploaded and analysed."""
    system.empty()
    upload = system.upload(ARCHIVE, spool=tmp_path_factory.mktemp("spool"))
    assert upload.wait() == SUMMARY
    system.wait_until_analysed()
    yield system
    system.empty()


@pytest.fixture(scope="module")
def golden() -> dict[Group, Stored]:
    return golden_groups()


@pytest.fixture(scope="module")
def stored(imported: System) -> dict[Group, list[float]]:
    return stored_groups(imported)


def test_every_group_of_the_archive_is_stored_and_nothing_else(
    golden: dict[Group, Stored], stored: dict[Group, list[float]]
) -> None:
    assert stored.keys() == golden.keys()


def test_only_the_rows_without_a_revision_are_left_out() -> None:
    left_out = [row for row in golden_rows() if not row["revision"]]
    assert len(left_out) == 10
    assert {row["result_label"] for row in left_out} == {"fbsd11.0-aesni"}


def test_runs_whose_kernel_names_another_commit_are_filed_there_and_none_waits(
    imported: System,
) -> None:
    rows = imported.rows("""
        SELECT split_part(run.facts->>'label', '/', 1),
               COALESCE(NULLIF(run.evidence->>'image_revision', ''),
                        run.evidence->>'label_revision') AS named,
               revision.name, count(*)
          FROM results_run AS run JOIN results_revision AS revision ON revision.id = run.revision_id
         WHERE COALESCE(NULLIF(run.evidence->>'image_revision', ''),
                        run.evidence->>'label_revision') <> ''
           AND run.evidence->>'kernel_revision' NOT IN
               ('', run.evidence->>'image_revision', run.evidence->>'label_revision')
         GROUP BY 1, 2, 3""")
    assert {(label, named): filed for label, named, filed, _ in rows} == FILED
    assert sorted(count for *_, count in rows) == [2, 4, 13]
    assert imported.rows("SELECT count(*) FROM results_waitingrun") == [(0,)]


def test_counts_that_no_kernel_names_stand_where_the_pair_of_the_archive_puts_them(
    imported: System,
) -> None:
    query = "SELECT name, position, is_estimated FROM results_revision WHERE name ~ '^[nc]'"
    wait_for(lambda: sum(row[2] for row in imported.rows(query)) == 2, ANALYSIS_SECONDS)
    assert sorted(imported.rows(query)) == [
        ("c272525", 10**9 + 272_525 * 257_521 // 277_567, True),
        ("c311215", 10**9 + 311_215 - 277_567 + 257_521, True),
        ("n257521", 10**9 + 257_521, False),
    ]


def test_patches_images_and_branches_are_variants_and_nothing_else_is(imported: System) -> None:
    rows = imported.rows("""
        SELECT split_part(run.facts->>'label', '/', 1), variant.name, count(*)
          FROM results_run AS run JOIN results_variant AS variant ON variant.id = run.variant_id
         GROUP BY 1, 2""")
    assert {(label, variant): count for label, variant, count in rows} == VARIANTS


def test_every_value_is_the_golden_one_except_three_where_the_logs_differ(
    golden: dict[Group, Stored], stored: dict[Group, list[float]]
) -> None:
    raw = raw_medians()
    differing = set()
    for group, (values, file) in golden.items():
        found = stored[group]
        if found == values:
            continue
        assert found == raw[file], file
        longer = max(len(found), len(values))
        differing |= {
            (group.hardware, group.topic, group.label, Path(file).name, i)
            for i in range(longer)
            if found[i : i + 1] != values[i : i + 1]
        }
    assert differing == {UPPER_MEDIAN_2, UPPER_MEDIAN_4, LEFT_OUT}


def test_a_second_upload_stores_nothing_new_and_changes_nothing(
    imported: System, tmp_path: Path
) -> None:
    before = content(imported)
    again = imported.upload(ARCHIVE, spool=tmp_path / "spool").wait()
    assert again.startswith(f"stored 0, known {RUNS}, rejected 0,")
    assert content(imported) == before


def test_a_series_holds_one_configuration(imported: System) -> None:
    """The empty configuration of `firewalls` is `forwarding`; nothing else has two spellings."""
    rows = imported.rows("""
        SELECT DISTINCT series_id, run.facts->>'topic', COALESCE(run.facts->>'pktgen', ''),
               COALESCE(NULLIF(run.facts->>'cfg', ''),
                        CASE run.facts->>'topic' WHEN 'firewalls' THEN 'forwarding' ELSE '' END)
          FROM results_measurement
          JOIN results_run AS run ON run.id = run_id""")
    assert len({row[0] for row in rows}) == len(rows) == SERIES


def test_two_runs_share_a_point_only_where_the_lab_repeated_one(imported: System) -> None:
    rows = imported.rows("""
        SELECT revision.name, mode.name, array_agg(run.facts->>'label' ORDER BY run.facts->>'label')
          FROM results_measurement
          JOIN results_run AS run ON run.id = run_id
          JOIN results_revision AS revision ON revision.id = run.revision_id
          JOIN results_mode AS mode ON mode.id = run.mode_id
         GROUP BY series_id, revision.name, mode.name
        HAVING count(*) > 1""")
    both = ["fbsd.2016", "fbsd12-head.r303643"]
    assert sorted(rows) == [
        (revision, mode, both)
        for revision in ("r303642", "r303643")
        for mode in ("ipfw-statefull", "pf-statefull")
    ]


def test_full_links_and_warm_ups_are_left_out_and_nothing_else(imported: System) -> None:
    """The table of docs/figures.md; every sample is stored."""
    rows = imported.rows("""
        SELECT mark->>'kind', count(*), count(DISTINCT run_id), count(DISTINCT hardware_id)
          FROM results_measurement AS measurement JOIN results_run AS run ON run.id = run_id,
               jsonb_array_elements(validity) AS mark
         GROUP BY 1 ORDER BY 1""")
    assert rows == [("sender-saturated", 24, 6, 3), ("warm-up", 5, 4, 1)]
    assert imported.rows("""
        SELECT sum(cardinality(left_out)), count(*) FILTER (WHERE left_out <@ '{}'),
               count(*) FILTER (WHERE 8 * cardinality(left_out) = length(samples))
          FROM results_measurement""") == [(29, 0, 6)]


def test_points_pool_what_was_stored(imported: System) -> None:
    """Counts, means and extremes of the samples that count, reckoned once more."""
    pooled: dict[tuple[int, int], list[float]] = defaultdict(list)
    for series, revision, samples, left_out in imported.rows("""
        SELECT series_id, run.revision_id, samples, left_out
          FROM results_measurement JOIN results_run AS run ON run.id = run_id"""):
        values = enumerate(SamplesField.unpack(samples))
        pooled[series, revision] += [one for at, one in values if at not in (left_out or ())]
    points = {
        (series, revision): (figures, mean)
        for series, revision, mean, *figures in imported.rows("""
            SELECT series_id, revision_id, mean, n, minimum, maximum, median FROM results_point""")
    }
    counting = {key: values for key, values in pooled.items() if values}
    assert points.keys() == counting.keys()
    for key, values in counting.items():
        figures, mean = points[key]
        assert figures == [len(values), min(values), max(values), median(values)]
        assert mean == pytest.approx(fmean(values), rel=1e-12)


def test_every_point_but_the_first_of_its_series_is_compared_with_the_one_before(
    imported: System,
) -> None:
    first = imported.rows("SELECT series_id, min(position) FROM results_point GROUP BY series_id")
    alone = imported.rows(
        "SELECT series_id, position FROM analysis_notedpoint WHERE NOT is_compared"
    )
    assert sorted(alone) == sorted(first)


def test_the_commit_page_of_r303643_states_that_forwarding_rose_and_pf_fell(
    imported: System,
) -> None:
    changes = {}
    for mode, series in imported.rows(
        """
        SELECT mode.name, series.id
          FROM results_series AS series
          JOIN results_mode AS mode ON mode.id = series.mode_id
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
         WHERE hardware.name = %s AND mode.name IN ('forwarding', 'pf-statefull')""",
        C2758,
    ):
        points = json.loads(imported.page(f"/api/v1/series/{series}/points"))
        at = points["revision"].index("r303643")
        percent = round(points["change_percent"][at], 1)
        changes[mode] = percent, points["verdict"][at], points["flag"][at]
    assert changes["forwarding"] == (82.5, "better", None)
    assert changes["pf-statefull"] == (-10.6, "worse", "regressed")
    page = " ".join(imported.page("/commits/freebsd-head/r303643/").split())
    assert 'fastforwarding <span class="better">84.7 % faster</span>' in page
    assert 'pf-statefull <span class="worse">12.2 % slower</span>' in page
    assert "</span> on Atom C2758 8Cores Chelsio T540-CR and 1 more series <span" in page
