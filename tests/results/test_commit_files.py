"""Commits as they stand in files."""

import io
import json
from datetime import UTC, datetime

import pytest

from webapp.results.commit_documents import CommitDocument, read_file
from webapp.results.documents import Unprocessable

HEADER = "revision,position,author_name,author_email,committed_at,subject,message,aliases\n"


def read(text: str, name: str = "") -> list[CommitDocument]:
    return read_file(io.StringIO(text, newline=""), name)


def problems(text: str, name: str = "") -> list[tuple[str, str]]:
    with pytest.raises(Unprocessable) as caught:
        read(text, name)
    return [(problem.path, problem.message) for problem in caught.value.problems]


def test_csv_gives_every_field() -> None:
    row = 'r5,,Ann,ann@bsd,2016-08-01T19:25:37Z,"one, two","one, two\n\nmore",n7 0123abc\n'
    assert read(HEADER + row) == [
        CommitDocument(
            where="line 2",
            revision="r5",
            position=5,
            author_name="Ann",
            author_email="ann@bsd",
            committed_at=datetime(2016, 8, 1, 19, 25, 37, tzinfo=UTC),
            subject="one, two",
            message="one, two\n\nmore",
            aliases=("n7", "0123abc"),
        )
    ]


def test_json_lines_give_the_same_and_may_list_aliases() -> None:
    (commit,) = read(json.dumps({"revision": "r5", "aliases": ["n7"], "author_name": "A <a@b>"}))
    assert (commit.names, commit.author_name, commit.author_email) == (("r5", "n7"), "A", "a@b")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"revision": "r5"}\n\n', ""),
        ('\ufeff{"revision": "r5"}', ""),
        ("revision\nr5\n", ""),
        ("revision\r\nr5\r\n\r\n", ""),
        ("\ufeffrevision\nr5\n", "a.csv"),
    ],
)
def test_the_kind_of_a_file_is_seen_from_its_content(text: str, name: str) -> None:
    assert [one.revision for one in read(text, name)] == ["r5"]


def test_a_suffix_decides_before_the_content() -> None:
    assert problems("revision\nr5\n", "a.jsonl")[0][0] == "line 1"


def test_the_place_comes_from_the_id_then_from_an_alias() -> None:
    rows = "n7,,,,,,,r5\nabcdef1,,,,,,,r6 n8\n0123abc,12,,,,,,\nc255632,,,,,,,\n"
    assert [one.position for one in read(HEADER + rows)] == [10**9 + 7, 6, 12, None]


def test_the_subject_is_the_first_line_of_the_message() -> None:
    (commit,) = read(json.dumps({"revision": "r5", "message": "\nfix it\n\nlong"}))
    assert commit.subject == "fix it"


@pytest.mark.parametrize(
    ("row", "path", "remedy"),
    [
        ("r5,6,,,,,,", "line 2, position", "leave the field empty"),
        ("r5,x,,,,,,", "line 2, position", "write a whole number"),
        ("r5,-1,,,,,,", "line 2, position", "write a whole number"),
        (f"x5,{2**62},,,,,,", "line 2, position", "write a whole number"),
        ("r5,,,,2016-08-01,,,", "line 2, committed_at", "ISO 8601 with its zone"),
        ("r5,,,,yesterday,,,", "line 2, committed_at", "ISO 8601 with its zone"),
        ("a/b,,,,,,,", "line 2, revision", "1 to 64 letters"),
        (",,,,,,,", "line 2, revision", "every commit needs its id"),
        (f"r5,,,,,{'x' * 501},,", "line 2, subject", "shorten it to 500"),
        ("r5,,,,,,,n7 a/b", "line 2, aliases", "1 to 64 letters"),
        ("r5,,,,,,,,,", "line 2", "in quotes"),
        ('r5,,,,,"x"y,,', "line 2", "mend its quotes"),
    ],
)
def test_a_bad_row_is_named_with_its_field_and_remedy(row: str, path: str, remedy: str) -> None:
    ((found, message),) = problems(HEADER + row + "\n")
    assert found == path
    assert remedy in message


@pytest.mark.parametrize(
    ("line", "path", "remedy"),
    [
        ("{", "line 1", "write one object a line"),
        ("[1]", "line 1", "write {…}"),
        ('{"revision": 5}', "line 1, revision", "put it in quotes"),
        ('{"revision": "r5", "position": true}', "line 1, position", "write a whole number"),
        ('{"revision": "x5", "position": 1.5}', "line 1, position", "write a whole number"),
        ('{"revision": "r5", "message": "a\\u0000b"}', "line 1, message", "remove it"),
        ('{"revision": "r5", "message": "\\ud800"}', "line 1, message", "half a surrogate pair"),
        ('{"revision": "r5", "aliases": [7]}', "line 1, aliases", "put it in quotes"),
        ('{"revision": "r5", "sha": "x"}', "line 1, sha", "use revision, position"),
    ],
)
def test_a_bad_line_is_named_with_its_field_and_remedy(line: str, path: str, remedy: str) -> None:
    ((found, message),) = problems(line, "a.jsonl")
    assert found == path
    assert remedy in message


@pytest.mark.parametrize(
    ("header", "remedy"),
    [("", "no column"), ("name,position", "no column"), ("revision,sha", "use revision")],
)
def test_a_bad_header_is_refused(header: str, remedy: str) -> None:
    assert remedy in problems(header + "\n", "a.csv")[0][1]


def test_a_column_twice_is_refused() -> None:
    assert "name each once" in problems("revision,revision\n")[0][1]


def test_every_bad_line_is_listed_with_lines_counted_through_quoted_text() -> None:
    text = HEADER + 'r5,,,,,,"two\nlines",\nbad id,,,,,,,\nr6,,,,never,,,\n'
    assert [path for path, _ in problems(text)] == ["line 4, revision", "line 5, committed_at"]
