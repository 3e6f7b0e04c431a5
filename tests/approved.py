"""A pytest plugin: what readers are shown, compared with the text that was approved in review.

``approved(name, page)`` compares a page, mail or report with ``tests/approved/NAME.txt``. With
``--approve`` (`make approve`) only such tests run, and write these files anew. In them the clock
stands still and rows are numbered from one, whatever ran before.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser

import pytest
import time_machine
from django.http import HttpResponse

from tests.places import PROJECT

APPROVED = PROJECT / "tests" / "approved"
NOON = "2026-06-01T12:00:00Z"
REMEDY = "Where the new text is right: make approve, and commit what it wrote."
RANDOM = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{8}(?=…)"), "UUID"),
    (re.compile(r"\{\d{4}-[^}]*\} \S+ (?:month|year)s? from now"), "NOW OF THE DATABASE"),
    (re.compile(r"(?<=/account/address/)[^/]+|(?<=~)[\w-]{43}(?![\w-])"), "SIGNED"),
    (re.compile(r"(?<=/new-password/)\w+/[\w-]+"), "SIGNED"),
    (re.compile(r"(?<=[/=:_])[\w-]{32}(?![\w-])"), "TOKEN"),
)
"""What is drawn at random or by the database's clock, and what stands for it."""

UNREAD = {"script", "style", "template", "datalist"}
ALONE = {"br", "hr", "img", "input", "link", "meta", "path", "line", "rect", "circle", "use", "wbr"}
"""Elements without an end."""

HEADINGS = {f"h{level}": f"\n{'#' * level} " for level in range(1, 7)}
ITEMS = {"li": "- ", "dt": "- ", "dd": "  ", "summary": "▸ ", "legend": "▸ ", "tr": "| "}
BLOCKS = {
    *("p", "div", "section", "article", "aside", "nav", "header", "footer", "main", "form", "br"),
    *("ul", "ol", "dl", "table", "caption", "details", "fieldset", "figure", "figcaption", "pre"),
}
BEGINS = {**dict.fromkeys(BLOCKS, ""), **HEADINGS, **ITEMS}
"""What begins a line, and with what."""

INLINE = {"a", "button", "td", "th", "svg", "dt", "summary"}
"""Within these no block begins a line."""

APART = {"span", "small", "text", "tspan", "title", "option"}
"""What is drawn apart from what stands before it."""

KEPT = "\0"
"""A space that stays where it is."""


class Reader(HTMLParser):
    """What a reader of HTML sees, and what a screen reader adds, as lines of text: links as
    ``[text](address)``, buttons as ``[text]``, fields as ``<name: value>``, labels and titles of
    elements as ``{text}``, cells between ``|``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.written = ""
        self.skipped: list[str] = []
        self.opened: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        drawn = tag == "svg" and given.get("aria-hidden")
        if tag not in ALONE and (self.skipped or tag in UNREAD or "hidden" in given or drawn):
            self.skipped.append(tag)
        if self.skipped:
            return
        if tag in ITEMS or (tag in BEGINS and not any(tag in INLINE for tag, _ in self.opened)):
            self.written += "\n" + BEGINS[tag]
        self.written += _opening(tag, given)
        labels = dict.fromkeys(given.get(name, "") for name in ("aria-label", "title"))
        self.written += "".join(f"{{{label}}} " for label in labels if label)
        if tag not in ALONE:
            self.opened.append((tag, given.get("href", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag in ALONE:
            return
        if self.skipped:
            self.skipped.pop()
            return
        opened, address = self.opened.pop()
        assert opened == tag, f"<{opened}> ends with </{tag}>"
        ends_line = tag in BEGINS and not any(tag in INLINE for tag, _ in self.opened)
        self.written += _ending(tag, address) or "\n" * ends_line

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            is_verbatim = any(tag in ("pre", "textarea") for tag, _ in self.opened)
            self.written += data.replace(" ", KEPT) if is_verbatim else re.sub(r"\s+", " ", data)


def _opening(tag: str, given: Mapping[str, str]) -> str:
    """What stands where an element begins."""
    state = " (disabled)" if "disabled" in given else ""
    match tag:
        case "a" if "href" in given:
            return " ["
        case "button":
            return f" [{state}"
        case "select" | "textarea":
            return f" <{given.get('name', '')}{state}: "
        case "option":
            return "*" if "selected" in given else " "
        case "input":
            return _field(given, state)
        case "img":
            return f" [image: {given.get('alt', '')}]"
    return " " if tag in BEGINS or tag in APART else ""


def _field(given: Mapping[str, str], state: str) -> str:
    """An input: checked or not, or its name and value."""
    name, value = given.get("name", ""), given.get("value", "")
    match given.get("type", "text"):
        case "hidden":
            return ""
        case "checkbox" | "radio":
            return f" <{name}{state}: {'x' if 'checked' in given else '_'} {value}>"
        case "submit":
            return f" [{value}{state}]"
    return f" <{name}{state}: {value or given.get('placeholder', '')}>"


def _ending(tag: str, address: str) -> str:
    """What stands where an element ends."""
    match tag:
        case "a" if address:
            return f"]({address})"
        case "button":
            return "]"
        case "select" | "textarea":
            return ">"
        case "option":
            return ","
        case "td" | "th":
            return " |"
    return ""


def read(html: str) -> str:
    """What a reader of a page is shown: its title and what is not the same on every page."""
    title, main = (re.search(rf"<{tag}\b.*?</{tag}>", html, re.DOTALL) for tag in ("title", "main"))
    reader = Reader()
    reader.feed("\n".join(found[0] for found in (title, main) if found) if main else html)
    lines = (re.sub(r"\s+", " ", line).strip() for line in reader.written.split("\n"))
    text = "\n".join(line for line in lines if line)
    joined = re.sub(r"^(-|▸|\|)\n", r"\1 ", text, flags=re.MULTILINE)
    parted = re.sub(r"^#", "\n#", joined, flags=re.MULTILINE)
    bare = re.sub(r"(?<=[\[(]) | (?=[\])])", "", parted)
    return re.sub(r"(?<=: )((?:[^,<>\n]+, ){9})[^<>\n]+, (?=>)", r"\1…", bare).replace(KEPT, " ")


def read_mail(subject: str, text: str, html: str) -> str:
    """A mail as text, and the lines that it has in HTML alone."""
    lines = [f"Subject: {subject}", *text.splitlines()]
    return "\n".join(
        [*lines, "", "=== in HTML", *(one for one in read(html).splitlines() if one not in lines)]
    )


def steadied(text: str) -> str:
    """The text without what is drawn at random and spaces at the end of a line."""
    for pattern, name in RANDOM:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip().split("\n")) + "\n"


class Approvals:
    """Texts beside those that were approved."""

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes

    def __call__(self, name: str, page: HttpResponse | str) -> None:
        """Fail where ``page`` is not as it was approved under ``name``."""
        difference = self.difference(name, page)
        assert not difference, f"{difference}\n{REMEDY}"

    def difference(self, name: str, page: HttpResponse | str) -> str:
        """The approved text against that of ``page``, as a unified diff; empty: the same."""
        text = steadied(page if isinstance(page, str) else _text(page))
        path = APPROVED / f"{name}.txt"
        if self.writes:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        approved = path.read_text() if path.exists() else ""
        lines = approved.splitlines(), text.splitlines()
        names = str(path.relative_to(PROJECT)), "now"
        return "\n".join(difflib.unified_diff(*lines, *names, n=2, lineterm=""))


def changed_lines(before: str, after: str) -> str:
    """``after`` where both have no line in common; else the lines that are gone and that came."""
    lines = before.splitlines(), after.splitlines()
    if not set(lines[0]) & set(lines[1]):
        return after
    return "\n".join(one for one in difflib.ndiff(*lines) if one[0] in "-+")


def _text(page: HttpResponse) -> str:
    text = page.content.decode()
    return read(text) if page["Content-Type"].startswith("text/html") else text


@pytest.fixture
def approved(request: pytest.FixtureRequest) -> Approvals:
    return Approvals(writes=request.config.getoption("--approve"))


@pytest.fixture(autouse=True)
def _same_every_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Comes before what puts rows into the database: plugins' fixtures come first."""
    if "approved" not in request.fixturenames:
        yield
        return
    from tests.kept import numbered_from_one  # noqa: PLC0415  once Django is set up

    request.getfixturevalue("db")
    with time_machine.travel(NOON, tick=False), numbered_from_one():
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--approve", action="store_true", help="write the approved texts anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """To approve, run what compares with approved texts, and nothing else."""
    if config.getoption("--approve"):
        chosen = [item for item in items if "approved" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
