"""The agent as files that a lab's machine installs: a wheel, and a zipapp with all it needs.

Both are made from the folder `agents/` and the libraries installed here. A wheel is a zip file
(PEP 427), so that no build backend has to be there; equal sources give equal bytes.
"""

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "labagent"
ZIPAPP = "labagent.pyz"
MAIN = f"from {PACKAGE}.cli import main\nmain()\n".encode()
EPOCH = (1980, 1, 1, 0, 0, 0)
Files = Iterable[tuple[str, bytes]]


class AgentMissing(Exception):
    """The folder `agents/`, or a library of the agent, is not installed beside the server."""


def agent_wheel_name() -> str:
    """`driftline_agent-0.1.0-py3-none-any.whl`. Raises AgentMissing."""
    return f"{_stem(_project())}-py3-none-any.whl"


@cache
def agent_wheel() -> bytes:
    """The wheel. Raises AgentMissing."""
    project = _project()
    info = f"{_stem(project)}.dist-info"
    scripts = "".join(f"{name} = {to}\n" for name, to in project["scripts"].items())
    files = [
        *_sources(),
        (f"{info}/METADATA", _metadata(project)),
        (f"{info}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        (f"{info}/entry_points.txt", f"[console_scripts]\n{scripts}".encode()),
    ]
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files]
    record = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    return _zipped([*files, (f"{info}/RECORD", record)])


@cache
def agent_zipapp() -> bytes:
    """A file that Python executes, without anything installed. Raises AgentMissing."""
    project = _project()
    libraries = _libraries(project["dependencies"], {})
    return b"#!/usr/bin/env python3\n" + _zipped(
        [
            ("__main__.py", MAIN),
            *_sources(),
            (f"{_stem(project)}.dist-info/METADATA", _metadata(project)),
            *(file for one in libraries.values() for file in _installed(one)),
        ]
    )


def _folder() -> Path:
    return Path(settings.BASE_DIR) / "agents"


def _project() -> dict[str, Any]:
    try:
        text = (_folder() / "pyproject.toml").read_text("utf-8")
    except OSError as error:
        raise AgentMissing(f"{_folder()} is not there: install from a checkout") from error
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def _stem(project: dict[str, Any]) -> str:
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata(project: dict[str, Any]) -> bytes:
    extras = project.get("optional-dependencies", {})
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
        *(f"Provides-Extra: {extra}" for extra in extras),
        *(
            f'Requires-Dist: {one}; extra == "{extra}"'
            for extra, wanted in extras.items()
            for one in wanted
        ),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _sources() -> Iterator[tuple[str, bytes]]:
    root = _folder() / "src"
    for path in sorted((root / PACKAGE).rglob("*.py")):
        yield path.relative_to(root).as_posix(), path.read_bytes()


def _libraries(
    required: Iterable[str], found: dict[str, metadata.Distribution]
) -> dict[str, metadata.Distribution]:
    """The installed distributions of these requirements and of theirs, by name."""
    for requirement in map(Requirement, required):
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError as error:
            raise AgentMissing(f"{name} is not installed beside the server") from error
        _libraries(found[name].requires or (), found)
    return found


def _installed(library: metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    """Modules, data and METADATA; no scripts, which lie outside, and no bytecode."""
    for file in sorted(library.files or (), key=str):
        if ".." not in file.parts and file.suffix != ".pyc":
            yield file.as_posix(), file.read_binary()


def _zipped(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
