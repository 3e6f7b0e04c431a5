"""What leaves an instance for other tools: tables for Parquet, reports for KCIDB, notes for git."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db.models import QuerySet

from webapp.analysis.models import Finding, Flag, Verdict
from webapp.analysis.queries import Compared, compared_at
from webapp.outbox.messages import absolute
from webapp.results.models import Measurement, Point, Revision, RevisionAlias, Tree
from webapp.results.queries import NamedSeries, series_by_id
from webapp.results.services import chunks

CHUNK, REVISIONS = 2000, 100
HASH = re.compile(r"[0-9a-f]{40}")
NOTES = "refs/notes/driftline"
Row = dict[str, Any]
T = TypeVar("T")


class GitError(Exception):
    """git refused; the message is its own."""


def run_rows() -> Iterator[Row]:
    """A row a metric of each run that any upload of its UUID did not replace, withdrawn ones
    included."""
    found = (
        Measurement.objects.filter(run__superseded_by__isnull=True)
        .select_related("run__revision__tree", "run__hardware", "run__mode", "run__variant")
        .select_related("run__kernel")
        .select_related("series__metric")
        .order_by("run", "pk")
    )
    for one in found.iterator(CHUNK):
        run = one.run
        yield {
            "uuid": str(run.uuid),
            "tree": run.revision.tree.name,
            "revision": run.revision.name,
            "position": run.revision.position,
            "hardware": run.hardware.name,
            "mode": run.mode.name,
            "variant": run.variant.name if run.variant else "",
            "metric": one.series.metric.name,
            "unit": one.series.metric.unit,
            "better": one.series.metric.better,
            "build_id": run.kernel.build_id,
            "measured_at": run.measured_at,
            "received_at": run.received_at,
            "withdrawn": run.withdrawn_at is not None,
            "samples": one.samples,
            "boots": one.boots,
        }


def point_rows() -> Iterator[Row]:
    """A row a revision of each series."""
    found = Point.objects.select_related(
        *("series__tree", "series__hardware", "series__mode", "series__metric"),
        *("series__variant", "revision"),
    ).order_by("series", "position")
    for one in found.iterator(CHUNK):
        series = one.series
        yield {
            "series": series.pk,
            "tree": series.tree.name,
            "hardware": series.hardware.name,
            "mode": series.mode.name,
            "metric": series.metric.name,
            "variant": series.variant.name if series.variant else "",
            "unit": series.metric.unit,
            "better": series.metric.better,
            "revision": one.revision.name,
            "position": one.position,
            "committed_at": one.revision.committed_at,
            "n": one.n,
            "runs": one.runs,
            "builds": one.builds,
            "boots": one.boots,
            "mean": one.mean,
            "median": one.median,
            "variance": one.variance,
            "min": one.minimum,
            "max": one.maximum,
        }


def hashes_of(tree: Tree) -> dict[int, str]:
    """The full hash of each revision that has one, by the revision's id."""
    return dict(_hashes(tree).values_list("revision_id", "name"))


def _hashes(tree: Tree) -> QuerySet[RevisionAlias]:
    return RevisionAlias.objects.filter(tree=tree, name__regex=rf"^{HASH.pattern}$")


def kcidb_reports(tree: Tree, origin: str) -> Iterator[Row]:
    """Reports of KCIDB 5.3 with a test for each verdict about a revision whose hash is known.

    FAIL is a regression that the detector found; PASS an improvement, or a revision that ministat
    finds better; DONE where nothing is proven.
    """
    hashes = hashes_of(tree)
    tests = _kcidb_tests(hashes, origin)
    for some in chunks(tests, CHUNK):
        builds = {one["build_id"]: None for one in some}
        commits = [build.partition(":")[2].partition(":")[0] for build in builds]
        yield {
            "version": {"major": 5, "minor": 3},
            "checkouts": [
                {
                    "id": f"{origin}:{commit}",
                    "origin": origin,
                    "tree_name": tree.name,
                    "git_commit_hash": commit,
                }
                for commit in dict.fromkeys(commits)
            ],
            "builds": [
                {"id": build, "origin": origin, "checkout_id": f"{origin}:{commit}"}
                for build, commit in zip(builds, commits, strict=True)
            ],
            "tests": some,
        }


def _kcidb_tests(hashes: Mapping[int, str], origin: str) -> Iterator[Row]:
    """Of the revisions (ids) in the order of the tree."""
    along = Revision.objects.filter(pk__in=hashes).order_by("position").values_list("pk", flat=True)
    for some in chunks(along, REVISIONS):
        found = compared_at(some)
        series = series_by_id({one.series_id for one in found})
        for one in found:
            yield _kcidb_test(one, series[one.series_id], hashes[one.revision_id], origin)


def _kcidb_test(one: Compared, series: NamedSeries, commit: str, origin: str) -> Row:
    return {
        "id": f"{origin}:{series.pk}:{commit}",
        "origin": origin,
        "build_id": f"{origin}:{commit}:plain",
        "path": re.sub(r"[^A-Za-z0-9_.-]", "_", f"{series.mode.name}.{series.metric.name}"),
        "status": _status(one),
        "environment": {"comment": series.hardware.name},
        "misc": {
            "hardware": series.hardware.name,
            "metric": series.metric.name,
            "verdict": one.verdict.value,
            "previous": one.previous,
            "change_percent": one.percent,
            "change_percent_error": one.percent_error,
        },
    }


def _status(one: Compared) -> str:
    if one.flag == Flag.REGRESSED:
        return "FAIL"
    return "PASS" if one.flag == Flag.IMPROVED or one.verdict == Verdict.BETTER else "DONE"


def notes_of(tree: Tree) -> tuple[dict[str, list[str]], datetime | None]:
    """Lines about each commit at which a change of level is proven, by its hash; and when the
    newest of these changes was detected."""
    hashes = hashes_of(tree)
    found = (
        Finding.objects.filter(series__tree=tree, state__in=Finding.ALERTED, revision__in=hashes)
        .select_related("series__hardware", "series__mode", "series__metric", "revision")
        .select_related("membership__alert")
        .order_by("position", "series")
    )
    lines: dict[str, list[str]] = {}
    newest = None
    for one in found:
        lines.setdefault(hashes[one.revision_id], []).append(_note(one))
        newest = max(filter(None, (newest, one.first_detected_at)))
    return lines, newest


def _note(one: Finding) -> str:
    series = one.series
    change = "changed" if one.change_pct is None else f"{one.change_pct:+.1f} %"
    member = getattr(one, "membership", None)
    where = member.alert.get_absolute_url() if member else one.revision.get_absolute_url()
    about = f"{series.metric.name} {change} in {series.mode.name} on {series.hardware.name}"
    return f"Driftline: {about}, {one.verdict} ({one.probability:.0%} likely): {absolute(where)}"


def write_notes(git: Path, lines: dict[str, list[str]], moment: datetime) -> tuple[int, int]:
    """Put the lines into refs/notes/driftline of a repository, instead of what lay there; how many
    commits have them, and how many the repository does not have. Raises GitError."""
    there = _commits_in(git, lines)
    stream = [
        f"commit {NOTES}\ncommitter Driftline <driftline> {int(moment.timestamp())} +0000\n",
        "data 23\nVerdicts by Driftline\n\n\n",
    ]
    for commit in there:
        text = "".join(f"{line}\n" for line in lines[commit])
        stream.append(f"N inline {commit}\ndata {len(text.encode())}\n{text}\n")
    _git(git, ["fast-import", "--quiet", "--force"], "".join(stream))
    return len(there), len(lines) - len(there)


def _commits_in(git: Path, wanted: dict[str, list[str]]) -> list[str]:
    asked = "".join(f"{commit}\n" for commit in wanted)
    answers = _git(git, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], asked)
    return [line.split()[0] for line in answers.splitlines() if line.endswith(" commit")]


def _git(git: Path, arguments: list[str], text: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(git), *arguments], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise GitError(done.stderr.strip() or f"git ended with {done.returncode}")
    return done.stdout


def tree_with_hashes(name: str) -> Tree:
    """The tree of this name. Raises CommandError where none of its revisions has a full hash,
    without which nothing can be exported.
    """
    tree = Tree.objects.filter(name=name).first()
    if tree is None or not _hashes(tree).exists():
        raise CommandError(f"no revision of a tree {name!r} has a git hash: import its history")
    return tree
