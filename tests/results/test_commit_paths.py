"""Which files a commit touched: read, kept, and not forgotten."""

import json
from pathlib import Path

import pytest

from tests.results.test_commit_files import problems, read
from tests.results.test_git_history import Checkout, run
from tests.results.test_history import commit, take
from webapp.results.commit_documents import LONGEST_PATH, MOST_PATHS, Paths
from webapp.results.git_history import read_git
from webapp.results.models import Revision
from webapp.results.services.history import Imported


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "src")


def write(checkout: Checkout, *paths: str, svn: int | None = None) -> None:
    """A commit that changes ``paths``."""
    for path in paths:
        file = checkout.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as text:
            text.write(f"{path}\n")
    checkout.git("add", "--all")
    checkout.commit("change", svn=svn)


def touched(checkout: Checkout, *, with_paths: bool = True) -> list[Paths | None]:
    return [one.paths for one in read_git(checkout.path, with_paths=with_paths).commits]


def stored() -> tuple[list[str] | None, int | None, bool]:
    row = Revision.objects.get()
    return row.paths, row.path_count, row.has_all_paths


def test_a_csv_file_gives_paths_a_line_each() -> None:
    (known, unknown) = read('revision,paths\nr5,"sys/net/if.c\nshare/a b.txt\n"\nr6,\n')
    assert known.paths == Paths(("sys/net/if.c", "share/a b.txt"), 2)
    assert unknown.paths is None


def test_json_lines_give_paths_as_a_list_which_may_be_empty() -> None:
    lines = [{"revision": "r5", "paths": ["a\nb", "c"]}, {"revision": "r6", "paths": []}]
    found = [one.paths for one in read("\n".join(map(json.dumps, lines)))]
    assert found == [Paths(("a\nb", "c"), 2), Paths((), 0)]


@pytest.mark.parametrize(
    ("paths", "remedy"),
    [(["/sys/a.c"], "from the top of the tree"), ([7], "put it in quotes"), (["\0"], "remove it")],
)
def test_a_bad_path_is_named_with_its_remedy(paths: list[object], remedy: str) -> None:
    ((path, message),) = problems(json.dumps({"revision": "r5", "paths": paths}), "a.jsonl")
    assert path == "line 1, paths"
    assert remedy in message


def test_a_list_that_is_cut_states_how_many_there_were() -> None:
    many = Paths.of(f"doc/{number}" for number in range(MOST_PATHS + 1))
    assert (len(many.kept), many.count) == (MOST_PATHS, MOST_PATHS + 1)
    assert Paths.of(["doc/1", "x" * (LONGEST_PATH + 1), "doc/1"]) == Paths(("doc/1",), 2)


@pytest.mark.django_db
def test_an_import_keeps_paths_and_one_without_them_leaves_them() -> None:
    take(commit("r5", subject="fix"))
    assert stored() == (None, None, False)
    with_paths = commit("r5", subject="fix", paths=Paths.of(["sys/a.c"]))
    assert take(with_paths) == Imported(0, 1, 0, 0)
    assert take(with_paths) == Imported(0, 0, 0, 1)
    assert take(commit("r5", subject="fix")) == Imported(0, 0, 0, 1)
    assert take(commit("r5", subject="mend")) == Imported(0, 1, 0, 0)
    assert stored() == (["sys/a.c"], 1, True)


@pytest.mark.django_db
def test_a_commit_that_touches_nothing_is_not_one_of_which_nothing_is_known() -> None:
    take(commit("r5", paths=Paths.of([])))
    assert stored() == ([], 0, True)


@pytest.mark.django_db
def test_a_stored_list_that_was_cut_is_known_to_lack_some() -> None:
    take(commit("r5", paths=Paths(("doc/a",), 300)))
    assert stored() == (["doc/a"], 300, False)


def test_git_lists_what_each_commit_touched_against_its_first_parent(checkout: Checkout) -> None:
    write(checkout, "sys/a.c", "share/ä b.txt")
    checkout.commit("nothing")
    checkout.git("checkout", "-q", "-b", "side")
    write(checkout, "aside")
    checkout.git("checkout", "-q", "main")
    checkout.git("merge", "-q", "--no-ff", "-m", "/\n\njoin", "side")
    checkout.git("mv", "sys/a.c", "sys/b.c")
    checkout.commit("moved")
    assert [set(one.kept) for one in touched(checkout) if one] == [
        {"sys/a.c", "share/ä b.txt"},
        set(),
        {"aside"},
        {"sys/a.c", "sys/b.c"},
    ]
    assert touched(checkout, with_paths=False) == [None] * 4


def test_a_commit_after_one_without_a_place_stands_for_both_so_its_paths_are_not_known(
    checkout: Checkout,
) -> None:
    write(checkout, "a", svn=10)
    write(checkout, "sys/kernel.c")
    write(checkout, "doc/b", svn=20)
    write(checkout, "doc/c", svn=30)
    write(checkout, "doc/d", svn=40)
    assert touched(checkout) == [Paths.of(["a"]), None, Paths.of(["doc/c"]), Paths.of(["doc/d"])]


@pytest.mark.django_db
def test_the_command_reads_paths_from_git_unless_asked_not_to(checkout: Checkout) -> None:
    write(checkout, "sys/a.c")
    run("--tree", "t", "--git", str(checkout.path), "--no-paths")
    assert stored() == (None, None, False)
    run("--tree", "t", "--git", str(checkout.path))
    assert stored() == (["sys/a.c"], 1, True)
    assert "1 as they were" in run("--tree", "t", "--git", str(checkout.path), "--no-paths")
