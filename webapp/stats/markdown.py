"""Text from outside within Markdown: what it says is shown, and nothing of it is markup."""

import re

INLINE = re.compile(r"[\\`*|~\[\]$]|(?<![^\W_])_|_(?![^\W_])")
"""What begins code, emphasis, a cell, a link, an image or a formula. An underscore within a word
begins nothing."""

AT_THE_BEGINNING = re.compile(r"^(?:[#+=-]|>|\d+(?=[.)]))")
"""What makes a line a heading, a list, a quotation or a rule."""

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
BACKTICKS = re.compile(r"`+")
SHORTEST_FENCE = 3


def inline(text: object) -> str:
    """``text`` as one line of a heading, a paragraph, a list or a cell.

    Tags become entities, which every dialect knows; not all know a backslash before ``<``.
    """
    line = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(text).split()))
    escaped = INLINE.sub(r"\\\g<0>", line.replace("&", "&amp;").replace("<", "&lt;"))
    return AT_THE_BEGINNING.sub(_inert, escaped)


def block(text: str) -> str:
    """``text`` as a code block whose fence no line of it can end."""
    longest = max((len(run) for run in BACKTICKS.findall(text)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return "\n".join([fence, text.rstrip("\n"), fence])


def _inert(found: re.Match[str]) -> str:
    """A number is followed by what makes it an item: an entity stands for its first digit."""
    first = found[0]
    return f"&#{ord(first[0])};{first[1:]}" if first[0].isdigit() else f"\\{first}"
