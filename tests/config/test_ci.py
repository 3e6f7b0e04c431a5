"""What `.ci/run` calls, in a checkout of its own with a `make` that only prints its targets."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.places import PROJECT

ALWAYS = ["test", "long", "check"]


class Checkout:
    """A clone of a repository with one commit."""

    def __init__(self, place: Path) -> None:
        self.place, self.programs = place / "clone", place / "bin"
        self.programs.mkdir()
        (self.programs / "make").write_text(
            '#!/bin/sh\necho "$1"\n[ "$1" != "$FAILING" ] && [ "$1$AGAIN" != againfails ]\n'
        )
        (self.programs / "make").chmod(0o755)
        origin = place / "origin"
        (origin / ".ci").mkdir(parents=True)
        shutil.copy(PROJECT / ".ci" / "run", origin / ".ci")
        self.git("init", "--quiet", "--initial-branch=main", at=origin)
        self.commit("README.md", at=origin)
        self.git("clone", "--quiet", origin.as_uri(), str(self.place), at=place)

    def git(self, *arguments: str, at: Path | None = None) -> None:
        known = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *known, *arguments], cwd=at or self.place, check=True)

    def commit(self, name: str, at: Path | None = None) -> None:
        written = (at or self.place) / name
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text("new")
        self.git("add", ".", at=at)
        self.git("commit", "--quiet", "--message", name, at=at)

    def called(self, failing: str = "", *, again: str = "", ends: bool = False) -> list[str]:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        run = subprocess.run(
            [self.place / ".ci" / "run"],
            env={"PATH": path, "PYTHON": "true", "FAILING": failing, "AGAIN": again},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode == 0) == (ends or not failing), run.stderr
        return run.stdout.split()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("changed", "then"), [("webapp/stats/a.py", ["bench-test"]), ("webapp/pages/a.py", [])]
)
def test_what_measures_is_tested_where_any_commit_that_lands_changed_it(
    checkout: Checkout, changed: str, then: list[str]
) -> None:
    checkout.commit(changed)
    checkout.commit("README.rst")
    assert checkout.called() == [*ALWAYS, *then]


def test_what_measures_is_tested_where_nobody_can_know_what_changed(checkout: Checkout) -> None:
    assert checkout.called() == [*ALWAYS, "bench-test"], "HEAD is the branch of origin"
    checkout.commit("README.rst")
    checkout.git("remote", "remove", "origin")
    assert checkout.called() == [*ALWAYS, "bench-test"], "there is no origin"
    shutil.rmtree(checkout.place / ".git")
    assert checkout.called() == [*ALWAYS, "bench-test"], "there is no repository"


def test_a_failure_ends_it(checkout: Checkout) -> None:
    assert checkout.called(failing="test", again="fails") == ["test", "again"]
    assert checkout.called(failing="long", again="fails") == ["test", "long", "again", "check"]


def test_a_failed_check_ends_it_after_the_tests_that_run_beside_it(checkout: Checkout) -> None:
    assert checkout.called(failing="check") == ALWAYS


def test_what_failed_runs_once_more_by_name(checkout: Checkout) -> None:
    assert checkout.called(failing="test", ends=True)[:4] == ["test", "again", "long", "check"]
