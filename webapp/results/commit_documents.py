"""A commit as an import brings it, after its fields were checked, and commits from a file: CSV with
a header, or one JSON object a line.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self, TextIO

from webapp.results.bounds import EARLIEST, LATEST_COMMIT, wrong_with_text
from webapp.results.documents import Problem, Unprocessable
from webapp.results.spellings import SVN_PATTERN, position_of

MOST_PATHS = 200
"""Kept of one commit. Few commits touch more (imports of foreign sources, sweeps over a whole
tree), and these are read as touching something that matters."""

LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True)
class Paths:
    """The first ``MOST_PATHS`` of the ``count`` different files that a commit touched."""

    kept: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, paths: Iterable[str]) -> Self:
        """Of all files that were touched; one too long to keep is counted all the same."""
        different = dict.fromkeys(paths)
        short = [path for path in different if len(path) <= LONGEST_PATH]
        return cls(tuple(short[:MOST_PATHS]), len(different))


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
AUTHOR = re.compile(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>\s*")
AUTHOR_MAX = 200
EMAIL_MAX = 254
SUBJECT_MAX = 500
POSITION_END = 2**62
SHOWN_MAX = 100


@dataclass(frozen=True, slots=True)
class CommitDocument:
    """One commit. What is empty is not known, and leaves what is stored as it is.

    ``where`` names its place in the input (``line 3``), for messages. ``message`` is whole: its
    first line is the subject. ``paths`` None is not known; a commit may well touch no file.
    ``parent_known``: the commit right before it is of the history too.
    """

    where: str
    revision: str
    position: int | None = None
    author_name: str = ""
    author_email: str = ""
    committed_at: datetime | None = None
    subject: str = ""
    message: str = ""
    aliases: tuple[str, ...] = ()
    paths: Paths | None = None
    parent_known: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every name it answers to, its own first, each once."""
        return tuple(dict.fromkeys((self.revision, *self.aliases)))

    @property
    def is_svn(self) -> bool:
        """Whether its place is that of a Subversion number."""
        return any(SVN_PATTERN.fullmatch(name) for name in self.names)

    def problem(self, field: str, message: str) -> Problem:
        """What is wrong with a field of it, with its place in the input."""
        return Problem(f"{self.where}, {field}", message)


def read_commit(
    where: str, record: Mapping[str, Any], problems: list[Problem]
) -> CommitDocument | None:
    """The commit that ``record`` (column → text, or a value of JSON) describes.

    None when a field is bad; each bad one is added to ``problems`` with its remedy.
    """
    read: dict[str, Any] = {}
    bad = len(problems)
    for field, reader in READERS.items():
        value = record.get(field)
        if value is None or value == "":
            continue
        try:
            read[field] = reader(value)
        except ValueError as error:
            problems.append(Problem(f"{where}, {field}", str(error)))
    if "revision" not in read and len(problems) == bad:
        problems.append(Problem(f"{where}, revision", "is empty; every commit needs its id"))
    if len(problems) > bad:
        return None
    return _placed(_with_author(CommitDocument(where=where, **read)), problems)


def clipped(text: str, most: int) -> str:
    """``text`` in at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _with_author(commit: CommitDocument) -> CommitDocument:
    """``Name <mail>`` taken apart, and the subject taken from the message where it is missing."""
    if not commit.author_email and (found := AUTHOR.fullmatch(commit.author_name)):
        commit = replace(
            commit, author_name=found["name"].strip(), author_email=found["email"].strip()
        )
    if not commit.subject and commit.message:
        first = commit.message.strip().partition("\n")[0].strip()
        commit = replace(commit, subject=clipped(first, SUBJECT_MAX))
    return commit


def _placed(commit: CommitDocument, problems: list[Problem]) -> CommitDocument | None:
    """With the position that an id has, the revision's own before those of the aliases."""
    by_id = next((p for name in commit.names if (p := position_of(name)) is not None), None)
    if commit.position is None:
        return replace(commit, position=by_id)
    own = position_of(commit.revision)
    if own is not None and own != commit.position:
        problems.append(
            commit.problem(
                "position",
                f"{commit.revision} has a position of its own, {own}, not {commit.position}; "
                "leave the field empty",
            )
        )
        return None
    return commit


def _name(value: Any) -> str:
    text = _text(value).strip()
    if not NAME.fullmatch(text):
        raise ValueError(
            f"{shown(value)} is no revision id; write 1 to 64 letters, digits, '.', '_' or '-', "
            "a letter or digit first"
        )
    return text


def _names(value: Any) -> tuple[str, ...]:
    names = value if _is_list(value) else _text(value).split()
    return tuple(_name(one) for one in names)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _paths(value: Any) -> Paths:
    lines = value if _is_list(value) else _text(value).splitlines()
    return Paths.of(_path(one) for one in lines if one != "")


def _path(value: Any) -> str:
    text = _text(value)
    if text.startswith("/"):
        raise ValueError(
            f"{shown(value)} begins with /; write it from the top of the tree, sys/net/if.c"
        )
    return text


def _position(value: Any) -> int:
    remedy = f"{shown(value)} is no position; write a whole number from 0 to 2^62 - 1"
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(remedy)  # noqa: TRY004 (one kind of error for a bad field)
    if isinstance(value, str) and not re.fullmatch(r"\s*[0-9]{1,19}\s*", value):
        raise ValueError(remedy)
    if not 0 <= int(value) < POSITION_END:
        raise ValueError(remedy)
    return int(value)


def _moment(value: Any) -> datetime:
    remedy = f"{shown(value)} is no time; write ISO 8601 with its zone, as 2016-08-01T19:25:37Z"
    try:
        moment = datetime.fromisoformat(_text(value).strip())
    except ValueError as error:
        raise ValueError(remedy) from error
    if moment.tzinfo is None:
        raise ValueError(remedy)
    if not EARLIEST <= moment < LATEST_COMMIT:
        raise ValueError(
            f"{shown(value)} is not from {EARLIEST:%Y} to {LATEST_COMMIT.year - 1}; "
            "leave it empty where it is not known"
        )
    return moment


def _text(value: Any) -> str:
    """Text that PostgreSQL and every page can hold."""
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text; put it in quotes")  # noqa: TRY004
    if fault := wrong_with_text(value):
        raise ValueError(fault)
    return value


def shown(value: Any) -> str:
    """``value`` for a message: it may be as long as the file."""
    return clipped(repr(value), SHOWN_MAX)


def _text_of(most: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = _text(value).strip()
        if len(text) > most:
            raise ValueError(f"is {len(text)} characters long; shorten it to {most}")
        return text

    return read


READERS: dict[str, Callable[[Any], Any]] = {
    "revision": _name,
    "position": _position,
    "author_name": _text_of(AUTHOR_MAX),
    "author_email": _text_of(EMAIL_MAX),
    "committed_at": _moment,
    "subject": _text_of(SUBJECT_MAX),
    "message": _text,
    "aliases": _names,
    "paths": _paths,
}
FIELDS = tuple(READERS)


LONGEST_FIELD = 2**24
COLUMNS = ", ".join(FIELDS)


def read_file(file: TextIO, name: str = "") -> list[CommitDocument]:
    """The commits of ``file``, in its order.

    JSON lines when ``name`` ends in .jsonl, .ndjson or .json, or when the first character is a
    brace; else CSV. Raises Unprocessable: with every bad line and field.
    """
    text = file.read().removeprefix("\ufeff")
    problems: list[Problem] = []
    records = _json_lines(text, problems) if _is_json(text, name) else _csv(text, problems)
    read = (read_commit(where, record, problems) for where, record in records)
    commits = [commit for commit in read if commit is not None]
    if problems:
        raise Unprocessable(problems)
    return commits


def _is_json(text: str, name: str) -> bool:
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return True
    return not name.endswith(".csv") and text.lstrip().startswith("{")


def _json_lines(text: str, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"line {number}"
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # also a number of more than 4,300 digits
            problems.append(Problem(where, f"is no JSON ({error}); write one object a line"))
            continue
        if not isinstance(record, dict):
            problems.append(Problem(where, "is no JSON object; write {…}, one a line"))
        elif _known_fields(where, record, problems):
            yield where, record


def _csv(text: str, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    former = csv.field_size_limit(LONGEST_FIELD)  # of the whole process
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        if not _good_header(header, problems):
            return
        line = reader.line_num + 1
        for row in reader:
            where, line = f"line {line}", reader.line_num + 1
            if len(row) == len(header):
                yield where, dict(zip(header, row, strict=True))
            elif row:
                uneven = f"has {len(row)} fields where the header has {len(header)}"
                problems.append(Problem(where, f"{uneven}; put text that holds commas in quotes"))
    except csv.Error as error:
        problems.append(Problem(f"line {reader.line_num}", f"is no CSV ({error}); mend its quotes"))
    finally:
        csv.field_size_limit(former)


def _good_header(header: list[str], problems: list[Problem]) -> bool:
    if "revision" not in header:
        message = f"has no column `revision`; the first line names the columns, of {COLUMNS}"
        problems.append(Problem("line 1", message))
        return False
    if len(set(header)) < len(header):
        problems.append(Problem("line 1", "names a column twice; name each once"))
        return False
    return _known_fields("line 1", header, problems)


def _known_fields(where: str, fields: Iterable[str], problems: list[Problem]) -> bool:
    unknown = [field for field in fields if field not in FIELDS]
    problems += [
        Problem(f"{where}, {clipped(field, SHOWN_MAX)}", f"is no field of a commit; use {COLUMNS}")
        for field in unknown
    ]
    return not unknown
