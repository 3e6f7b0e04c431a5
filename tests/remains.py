"""What must never be left in a text that people read: traces of a template or of Python."""

import re
from html import unescape

TRACES = re.compile(
    r"""<Block\b | \{\{ | \}\} | \{% | %\} | \{\# | object\ at\ 0x | <function\b | <QuerySet\b
    | \bNone\b(?!\ (?:of|here|yet)\b|[.:]) | \bnan\b | \bNaN\b | \binf\b | \bundefined\b
    | &(?:lt|gt|amp|quot|nbsp|\#x?[0-9a-f]+);""",
    re.VERBOSE,
)
UNREAD = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
TAGS = re.compile(r"</?[a-zA-Z][^>]*>")


def remains(text: str) -> list[str]:
    """Each trace that plain ``text`` shows, with what stands around it."""
    return [text[max(0, at.start() - 40) : at.end() + 40] for at in TRACES.finditer(text)]


def remains_in_html(html: str) -> list[str]:
    """The same for what a reader of ``html`` sees: markup gone, escaped once."""
    return remains(unescape(TAGS.sub(" ", UNREAD.sub(" ", html))))
