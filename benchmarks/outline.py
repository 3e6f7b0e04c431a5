"""The outline of every page that one reaches: ``python -m benchmarks.outline http://…/ > before``.

Two instances with the same data have the same outlines, whatever their moment: a line is an element
with its classes, or a text, and every number and moment in it is one character. ``diff before
after`` then shows what a change of the code did to the pages.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

MOST_PAGES = 400
SILENT = {"script", "style", "svg"}
VOID = {"br", "hr", "img", "input", "link", "meta", "source", "path", "use"}
LOOKED_AT = ("class", "id", "name", "type", "role", "href", "action", "aria-label", "title")
MOMENT = re.compile(
    r"(\d+[\s\u00a0]*(years?|months?|weeks?|days?|hours?|minutes?|seconds?|min|h|s)\b(, )?)+( ago)?"
    r"|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?( UTC)?)?|[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}"
)
NUMBER = re.compile(r"[+\-−]?\d[\d.,\u00a0\u202f]*")


class Outline(HTMLParser):
    """Collects the lines of a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.links: list[str] = []
        self._depth = 0
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT or self._silent:
            self._silent += tag not in VOID
            return
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        self._add(f"<{tag}{_shown(found)}>")
        self._depth += tag not in VOID

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            self._silent -= 1
        elif tag not in VOID:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent and data.strip():
            self._add(plain(" ".join(data.split())))

    def _add(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)


def plain(text: str) -> str:
    """``text`` with every moment as ``@`` and every number as ``#``."""
    return NUMBER.sub("#", MOMENT.sub("@", text))


def outlines(start: str) -> Iterator[tuple[str, list[str]]]:
    """Each page that is reached from ``start`` with its outline, breadth first, one of each kind of
    address (their numbers left out) at most three times.
    """
    waiting, seen, kinds = [start], {start}, dict[str, int]()
    count = 0
    while waiting and count < MOST_PAGES:
        url = waiting.pop(0)
        kind = plain(urlsplit(url).path)
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > 3:
            continue
        with urlopen(url, timeout=60) as response:  # noqa: S310 (an instance of our own)
            is_page = response.headers.get_content_type() == "text/html"
            text = response.read().decode()
        if not is_page:
            continue
        page = Outline()
        page.feed(text)
        count += 1
        yield plain(url.removeprefix(start.rstrip("/"))), page.lines
        for link in page.links:
            target = urljoin(url, link).partition("#")[0]
            if target.startswith(start) and target not in seen:
                seen.add(target)
                waiting.append(target)


def _shown(attributes: Mapping[str, str | None]) -> str:
    shown = [(name, attributes[name]) for name in LOOKED_AT if name in attributes]
    return "".join(f' {name}="{plain(value or "")}"' for name, value in shown)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outline")
    parser.add_argument("url")
    url = parser.parse_args().url
    for address, lines in sorted(outlines(url if url.endswith("/") else f"{url}/")):
        print(f"== {address}")
        print("\n".join(lines))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
