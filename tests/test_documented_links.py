"""What the documentation, the code and its messages point to is there."""

import re
from pathlib import Path

import pytest

from tests.documented import DOCS, PAGES, anchors, inline
from tests.places import PROJECT

# The pages by the words that each may have, and the one that is drawn: it has no bound.
MOST_WORDS = {
    "README.md": 700,
    "docs/running.md": 1800,
    "docs/operating.md": 1800,
    "docs/agent.md": 2800,
    "docs/api.md": 600,
    "docs/pages.md": 2000,
    "docs/alerts.md": 2500,
    "docs/bisect.md": 2000,
    "docs/statistics.md": 5000,
    "docs/results.md": 2000,
    "docs/security.md": 1600,
    "docs/architecture.md": 3000,
}
DRAWN = "docs/figures.md"
MOST_WORDS_IN_ALL = 26_000
# docs/agent.md, docs/api.md#limits, docs/pictures/step.svg
NAMED = re.compile(r"\bdocs/[\w/-]+\.(?:md|png|svg)(?:#[\w-]+)?")
# docs/agent.md, "Working for a server"
NAMED_HEADING = re.compile(r"\bdocs/([\w-]+\.md), \"([^\"]+)\"")
# PROJECT / "docs" / "running.md"
JOINED = re.compile(r"\"docs\" / \"([\w.-]+)\"")
PATH = re.compile(r"(?:webapp|tests|benchmarks|agents|static|migrations)/[\w./-]*")
LINKS = [
    (page, str(token.attrs["href" if token.type == "link_open" else "src"]))
    for page in PAGES
    for kind in ("link_open", "image")
    for token in inline(page, kind)
]


def is_there(target: str, beside: Path) -> bool:
    """Whether a link of a page leads to a file and, where it names one, a heading of it."""
    name, _, heading = target.partition("#")
    file = (beside.parent / name).resolve() if name else beside
    return file.exists() and (not heading or heading in anchors(file))


@pytest.mark.parametrize(
    ("document", "target"),
    [(page, target) for page, target in LINKS if "://" not in target],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_a_link_leads_to_a_page_and_a_heading(document: Path, target: str) -> None:
    assert is_there(target, document)


@pytest.mark.parametrize(
    "wrong", ["nowhere.md", "running.md#no-such-heading", "#no-such-heading", "pictures/no.svg"]
)
def test_a_link_to_nothing_is_noticed(wrong: str) -> None:
    assert not is_there(wrong, DOCS / "agent.md")


def sources() -> list[Path]:
    """Every text file of the checkout that may name a page: code, templates, settings, examples."""
    folders = ("webapp", "agents", "benchmarks", "migrations", "static", "tests")
    files = [file for folder in folders for file in (PROJECT / folder).rglob("*")]
    kinds = {".py", ".html", ".txt", ".css", ".js", ".toml", ".md", ".sh"}
    return [
        *(one for one in PROJECT.iterdir() if one.is_file() and one.name != ".git"),
        *(one for one in files if one.suffix in kinds),
    ]


def test_each_page_that_code_comments_and_messages_name_is_there() -> None:
    missing = []
    for file in sources():
        text = file.read_text(encoding="utf-8", errors="replace")
        named = [one.group() for one in NAMED.finditer(text)]
        named += [f"docs/{name}#{_anchor(title)}" for name, title in NAMED_HEADING.findall(text)]
        named += [f"docs/{name}" for name in JOINED.findall(text)]
        missing += [(str(file), one) for one in named if not is_there(one, PROJECT / "README.md")]
    assert missing == []


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-").replace("'", "")


# What the change log names may be gone.
@pytest.mark.parametrize(
    "document", [one for one in PAGES if one.name != "CHANGELOG.md"], ids=lambda page: page.name
)
def test_each_file_that_a_page_names_is_there(document: Path) -> None:
    named = {token.content for token in inline(document, "code_inline")}
    paths = {one for one in named if PATH.fullmatch(one) and "…" not in one}
    assert [one for one in sorted(paths) if not (PROJECT / one).exists()] == []


def test_there_are_twelve_pages_and_one_that_is_drawn_and_the_readme_leads_to_each() -> None:
    pages = {f"docs/{page.name}" for page in DOCS.glob("*.md")}
    assert {"README.md", *pages} == {*MOST_WORDS, DRAWN}
    assert len(MOST_WORDS) == 12
    linked = {target for page, target in LINKS if page == PROJECT / "README.md"}
    assert pages <= linked


def words(name: str) -> int:
    """As `wc -w` counts them."""
    return len((PROJECT / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", MOST_WORDS)
def test_a_page_can_be_read_in_ten_minutes(name: str) -> None:
    assert words(name) <= MOST_WORDS[name]


def test_all_pages_together_can_be_read_in_an_afternoon() -> None:
    assert sum(map(words, MOST_WORDS)) <= MOST_WORDS_IN_ALL


def test_each_drawn_picture_is_shown() -> None:
    shown = {(page.parent / target).resolve() for page, target in LINKS}
    assert {one.resolve() for one in (DOCS / "pictures").iterdir()} <= shown


@pytest.mark.parametrize("document", PAGES, ids=lambda page: page.name)
def test_quotes_are_straight(document: Path) -> None:
    assert re.findall("[“”„‘’«»]", document.read_text(encoding="utf-8")) == []
