"""What README.md and some pages of docs/ show works as it is written."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Send, agent, send, token
from webapp.outbox.services.delivering import signature

__all__ = ["agent", "send", "token"]  # fixtures

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ALERTS = (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
STATISTICS = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def shell(command: str, directory: Path) -> str:
    command = command.replace(".venv/bin/python", sys.executable).replace("~/driftline", str(ROOT))
    done = subprocess.run(
        ["sh", "-c", command], cwd=directory, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout


def values(source: str) -> tuple[dict[str, Any], list[Any]]:
    """Run a program: its names at the end, and the value of each expression that stands alone."""
    names: dict[str, Any] = {}
    found = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Expr):
            found.append(eval(ast.unparse(statement), names))
        else:
            exec(ast.unparse(statement), names)
    return names, found


def test_the_readme_prints_ministat_of_two_files(tmp_path: Path) -> None:
    for name, base in (("old", 100), ("new", 120)):
        (tmp_path / f"{name}.pps").write_text("".join(f"{base + i}\n" for i in range(5)))
    (command,) = [one for one in blocks(README, "sh") if "stats.ministat" in one]
    text = shell(
        f"cd {ROOT}; {command}".replace("old.pps", f"{tmp_path}/old.pps").replace(
            "new.pps", f"{tmp_path}/new.pps"
        ),
        tmp_path,
    )
    assert "Difference at 95.0% confidence" in text


def test_the_readme_finds_the_changes_of_a_directory_of_value_files(tmp_path: Path) -> None:
    for i in range(20):
        base = 1000 if i < 10 else 900
        samples = (base + 3 * ((i * 7 + j * 5) % 4) for j in range(5))
        (tmp_path / f"{300000 + i}.pps").write_text("".join(f"{one}\n" for one in samples))
    (command,) = [one for one in blocks(README, "sh") if "stats.changes" in one]
    pipeline = command.partition("\n")[2]  # the first line goes to the archive
    found = json.loads(shell(pipeline, tmp_path))
    assert [one["revision"] for one in found["changes"]] == ["r300010"]
    assert found["changes"][0]["detected_at"] >= "r300010"


@pytest.mark.django_db
def test_the_run_that_the_api_page_shows_is_stored(send: Send) -> None:
    (run, _error) = [json.loads(one) for one in blocks(API, "json")]
    assert send(run).status_code == 201
    assert send(run).status_code == 200


@pytest.mark.django_db
def test_every_address_that_the_api_page_names_exists(send: Send, client: Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    named = set(re.findall(r"`(?:GET|POST) (/[a-z]+(?:/\{id\}/points)?)", API))
    assert {f"/api/v1{path}".replace("{id}", "{series_id}") for path in named} <= set(paths)


def test_a_shell_checks_the_signature_of_a_delivery(tmp_path: Path) -> None:
    body = b'{"kind": "ping"}\n'
    (tmp_path / "body.json").write_bytes(body)
    (command,) = [one for one in blocks(ALERTS, "sh") if "openssl" in one]
    printed = shell(f"t=1790000000 secret=s3cret\n{command}", tmp_path)
    sent = signature("s3cret", body, at=1_790_000_000)
    assert sent.endswith(f",v1={printed.strip()}")


def test_ministat_from_python_gives_the_figures_of_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (source,) = [one for one in blocks(STATISTICS, "python") if "ministat" in one]
    names, (_, is_equal, _) = values(source)
    assert (names["before"].n, names["before"].minimum) == (5, 625167.0)
    found = names["found"]
    assert f"Difference(delta={found.delta:.1f}, error={found.error:.1f}, …)" in source
    assert is_equal
    assert "Difference at 95.0% confidence" in capsys.readouterr().out


def test_power_planning_gives_the_figures_of_the_page() -> None:
    (source,) = [one for one in blocks(STATISTICS, "python") if "power" in one]
    _, (five_boots, twenty_boots, eight_builds, requirement) = values(source)
    printed = re.findall(r"# (\d+\.\d):", source)
    assert [f"{one:.1f}" for one in (five_boots, twenty_boots, eight_builds)] == printed
    assert requirement.plan.builds == 6
    assert f"provable={requirement.provable:.2f}, seconds={requirement.seconds}" in source


def test_python_checks_the_signature_of_a_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = [one for one in blocks(ALERTS, "python") if "hmac" in one]
    names, _ = values(source)
    body = b'{"kind": "ping"}'
    header = signature("s3cret", body, at=1_790_000_000)
    monkeypatch.setattr("time.time", lambda: 1_790_000_100.0)
    assert names["is_driftline"]("s3cret", header, body)
    assert not names["is_driftline"]("other", header, body)
    monkeypatch.setattr("time.time", lambda: 1_790_000_400.0)
    assert not names["is_driftline"]("s3cret", header, body)
