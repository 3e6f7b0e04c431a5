"""docker-compose.yml: what can be tested of it without a container engine."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.places import PROJECT
from webapp.config import settings
from webapp.config.instance import WEB_ROLE
from webapp.launcher import servers
from webapp.launcher.programs import QUIET

FILE = PROJECT / "docker-compose.yml"
SERVICES: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
LASTING = sorted(SERVICES.keys() - {"migrate"})


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_container_is_hardened_and_limited(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert "build" in service or service["user"] not in ("", "root", "0")


@pytest.mark.parametrize("name", LASTING)
def test_every_container_reports_whether_it_is_well(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]


@pytest.mark.parametrize("name", ["worker", "deliveries"])
def test_a_worker_keeps_silent_as_that_of_the_launcher(name: str) -> None:
    assert set(QUIET) <= set(SERVICES[name]["command"])


def test_the_web_servers_tmp_holds_the_large_uploads_that_it_reads_at_once() -> None:
    """Memory too: files in a tmpfs count for the container."""
    web = SERVICES["web"]
    mount = re.search(r"^/tmp:.*size=\$\{\w+:-(\d+)m\}$", web["tmpfs"][0])
    memory = re.search(r":-(\d+)g\}$", web["mem_limit"])
    assert mount
    assert memory
    room = settings.WEB_WORKERS * settings.LARGE_BODIES * settings.UPLOAD_MAX_BYTES
    assert room < int(mount[1]) * 2**20 < int(memory[1]) * 2**30


def test_images_of_others_are_pinned_to_a_minor_version() -> None:
    images = [one["image"] for one in SERVICES.values() if "build" not in one]
    assert images
    assert all(re.search(r":\d+\.\d+", image) for image in images)


def test_compose_has_the_major_version_that_make_up_brings_along() -> None:
    postgres = SERVICES["postgres"]
    major = servers.find_postgres().major
    assert f"/postgres:{major}." in postgres["image"]
    assert postgres["environment"]["PGDATA"] == f"/var/lib/postgresql/{major}/docker"


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
@pytest.mark.parametrize(
    ("where", "written", "refused"),
    [
        ("PG_VERSION", "17", True),
        ("data/PG_VERSION", "17", True),
        ("18/docker/PG_VERSION", "18", False),
    ],
)
def test_a_volume_of_another_version_is_refused_with_the_way(
    tmp_path: Path, where: str, written: str, refused: bool
) -> None:
    """The entry point as it is written, with stand-ins for the two programs it calls."""
    for name, prints in (
        ("postgres", "postgres (PostgreSQL) 18.4"),
        ("docker-entrypoint.sh", "ran"),
    ):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{prints}' $*\n")
        program.chmod(0o755)
    volume = tmp_path / "volume"
    (volume / where).parent.mkdir(parents=True)
    (volume / where).write_text(f"{written}\n")
    shell, option, script, name = SERVICES["postgres"]["entrypoint"]
    script = script.replace("$$", "$").replace("/var/lib/postgresql", str(volume))
    done = subprocess.run(
        [shell, option, script, name, "postgres"],
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PGDATA": f"{volume}/18/docker"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 1) is refused
    assert ("written by PostgreSQL 17, and this image has 18" in done.stderr) is refused
    assert ("docs/running.md" in done.stderr) is refused
    assert (done.stdout == "ran postgres\n") is not refused


def test_what_the_images_copy_is_sent_to_their_build() -> None:
    sent = (PROJECT / ".dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (PROJECT / "Dockerfile").read_text(), re.M)
    sources = {source for line in copied for source in line.split()} - {"."}
    assert sources
    assert {f"!{source.partition('/')[0]}" for source in sources} <= set(sent)


def test_the_front_is_the_caddy_that_make_up_brings_along() -> None:
    image = re.search(r"/caddy:([\d.]+) ", (PROJECT / "Dockerfile").read_text())
    caddy = servers.find_caddy()
    assert image
    assert caddy
    assert image[1] == ".".join(map(str, caddy.version))


def front(place: Path, tls: str = "public") -> dict[str, Any]:
    """What Caddy makes of its configuration."""
    caddy = servers.find_caddy()
    assert caddy
    shared = PROJECT / "webapp" / "launcher" / "driftline.caddy"
    written = (PROJECT / "Caddyfile").read_text().replace("/etc/caddy/driftline.caddy", str(shared))
    (place / "Caddyfile").write_text(written)
    set_there = {"HOST": "perf.lan", "TLS": tls, "BODY_SECONDS": "361", "ACCESS_LOG": "false"}
    adapted = subprocess.run(
        [caddy.program, "adapt", "--adapter", "caddyfile", "--config", place / "Caddyfile"],
        env={**os.environ, **{f"DRIFTLINE_{name}": value for name, value in set_there.items()}},
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(adapted.stdout)
    return found


def test_of_several_web_servers_each_has_its_turn(tmp_path: Path) -> None:
    """With a name for an address Caddy would ask the first one alone."""
    proxies = list(found_in(front(tmp_path), "reverse_proxy"))
    assert len(proxies) == 2  # plain and TLS
    for proxy in proxies:
        assert proxy["dynamic_upstreams"]["name"] in SERVICES
        assert proxy["load_balancing"]["selection_policy"] == {"policy": "round_robin"}
        assert proxy["load_balancing"]["try_duration"] > 0


def found_in(part: Any, handler: str) -> Iterator[dict[str, Any]]:
    """The handlers of a kind within a configuration of Caddy."""
    if isinstance(part, dict) and part.get("handler") == handler:
        yield part
    for inner in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from found_in(inner, handler)


def test_the_web_server_signs_in_as_a_role_of_its_own() -> None:
    """The same server and database; `tests.config.test_web_role` has what it may do."""
    environment = SERVICES["web"]["environment"]
    urls = (environment[name] for name in ("DATABASE_URL", "DATABASE_WEB_URL"))
    owner, web = (urlsplit(re.sub(r"\$\{.*?\}", "secret", url)) for url in urls)
    assert (web.hostname, web.path) == (owner.hostname, owner.path)
    assert (owner.username, web.username) == ("driftline", WEB_ROLE)
    assert "DATABASE_WEB_URL" in SERVICES["migrate"]["environment"]  # makes the role


@pytest.mark.parametrize(("tls", "issuers"), [("public", None), ("internal", "internal")])
def test_a_name_that_is_known_here_only_gets_a_certificate_of_its_own(
    tmp_path: Path, tls: str, issuers: str | None
) -> None:
    automation = front(tmp_path, tls)["apps"].get("tls", {}).get("automation", {})
    found = [one["issuers"][0]["module"] for one in automation.get("policies", [])]
    assert found == ([issuers] if issuers else [])


def test_the_user_of_the_front_owns_where_it_writes_certificates() -> None:
    front = SERVICES["front"]
    (volume,) = front["volumes"]
    assert volume.partition(":")[2] == front["environment"]["XDG_DATA_HOME"]
    assert (
        f"\nRUN chown -R {front['user']} {front['environment']['XDG_DATA_HOME']}\n"
        in (PROJECT / "Dockerfile").read_text()
    )


def test_backups_go_to_a_volume_that_the_user_of_the_image_owns() -> None:
    worker = SERVICES["worker"]
    (volume,) = (each for each in worker["volumes"] if isinstance(each, str))
    place = volume.rpartition(":")[2]
    assert worker["environment"]["DRIFTLINE_BACKUPS"] == f"${{DRIFTLINE_BACKUPS-{place}}}"
    made = rf"--owner=driftline --mode=0700 {place}\n.*\nUSER driftline\n"
    assert re.search(made, (PROJECT / "Dockerfile").read_text(), re.DOTALL)


def test_the_replica_is_optional_and_of_the_version_of_the_primary() -> None:
    replica, postgres = SERVICES["replica"], SERVICES["postgres"]
    assert replica["profiles"] == ["replica"]
    for name in ("image", "command", "healthcheck"):
        assert replica[name] == postgres[name]
    assert replica["environment"]["PGDATA"] == postgres["environment"]["PGDATA"]
    assert set(replica["volumes"]).isdisjoint(postgres["volumes"])
    url = SERVICES["web"]["environment"]["DATABASE_REPLICA_URL"]
    assert url == "${DATABASE_REPLICA_URL:-}"


def test_no_volume_is_reached_through_a_link() -> None:
    """Owner and mode of a new volume are those of the directory at the link's other end."""
    volumes = [str(volume) for one in SERVICES.values() for volume in one.get("volumes", [])]
    assert volumes
    assert not [volume for volume in volumes if "/var/run/" in volume]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_the_disk_of_the_database_is_measured_where_its_volume_is_seen(name: str) -> None:
    """`web` shows `/status/` and `worker` mails about it; neither may write there."""
    (mount,) = (each for each in SERVICES[name]["volumes"] if isinstance(each, dict))
    assert mount["target"] == SERVICES[name]["environment"]["DRIFTLINE_DATABASE_DISK"]
    assert mount["read_only"] is True
    # A new volume takes owner and mode from the image of `postgres`, whoever sees it first.
    assert mount["volume"] == {"nocopy": True}
    assert f"{mount['source']}:/var/lib/postgresql" in SERVICES["postgres"]["volumes"]


def test_programs_beside_the_web_server_start_in_the_environment_of_the_image(
    tmp_path: Path,
) -> None:
    """`migrate` runs before any web server made the directory for what its processes count."""
    assert re.search(r"\bPROMETHEUS_MULTIPROC_DIR=", (PROJECT / "Dockerfile").read_text())
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=PROJECT,
        env={
            **os.environ,
            "STATE": str(tmp_path),
            "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "metrics").exists()
