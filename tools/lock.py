"""`make lock`: exact versions in `constraints.txt`, the hashes of their files in `locked/`.

    python -m tools.lock UV [--upgrade]

Each file of `locked/` is a list for ``pip install --no-deps --require-hashes -r``: what one purpose
needs beyond those before it. The hashes are those of every file of a release, for each platform and
Python: a mirror that offers only some of the files serves as well.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS, LOCKED = ROOT / "constraints.txt", ROOT / "locked"
PROJECTS = ("pyproject.toml", "agents/pyproject.toml")
PURPOSES = {
    "run": ("dumps",),
    "setup": ("embedded", "test", "check"),
    "exports": ("kcidb", "pandas", "parquet"),
    "supply": ("supply",),
}
"""The extras of each file after `build`, which makes the two projects and what has no wheel.
`exports` and `supply` each follow `setup`: what both need is in both."""

HEADER = "# Written by `make lock`: {}. See tools/lock.py\n"


def main(uv: str, *options: str) -> None:
    """Write `constraints.txt`, then `locked/`; with ``--upgrade`` of the newest versions."""
    compiling = (
        *(uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
        *("--no-header", "--no-annotate", "--no-emit-index-url"),
    )
    _run((*compiling, *options, "--all-extras", *PROJECTS, "-o", str(VERSIONS)))
    hashing = (*compiling, "--generate-hashes", "--constraints", str(VERSIONS))
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    before = _write("build", _run((*hashing, "-"), "\n".join(build)), set())
    for name, extras in PURPOSES.items():
        chosen = (word for extra in extras for word in ("--extra", extra))
        found = _write(name, _run((*hashing, *chosen, *PROJECTS)), before)
        if name in ("run", "setup"):
            before |= found


def _run(command: tuple[str, ...], given: str = "") -> str:
    return subprocess.run(
        command, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def _write(name: str, compiled: str, before: set[str]) -> set[str]:
    """Write the packages that are not among those ``before``; all of them are the answer."""
    found = list(packages(compiled))
    new = [package for package in found if package not in before]
    (LOCKED / f"{name}.txt").write_text("".join([HEADER.format(name), *new]))
    return set(found)


def packages(text: str) -> Iterator[str]:
    """The packages of a list, each with the lines of its hashes."""
    package = ""
    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            continue
        package += line
        if not line.endswith("\\\n"):
            yield package
            package = ""


if __name__ == "__main__":
    main(*sys.argv[1:])
