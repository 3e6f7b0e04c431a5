"""What must never be left in a text that people read: traces of a template or of Python, and the
gap where a template names what is not there.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from types import FrameType
from typing import Any
from unittest.mock import patch

from django.template import engines
from django.template.base import Node
from django.template.defaulttags import ForNode

from tests.places import PROJECT

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


class Unresolved(str):
    """What Django writes for a name that a template does not find: in ours, a failure."""

    def __contains__(self, key: object) -> bool:
        return key == "%s"

    def __mod__(self, name: object) -> str:
        template = _template(sys._getframe(1))
        if template.startswith(str(PROJECT)):
            raise AssertionError(f"{name} does not resolve in {template}")
        return ""


def _template(frame: FrameType | None) -> str:
    """The file of the node that is rendered."""
    while frame is not None:
        node = frame.f_locals.get("self")
        if isinstance(node, Node) and hasattr(node, "origin"):
            return str(node.origin.name)
        frame = frame.f_back
    return ""


class _Loud:
    """The sequence of a loop, which Django takes for empty where its name is not found."""

    def __init__(self, sequence: Any) -> None:
        self.sequence = sequence

    def resolve(self, context: Any, ignore_failures: bool = False) -> Any:
        return self.sequence.resolve(context) or ()


@contextmanager
def every_name_resolves() -> Iterator[None]:
    """Within, a template of ours that prints or walks over a name that is not there fails."""
    render = ForNode.render

    def loudly(self: ForNode, context: Any) -> str:
        if not isinstance(self.sequence, _Loud):
            self.sequence = _Loud(self.sequence)  # type: ignore[assignment]
        return render(self, context)

    engine = engines["django"].engine  # type: ignore[attr-defined]
    with (
        patch.object(engine, "string_if_invalid", Unresolved("%s")),
        patch.object(ForNode, "render", loudly),
    ):
        yield
