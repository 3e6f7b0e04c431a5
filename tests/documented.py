"""What the documentation holds: its pages, their headings, links, code blocks and commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.places import PROJECT

DOCS = PROJECT / "docs"
PAGES = sorted(
    [
        *DOCS.glob("*.md"),
        *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        PROJECT / "agents" / "README.md",
    ]
)
# `(echo revision,value; for f in *; do sed …; done) | (cd … && python …)` are four commands.
SEPARATORS = re.compile(r"[;|&()]+")
# Words of the shell that stand before a command.
KEYWORDS = {"do", "done", "then", "{", "}", "export"}
ASSIGNMENT = re.compile(r"[A-Za-z_]+=")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced or indented block of code of a page, from the given line on."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(PROJECT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """The words of one simple command; `optional` are those that the page puts in brackets."""

    where: str
    words: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where} {shlex.join(self.words)}"


@cache
def tokens(page: Path) -> list[Token]:
    """The page as CommonMark with tables reads it."""
    markdown = MarkdownIt("commonmark").enable("table")
    return markdown.parse(page.read_text(encoding="utf-8"))


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of code of the page."""
    for token in tokens(page):
        if token.type in ("fence", "code_block") and token.map:
            yield Block(page, token.map[0] + 1, token.info, token.content)


def inline(page: Path, kind: str) -> Iterator[Token]:
    """Yield what stands within lines: "link_open", "image", "code_inline"."""
    for token in tokens(page):
        yield from (child for child in token.children or () if child.type == kind)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The addresses of the page's headings, as GitHub makes them."""
    found = tokens(page)
    titles = [after.content for one, after in pairwise(found) if one.type == "heading_open"]
    return frozenset(anchor(title) for title in titles)


def anchor(title: str) -> str:
    """The address of one heading."""
    text = re.sub(r"[`*]", "", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def commands(block: Block) -> Iterator[Command]:
    """Yield the simple commands of a block, one for each part of a pipeline or of a `$(…)`."""
    for line in _whole_lines(block.text):
        # A comment, or what a command does: after `#`, or in a column of its own.
        written = re.split(r"\s+#\s|\s{2,}(?=\S)", line.strip())
        optional = re.findall(r"\[([^\]]*)\]", written[0]) + re.findall(r"`(-[^`]*)`", line)
        yield from _simple(str(block), re.sub(r"\[[^\]]*\]|\.\.\.", " ", written[0]), optional)


def _simple(where: str, text: str, optional: list[str]) -> Iterator[Command]:
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.commenters = "#"
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if SEPARATORS.fullmatch(word):
            if named := _without_prefix(words):
                yield Command(where, tuple(named), tuple(" ".join(optional).split()))
            words = []
        else:
            words.append(word)


def _without_prefix(words: list[str]) -> list[str]:
    """Without keywords, assignments and redirections."""
    while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
        words = words[1:]
    if redirection := next((i for i, one in enumerate(words) if re.fullmatch("[<>]+", one)), None):
        words = words[:redirection]
    return words


def _whole_lines(text: str) -> Iterator[str]:
    """Join continued lines and quoted ends of lines; leave out what a `<<EOF` holds."""
    pending = ""
    end = ""
    for line in text.splitlines():
        if end:
            end = "" if line.strip() == end else end
            continue
        pending += line
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        if here := re.search(r"<<(\w+)", pending):
            end = here.group(1)
        yield pending.partition("<<")[0]
        pending = ""
