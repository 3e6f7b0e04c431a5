"""The command: its document as the contract has it."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.stats.profiles.sides import side
from tests.stats.profiles.test_difference import STACKS, changed, grown
from webapp.stats.profiles import difference
from webapp.stats.profiles.__main__ import document, given


def test_the_document_has_the_keys_of_the_contract() -> None:
    a, b = side(STACKS), grown(changed(copy=3000))
    found = document(difference(a, b), (a, b), (["a"], ["b"]), ["odd line"])
    assert found["sides"][0] == {"files": ["a"], "samples": 50000, "idle_share": 0.0}
    assert found["warnings"][0] == "odd line"
    assert found["claims"] == 1
    first = found["functions"][0]
    assert (first["name"], first["module"], first["verdict"]) == ("copy", "kernel", "dearer")
    assert first["ci"][0] < first["change_pct_of_packet"] < first["ci"][1]
    assert 0.95 < first["probability"] <= 1
    sizes = [abs(one["change_pct_of_packet"]) for one in found["functions"]]
    assert sizes == sorted(sizes, reverse=True)


def test_a_rate_stands_behind_the_last_at(tmp_path: Path) -> None:
    assert given("a@b.graph@3984095.5").pps == 3984095.5
    assert given("plain.graph").pps is None
    odd = tmp_path / "odd@12"
    odd.touch()
    assert given(str(odd)).path == odd
    with pytest.raises(ValueError, match="packets per second"):
        given("a.graph@0")


@pytest.mark.skipif(
    find_spec("labagent.readers.profiles") is None, reason="the agent has no reader of profiles yet"
)
def test_the_command_compares_files_without_django(tmp_path: Path) -> None:
    for name, copy in (("a", 200), ("b", 300)):
        (tmp_path / f"{name}.folded").write_text(f"main;send 500\nmain;copy {copy}\n")
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['x', '--a', '{tmp_path}/a.folded@1000', '--b', '{tmp_path}/b.folded@800']\n"
        "try:\n    runpy.run_module('webapp.stats.profiles', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "assert not {'django', 'celery'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["sides"][1]["samples"] == 800
    assert any("One boot a side" in text for text in found["warnings"])
