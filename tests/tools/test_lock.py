"""What `make setup` installs from refuses a file that is not the one that was locked."""

import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.places import PROJECT
from tools.lock import PROJECTS, PURPOSES, packages

INSTALLED_BY_MAKE = ("build", "run", "setup")


def locked(name: str) -> dict[str, str]:
    """The packages of a file of `locked/`: version and marker, and the lines of the hashes."""
    found = packages((PROJECT / "locked" / f"{name}.txt").read_text())
    lines = [package.partition(" \\\n") for package in found]
    return {package: hashes for package, _, hashes in lines}


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_every_package_of_the_lock_has_the_hashes_of_its_files() -> None:
    everything = {
        package: hashes for name in ("build", *PURPOSES) for package, hashes in locked(name).items()
    }
    versions = (PROJECT / "constraints.txt").read_text().splitlines()
    assert {package.split(" ")[0] for package in everything} == {
        version.split(" ")[0] for version in versions
    }
    for package, hashes in everything.items():
        assert re.fullmatch(r"(\s+--hash=sha256:[0-9a-f]{64}( \\)?\n)+", hashes), package


@pytest.mark.parametrize("project", PROJECTS)
def test_what_make_installs_is_all_that_the_projects_ask_for(project: str) -> None:
    asked = tomllib.loads((PROJECT / project).read_text())
    extras = asked["project"].get("optional-dependencies", {})
    wanted = names(asked["project"]["dependencies"]) | names(asked["build-system"]["requires"])
    for extra in (*PURPOSES["run"], *PURPOSES["setup"]):
        wanted |= names(extras.get(extra, []))
    found = {package.partition("==")[0] for name in INSTALLED_BY_MAKE for package in locked(name)}
    assert wanted - {"driftline"} <= found


def test_pip_refuses_a_file_with_another_hash(tmp_path: Path) -> None:
    """With the options of the Makefile, and a folder as registry."""
    wheel = tmp_path / "example-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        head = "Metadata-Version: 2.1\nName: example\nVersion: 1.0\n"
        archive.writestr("example-1.0.dist-info/METADATA", head)
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("example-1.0.dist-info/WHEEL", kind)
        archive.writestr("example-1.0.dist-info/RECORD", "")
    good = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert install(tmp_path, good).returncode == 0
    other = good[::-1]
    refused = install(tmp_path, other)
    assert refused.returncode
    assert "DO NOT MATCH THE HASHES" in refused.stderr
    assert other in refused.stderr
    assert not (tmp_path / other).exists()


def install(registry: Path, sha256: str) -> subprocess.CompletedProcess[str]:
    """Into a folder of that name."""
    options = re.search(r"^PIP_LOCKED = \$\(PIP\) (.+)$", (PROJECT / "Makefile").read_text(), re.M)
    assert options
    (registry / "lock.txt").write_text(f"example==1.0 \\\n    --hash=sha256:{sha256}\n")
    pip = (sys.executable, "-m", "pip", "--isolated", "install", *options[1].split())
    where = ("--no-index", "--find-links", registry, "--target", registry / sha256)
    return subprocess.run(
        (*pip, *where, "-r", registry / "lock.txt"), capture_output=True, text=True, check=False
    )
