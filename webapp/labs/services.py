"""Writes to labs, agents and tokens; the quotas of labs: runs a day, trees, series, kilobytes of
profiles; and the agent as files that a lab's machine installs.

What a lab used is a row of its own, which an upload changes when everything else of it is written:
so the count costs one statement however much is stored, and holds among uploads at once, which wait
for one another no longer than for their commits.

The agent is a wheel, and a zipapp with all it needs. Both are made from the folder `agents/` and
the libraries installed here. A wheel is a zip file (PEP 427), so that no build backend has to be
there; equal sources give equal bytes.
"""

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from webapp.labs.models import Agent, Lab, LabQuota, Token, every_scope

ASK_AGAIN = timedelta(hours=1)
"""What only an operator can end is tried again after this."""
UNITS: Mapping[str, str] = {
    "runs": "runs a day",
    "trees": "trees",
    "series": "series",
    "profiles": "kB of profiles",
}

SPEND = """
INSERT INTO labs_labquota AS quota (lab_id, day, runs, trees, series, profiles)
VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (lab_id) DO UPDATE
   SET day = EXCLUDED.day, trees = quota.trees + EXCLUDED.trees,
       series = quota.series + EXCLUDED.series, profiles = quota.profiles + EXCLUDED.profiles,
       runs = CASE WHEN quota.day = EXCLUDED.day THEN quota.runs ELSE 0 END + EXCLUDED.runs
RETURNING day, runs, trees, series, profiles, most_runs, most_trees, most_series, most_profiles
"""
LOOK = """
SELECT day, runs, trees, series, profiles, most_runs, most_trees, most_series, most_profiles
  FROM labs_labquota WHERE lab_id = %s
"""


@dataclass(frozen=True)
class IssuedToken:
    """A new token with its text, which is not kept and can be shown only now."""

    token: Token
    text: str


@transaction.atomic
def create_agent(*, name: str, lab_name: str, simulated: bool = False) -> Agent:
    """The agent ``name`` of the lab ``lab_name``; both are created when they are new."""
    lab, _ = Lab.objects.get_or_create(name=lab_name, defaults={"simulated": simulated})
    agent, _ = Agent.objects.get_or_create(lab=lab, name=name)
    return agent


def issue_token(
    *, agent: Agent, scopes: Sequence[str] = (), days: int | None = None
) -> IssuedToken:
    """A fresh token for ``agent``, of all scopes when none is named, that expires after ``days``;
    earlier ones stay good until they are revoked.
    """
    prefix, text = Token.new_text()
    token = Token.objects.create(
        agent=agent,
        prefix=prefix,
        digest=Token.digest_of(text),
        scopes=list(scopes) or every_scope(),
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    return IssuedToken(token=token, text=text)


def revoke_token(*, token: Token, now: datetime | None = None) -> None:
    """End a token. Revoking it again changes nothing."""
    Token.objects.filter(pk=token.pk, revoked_at__isnull=True).update(
        revoked_at=now or timezone.now()
    )


def note_use(*, token: Token, now: datetime) -> None:
    """Remember that ``token`` was used, at most once a minute."""
    if token.use_is_stale(now):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
        Agent.objects.filter(pk=token.agent_id).update(last_seen_at=now)


class QuotaExceeded(Exception):
    """A lab may store no more of something; nothing of the upload is stored."""

    def __init__(self, lab: Lab, what: str, most: int, wanted: int, now: datetime) -> None:
        super().__init__(
            f"The quota of the lab {lab} is {most} {UNITS[what]}; with this upload it would have "
            f"{wanted}."
        )
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        self.what = what
        self.ends_at = midnight if what == "runs" else None
        self.retry_after = (midnight - now if what == "runs" else ASK_AGAIN).total_seconds()


@dataclass(slots=True)
class Stored:
    """What an upload adds to what its lab has."""

    runs: int = 0
    trees: int = 0
    series: int = 0
    profiles: int = 0


def require_quota(*, lab: Lab, runs: int) -> None:
    """Raise QuotaExceeded where ``lab`` can certainly not store ``runs`` more today.

    Without a lock, before anything is written: who has used up a quota costs little.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOOK, [lab.pk])
        row = cursor.fetchone()
    now = timezone.now()
    is_today = row is not None and row[0] == now.date()
    today = row if is_today else (now.date(), *[0] * len(UNITS), *_most(row))
    _refuse(lab, today, Stored(runs=runs), now, besides=runs)


def spend_quota(*, lab: Lab, stored: Stored) -> None:
    """Count what was stored, in its transaction. Raises QuotaExceeded, which is to undo that.

    Other uploads of the lab wait from here on until it ends: call it last.
    """
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(SPEND, [lab.pk, now.date(), *asdict(stored).values()])
        _refuse(lab, cursor.fetchone(), stored, now)


def set_quota(*, lab: Lab, **most_of: int | None) -> None:
    """How much of each of `UNITS` ``lab`` may store; None, or nothing: as much as the settings
    allow every lab.
    """
    most = {f"most_{what}": most_of.get(what) for what in UNITS}
    LabQuota.objects.update_or_create(
        lab=lab, defaults=most, create_defaults={**most, "day": timezone.now().date()}
    )


def default_quota() -> dict[str, int]:
    """How much every lab may store without a quota of its own."""
    return {
        "runs": settings.LAB_RUNS_A_DAY,
        "trees": settings.LAB_TREES,
        "series": settings.LAB_SERIES,
        "profiles": settings.LAB_PROFILE_KILOBYTES,
    }


def _most(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return row[1 + len(UNITS) :] if row is not None else (None,) * len(UNITS)


def _refuse(
    lab: Lab, row: tuple[Any, ...], stored: Stored, now: datetime, *, besides: int = 0
) -> None:
    """Raise where what is in ``row``, and ``besides`` more runs, is too much of what was added."""
    used = dict(zip(UNITS, row[1:], strict=False))
    used["runs"] += besides
    given = zip(default_quota().items(), _most(row), strict=True)
    most = {what: default if of_lab is None else of_lab for (what, default), of_lab in given}
    for what, added in asdict(stored).items():
        if added and used[what] > most[what]:
            raise QuotaExceeded(lab, what, most[what], used[what], now)


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
