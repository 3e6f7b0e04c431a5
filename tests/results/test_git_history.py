"""Commits straight from a git checkout, and the command that imports them."""

import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.results.steps import measured, names_of, places, upload
from webapp.results.documents import Unprocessable
from webapp.results.git_history import Ids, read_git
from webapp.results.models import Revision

IDENTITY = {
    "GIT_AUTHOR_NAME": "Änn Author",
    "GIT_AUTHOR_EMAIL": "ann@bsd.example",
    "GIT_COMMITTER_NAME": "Carl",
    "GIT_COMMITTER_EMAIL": "carl@bsd.example",
    "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-12-23T10:00:00+0100",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Checkout:
    """A small repository."""

    def __init__(self, path: Path) -> None:
        self.path = path
        subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | IDENTITY,
        )
        return done.stdout.strip()

    def commit(self, message: str, *, svn: int | None = None, note: int | None = None) -> str:
        """The hash of a new empty commit."""
        if svn is not None:
            message += f"\n\ngit-svn-id: svn+ssh://svn.freebsd.org/base/head@{svn} ccf9f872-aa2e"
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        if note is not None:
            self.git("notes", "add", "-m", f"svn path=/head/; revision={note}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "src")


def names(checkout: Checkout, **options: object) -> list[str]:
    return [one.revision for one in read_git(checkout.path, **options).commits]  # type: ignore[arg-type]


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("import_revisions", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_commits_are_counted_along_the_first_parents(checkout: Checkout) -> None:
    first = checkout.commit("one")
    checkout.git("checkout", "-q", "-b", "side")
    checkout.commit("aside")
    checkout.git("checkout", "-q", "main")
    second = checkout.commit("two")
    checkout.git("merge", "-q", "--no-ff", "-m", "join", "side")
    history = read_git(checkout.path)
    assert [one.revision for one in history.commits] == ["n1", "n2", "n3"]
    assert [one.position for one in history.commits] == [10**9 + i for i in (1, 2, 3)]
    assert [one.aliases[-1] for one in history.commits[:2]] == [first, second]
    assert history.commits[2].subject == "join"
    assert int(checkout.git("rev-list", "--first-parent", "--count", "HEAD")) == 3
    assert names(checkout, branch="side") == ["n1", "n2"]


def test_a_commit_brings_its_author_its_committers_time_and_its_whole_message(
    checkout: Checkout,
) -> None:
    checkout.commit("subject, with “quotes”\n\nbody\n\n\x1f|%x00|\tend")
    (commit,) = read_git(checkout.path).commits
    assert (commit.author_name, commit.author_email) == ("Änn Author", "ann@bsd.example")
    assert commit.committed_at is not None
    assert commit.committed_at.isoformat() == "2020-12-23T09:00:00+00:00"
    assert commit.subject == "subject, with “quotes”"
    assert commit.message.endswith("\n\nbody\n\n\ufffd|%x00|\tend")


def test_long_or_missing_text_is_taken_as_far_as_it_fits(checkout: Checkout) -> None:
    checkout.commit("x" * 900)
    checkout.commit("")
    long, empty = read_git(checkout.path).commits
    assert (len(long.subject), len(long.message), empty.subject) == (500, 900, "")


def test_subversion_numbers_place_a_commit_before_those_counted_in_git(checkout: Checkout) -> None:
    old = checkout.commit("from a mirror", svn=368820)
    checkout.commit("from the new repository", note=368821)
    checkout.commit("made in git")
    commits = read_git(checkout.path).commits
    assert [one.revision for one in commits] == ["r368820", "r368821", "n3"]
    assert [one.position for one in commits] == [368820, 368821, 10**9 + 3]
    assert commits[0].names == ("r368820", "n1", old)


def test_a_quoted_number_in_a_late_commit_does_not_place_it(checkout: Checkout) -> None:
    for number in (10, 20, 30):
        checkout.commit("old", svn=number)
    checkout.commit("made in git")
    checkout.commit("made in git")
    checkout.commit("merge of an old one", svn=990)
    assert names(checkout) == ["r10", "r20", "r30", "n4", "n5", "n6"]


def test_old_commits_without_a_number_in_order_are_left_out_with_a_warning(
    checkout: Checkout,
) -> None:
    checkout.commit("old", svn=10)
    without = checkout.commit("a tag")
    checkout.commit("old", svn=20)
    again = checkout.commit("split in two", svn=20)
    checkout.commit("old", svn=30)
    history = read_git(checkout.path)
    assert [one.revision for one in history.commits] == ["r10", "r20", "r30"]
    assert [one.parent_known for one in history.commits] == [False, False, False]
    (warning,) = history.warnings
    assert warning.startswith("2 commits of the time of Subversion are left out")
    assert without[:12] in warning
    assert again[:12] in warning


def test_the_parent_of_a_commit_is_known_where_the_commit_before_it_has_a_place(
    checkout: Checkout,
) -> None:
    for svn in (10, 20, 50):
        checkout.commit("old", svn=svn)
    checkout.commit("a tag")
    for subject in ("first in git", "second"):
        checkout.commit(subject)
    history = read_git(checkout.path)
    known = {one.revision: one.parent_known for one in history.commits}
    assert known == {
        "r10": False,
        "r20": True,
        "r50": True,
        "n4": True,
        "n5": True,
        "n6": True,
    }


def test_a_tree_may_be_called_by_hashes(checkout: Checkout) -> None:
    digest = checkout.commit("one")
    (commit,) = read_git(checkout.path, ids=Ids.HASH).commits
    assert commit.names == (digest[:12], "n1", digest)


def test_a_shallow_clone_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit("one")
    checkout.commit("two")
    shallow = tmp_path / "shallow"
    source = checkout.path.as_uri()
    subprocess.run(["git", "clone", "-q", "--depth=1", source, str(shallow)], check=True)
    with pytest.raises(Unprocessable, match="git fetch --unshallow"):
        read_git(shallow)


@pytest.mark.parametrize("branch", ["nowhere", "--all", "main --all"])
def test_an_unknown_branch_is_refused(checkout: Checkout, branch: str) -> None:
    checkout.commit("one")
    with pytest.raises(Unprocessable, match="has no branch or commit"):
        read_git(checkout.path, branch=branch)


def test_a_directory_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unprocessable, match="git rev-parse failed"):
        read_git(tmp_path)


def test_a_machine_without_git_gets_an_error_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unprocessable, match="install it, or import a CSV file"):
        read_git(tmp_path)


@pytest.mark.django_db
def test_the_command_imports_a_checkout_and_prints_what_it_did(checkout: Checkout) -> None:
    upload(measured("r20"))
    digest = checkout.commit("old", svn=20)
    checkout.commit("new")
    where = ("--tree", "freebsd-head", "--git", str(checkout.path))
    assert run(*where) == "freebsd-head: 1 new, 1 changed, 0 moved, 0 as they were\n"
    assert run(*where) == "freebsd-head: 0 new, 0 changed, 0 moved, 2 as they were\n"
    assert names_of("r20") == {"r20", "n1", digest}
    assert places() == [("r20", 20)]


@pytest.mark.django_db
def test_the_command_calls_other_trees_by_hashes_unless_asked_otherwise(checkout: Checkout) -> None:
    digest = checkout.commit("one")
    run("--tree", "linux", "--git", str(checkout.path))
    assert Revision.objects.get().name == digest[:12]
    run("--tree", "linux", "--git", str(checkout.path), "--ids", "count", "--branch", "main")
    assert Revision.objects.get().name == "n1"
    assert names_of("n1") == {"n1", digest, digest[:12]}


@pytest.mark.django_db
def test_missing_notes_are_pointed_out(checkout: Checkout) -> None:
    upload(measured("r20"))
    checkout.commit("old")
    assert "fetch the notes" in run("--tree", "freebsd-head", "--git", str(checkout.path))


@pytest.mark.django_db
def test_the_command_reads_a_file_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "history.csv"
    file.write_text("revision,subject\nr5,fünf\n", encoding="utf-8")
    assert run("--tree", "t", str(file)).startswith("t: 1 new")
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"revision": "r6"})))
    assert run("--tree", "t", "-").startswith("t: 1 new")
    assert list(Revision.objects.values_list("name", "subject")) == [("r5", "fünf"), ("r6", "")]
    assert not Revision.objects.filter(parent_known=True).exists()


@pytest.mark.django_db
def test_a_file_without_gaps_is_reported_to_be_whole(tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    file.write_text("revision\nr30\nr10\nr20\n", encoding="utf-8")
    run("--tree", "t", "--whole", str(file))
    known = Revision.objects.filter(parent_known=True).values_list("name", flat=True)
    assert list(known) == ["r20", "r30"]
    file.write_text("revision\nr30\nabcdef1\n", encoding="utf-8")
    with pytest.raises(CommandError, match="line 3, position: is empty; with --whole"):
        run("--tree", "t", "--whole", str(file))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"revision\nbad id\n", "nothing was imported:\nline 2, revision: 'bad id'"),
        (b"revision\n\xff\n", "is not UTF-8"),
        (b"revision\n" + b"bad id\n" * 30, "and 10 more"),
    ],
)
def test_the_command_prints_what_is_wrong_with_a_file(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "history"
    file.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        run("--tree", "t", str(file))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent.csv",), "absent.csv: No such file"),
        (("absent.csv", "--ids", "hash"), "go with --git"),
        (("--git", "absent", "--whole"), "--whole goes with a file"),
        ((), "required"),
    ],
)
def test_the_command_prints_what_is_wrong_with_its_arguments(
    arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        run("--tree", "t", *arguments)
