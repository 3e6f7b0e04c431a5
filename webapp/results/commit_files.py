"""Commits from a file: CSV with a header, or one JSON object a line."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from webapp.results.commit_documents import FIELDS, SHOWN_MAX, CommitDocument, clipped, read_commit
from webapp.results.documents import Problem, Unprocessable

LONGEST_FIELD = 2**24
COLUMNS = ", ".join(FIELDS)


def read_file(file: TextIO, name: str = "") -> list[CommitDocument]:
    """The commits of ``file``, in its order.

    JSON lines when ``name`` ends in .jsonl, .ndjson or .json, or when the first character is a
    brace; else CSV.

    Raises:
        Unprocessable: with every bad line and field.
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
                problems.append(Problem(where, _uneven(len(row), len(header))))
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


def _uneven(got: int, wanted: int) -> str:
    return f"has {got} fields where the header has {wanted}; put text that holds commas in quotes"
