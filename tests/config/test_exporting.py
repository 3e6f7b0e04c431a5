"""Tables for Parquet, reports for KCIDB, notes for git, and the client for programs."""

import csv
import io
import json
import re
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from labagent import Driftline

from tests import make
from webapp.config import exporting
from webapp.results.models import Revision, RevisionAlias, Series
from webapp.results.services import chunks

pytestmark = pytest.mark.django_db


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With four commits, the hashes of which the tree's revisions answer to."""
    directory = tmp_path / "src"
    git(tmp_path, "init", "-q", "-b", "main", str(directory))
    for number in range(4):
        git(directory, "commit", "-q", "--allow-empty", "-m", f"change {number}")
    return directory


def git(directory: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@bsd.example"]
    command = ["git", "-C", str(directory), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def series(repository: Path) -> Series:
    """Four points; the third lost 9 %, which an alert holds, of the last half is back."""
    revisions = make.revisions(4)
    hashes = git(repository, "log", "--reverse", "--format=%H").split()
    for revision, name in zip(revisions, hashes, strict=True):
        RevisionAlias.objects.create(tree=revision.tree, revision=revision, name=name)
    found = make.series()
    for revision, level in zip(revisions, (100, 101, 92, 97), strict=True):
        make.point(found, revision, [level, level + 1, level - 1])
    make.finding(found, revisions[1], revisions[2], change_pct=-8.0)
    make.alert(revisions[2], after=revisions[1])
    return found


def printed(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_the_verdicts_are_reports_of_kcidb(series: Series) -> None:
    (report,) = map(json.loads, printed("export_kcidb", "--tree", series.tree.name).splitlines())
    assert [one["status"] for one in report["tests"]] == ["DONE", "FAIL", "PASS"]
    builds = {one["id"]: one["checkout_id"] for one in report["builds"]}
    commits = {one["id"]: one["git_commit_hash"] for one in report["checkouts"]}
    failed = report["tests"][1]
    commit = commits[builds[failed["build_id"]]]
    at = Revision.objects.get(aliases__name=commit)
    assert at.name == "r300006"
    assert failed["misc"]["change_percent"] == pytest.approx(-8.91, abs=0.01)


def test_kcidb_itself_takes_the_reports(series: Series) -> None:
    io_schema = pytest.importorskip("kcidb_io.schema", reason="kcidb-io is not installed")
    for report in exporting.kcidb_reports(series.tree, "driftline"):
        assert io_schema.LATEST.is_compatible(report)
        io_schema.LATEST.validate(report)


def test_git_log_shows_what_was_found(series: Series, repository: Path) -> None:
    output = printed("export_notes", "--tree", series.tree.name, "--git", str(repository))
    assert output == "1 commits have notes\n"
    log = git(repository, "log", "--notes=driftline", "--format=%s|%N")
    assert "change 2|Driftline: pps -8.0 % in forwarding on Atom_C2758/T540-CR, worse" in log
    assert log.count("Driftline:") == 1
    before = git(repository, "rev-parse", exporting.NOTES)
    printed("export_notes", "--tree", series.tree.name, "--git", str(repository))
    assert git(repository, "rev-parse", exporting.NOTES) == before


def test_commits_that_a_repository_lacks_are_counted(series: Series, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    output = printed("export_notes", "--tree", series.tree.name, "--git", str(other))
    assert output == f"0 commits have notes; 1 commits are not in {other}\n"


@pytest.mark.parametrize("command", ["export_kcidb", "export_notes"])
def test_without_hashes_there_is_nothing_to_export(command: str, tmp_path: Path) -> None:
    make.revisions(2)
    more = ["--git", str(tmp_path)] if command == "export_notes" else []
    with pytest.raises(CommandError, match="git hash"):
        call_command(command, "--tree", "freebsd-head", *more)


def test_a_directory_that_is_no_repository_is_named(series: Series, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"git: .*not a git repository"):
        call_command("export_notes", "--tree", series.tree.name, "--git", str(tmp_path))


def test_tables_are_read_in_chunks(
    series: Series, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    assert [len(some) for some in chunks(exporting.point_rows(), 3)] == [3, 1]


def test_runs_and_points_as_parquet(series: Series, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    make.run(Revision.objects.get(name="r300000"))
    printed("export_parquet", str(tmp_path))
    points = parquet.read_table(tmp_path / "points.parquet").to_pylist()
    assert [one["revision"] for one in points] == ["r300000", "r300003", "r300006", "r300009"]
    assert points[2]["mean"] == 92
    (run, *_) = parquet.read_table(tmp_path / "runs.parquet").to_pylist()
    assert run["revision"] == "r300000"
    assert len(run["samples"]) >= 1


def test_each_query_of_the_dashboard_for_grafana_is_answered_as_it_reads_answers(
    series: Series,
) -> None:
    """As the Infinity data source does: by its columns, which it finds again only where they keep
    their names, times as RFC 3339 has them, numbers as Go reads them."""
    dashboard = json.loads((Path(settings.BASE_DIR) / "docs/grafana-dashboard.json").read_text())
    values = {"${server}": "", "${series}": str(series.pk)}
    targets = [target for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(targets) == len(dashboard["panels"]) == 3
    for target in targets:
        address = re.sub(r"\$\{\w+\}", lambda found: values[found[0]], target["url"])
        answer = Client().get(address).content.decode()
        rows = (
            list(csv.DictReader(io.StringIO(answer)))
            if target["type"] == "csv"
            else json.loads(answer)[target["root_selector"]]
        )
        assert rows
        for column in target["columns"]:
            assert column["text"] == column["selector"]
            found = [row[column["selector"]] for row in rows]
            read = [READ[column["type"]](value) for value in found if value not in ("", None)]
            assert read, f"{address} has no {column['selector']}"


def rfc3339(text: str) -> datetime:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text), text
    return datetime.fromisoformat(text)


READ = {"timestamp": rfc3339, "number": float, "string": str}


class InProcess(httpx2.BaseTransport):
    """The site, without a socket."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = Client().get(request.url.raw_path.decode())
        return httpx2.Response(answer.status_code, content=answer.content)


def test_programs_read_series_by_the_client(series: Series) -> None:
    site = Driftline("http://testserver/", transport=InProcess())
    (found,) = site.series(metric="pps")
    assert (found.tree, found.mode) == (series.tree.name, "forwarding")
    assert found.points()[0]["revision"] == "r300000"
    assert [one["mean"] for one in site.series().rows()] == [100, 101, 92, 97]
    assert len(site.series(metric="none")) == 0
    with pytest.raises(AttributeError, match="no colour"):
        found.colour  # noqa: B018


def test_programs_read_series_as_a_table(series: Series) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = Driftline("http://testserver", transport=InProcess()).series().to_pandas()
    assert list(table["revision"]) == ["r300000", "r300003", "r300006", "r300009"]
    assert str(table["committed_at"].dtype).startswith("datetime64")
