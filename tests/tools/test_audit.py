"""`make audit` never takes silence for safety."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import PROJECT
from tools.audit import NO_DATA, NONE_KNOWN, SOME, meaning

GOOD = {"name": "one", "version": "1.0", "vulns": []}
BAD = {"name": "two", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "three", "skip_reason": "three could not be audited"}


@pytest.mark.parametrize(
    ("packages", "status", "line"),
    [
        ([GOOD], NONE_KNOWN, "No known vulnerability in 1 packages."),
        ([GOOD, BAD, SKIPPED], SOME, "two 2.0: PYSEC-1, mended in 2.1"),
        ([GOOD, SKIPPED], NO_DATA, "Had no data about three; of the others none is known."),
        ([SKIPPED], NO_DATA, "Had no data: nothing is known about any package."),
        ([], NO_DATA, "Had no data: nothing is known about any package."),
    ],
)
def test_what_is_not_known_is_distinguished_from_what_is_good(
    packages: list[object], status: int, line: str
) -> None:
    found, lines = meaning(json.dumps({"dependencies": packages}), "No known vulnerabilities found")
    assert (found, lines[0]) == (status, line)


@pytest.mark.parametrize("answer", ["", "{", "[]", '{"fixes": []}'])
def test_an_answer_that_cannot_be_read_is_no_data_and_the_reason_is_printed(answer: str) -> None:
    found, lines = meaning(answer, "INFO: x\nERROR: the service did not answer")
    assert (found, lines[1]) == (NO_DATA, "ERROR: the service did not answer")


def test_the_exit_status_is_2_where_the_service_does_not_answer(tmp_path: Path) -> None:
    auditor = tmp_path / "pip-audit"
    auditor.write_text("#!/bin/sh\necho 'ERROR: connection refused' >&2\nexit 1\n")
    auditor.chmod(auditor.stat().st_mode | stat.S_IXUSR)
    command = [sys.executable, "tools/audit.py", str(auditor), "constraints.txt"]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ended.returncode == NO_DATA
    assert "Had no data" in ended.stderr
    assert "connection refused" in ended.stderr
