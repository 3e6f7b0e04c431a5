"""The spool: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import stat

import pytest
from labagent.client import Flags
from labagent.errors import SettingsError
from labagent.spool import Spool

RUNS = [{"uuid": "u1", "x": 1.5}, {"uuid": "u2", "x": "ä"}]


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "spool")


def test_a_batch_comes_back_as_it_was_put(spool):
    flags = Flags(register=True, history=True)
    batch = spool.load(spool.add(RUNS, flags))
    assert (list(batch.runs), batch.flags) == (RUNS, flags)


def test_the_same_batch_twice_is_one(spool):
    assert spool.add(RUNS, Flags()) == spool.add(RUNS, Flags())
    assert len(spool.pending()) == 1


def test_a_batch_to_be_taken_otherwise_is_another(spool):
    spool.add(RUNS, Flags())
    spool.add(RUNS, Flags(history=True))
    assert len(spool.pending()) == 2


def test_the_oldest_batch_comes_first(spool):
    paths = [spool.add([run], Flags()) for run in RUNS]
    for age, path in enumerate(paths):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    assert spool.pending() == paths[::-1]


def test_a_batch_that_was_answered_for_is_gone(spool):
    batch = spool.load(spool.add(RUNS, Flags()))
    spool.done(batch)
    spool.done(batch)
    assert spool.pending() == []


def test_a_batch_that_another_process_sent_meanwhile_is_no_error(spool):
    path = spool.add(RUNS, Flags())
    path.unlink()
    assert spool.load(path) is None
    assert spool.count([path]) == 0


def test_a_rejected_run_is_kept_until_the_server_takes_it(spool):
    spool.reject(RUNS[0], "runs what")
    (path,) = spool.rejected()
    assert path.name == "u1.json"
    assert "runs what" in path.read_text()
    spool.done(spool.load(spool.add(RUNS, Flags())))
    assert spool.rejected() == []


def test_what_a_killed_process_left_half_written_is_no_batch(spool):
    spool.add(RUNS, Flags())
    half = spool.directory / "pending" / ".writing-abc"
    half.write_text('{"register":')
    assert len(spool.pending()) == 1
    assert half.exists(), "its writer may be at work"
    os.utime(half, (0, 0))
    spool.pending()
    assert not half.exists()


def test_a_damaged_batch_is_named_with_what_to_do(spool):
    path = spool.add(RUNS, Flags())
    path.write_text("{")
    with pytest.raises(SettingsError, match=r"remove it"):
        spool.load(path)


def test_the_spool_of_nobody_is_empty(spool):
    assert (spool.pending(), spool.rejected()) == ([], [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_spool_that_cannot_be_written_is_reported(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(SettingsError, match="cannot write to the spool"):
        Spool(tmp_path / "spool").add(RUNS, Flags())


def test_a_spool_in_the_way_of_a_file_is_reported(tmp_path):
    (tmp_path / "spool").write_text("")
    with pytest.raises(SettingsError, match="cannot write to the spool"):
        Spool(tmp_path / "spool").add(RUNS, Flags())
