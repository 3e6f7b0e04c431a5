"""A backup of an instance that takes runs, restored into another one that runs."""

from pathlib import Path

import pytest

from tests.faults.conftest import Archive, wait_until_some_is_stored
from tests.faults.conftest import archive as archive  # noqa: PLC0414 (a fixture)
from tests.system.running import System
from webapp.config import instance

pytestmark = [pytest.mark.long, pytest.mark.stack]


def test_another_instance_goes_on_where_the_backup_was_made(
    system: System, archive: Archive, tmp_path: Path
) -> None:
    system.empty()
    upload = system.upload(archive.whole, spool=tmp_path / "spool")
    wait_until_some_is_stored(system)
    file = tmp_path / "driftline.backup"
    system.launch.manage("backup", str(file))
    upload.wait()
    system.wait_until_analysed()
    with System.started(tmp_path / "other") as other:
        with other.connected() as connection:  # an instance has no agents at first
            connection.execute("TRUNCATE labs_lab CASCADE")
        other.launch.manage("restore", str(file))
        other.launch.wait_until_ready()
        assert other.count("results_measurement") == other.count("results_run") > 0
        # The token of the former instance is one of this, and what was not sent yet is stored.
        restored = System(other.launch, system.token)
        restored.upload(archive.whole, spool=tmp_path / "spool-of-other").wait()
        restored.wait_until_analysed()
        digests = [one.manage("digest") for one in (system.launch, other.launch)]
        keys = [instance.read_secret_key(one.state) for one in (system.launch, other.launch)]
    assert digests[0] == digests[1]
    assert keys[0] == keys[1]
