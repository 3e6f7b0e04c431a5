"""Text from outside within Markdown: a name is shown as it is, and nothing of it is markup; what a
lab typed as Markdown stays Markdown, without tags of HTML and without links that run scripts."""

import re
from collections.abc import Sequence
from itertools import groupby

INLINE = re.compile(r"[\\`*|~\[\]$]|(?<![^\W_])_|_(?![^\W_])")
"""What begins code, emphasis, a cell, a link, an image or a formula. An underscore within a word
begins nothing."""

AT_THE_BEGINNING = re.compile(r"^(?:[#+=>-]|\d+(?=[.)](?:\s|$)))")
"""What makes a line a heading, a list, a quotation or a rule."""

TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
ENTITY = re.compile(r"&(?=#|\w+;)")
FENCE = re.compile(r"\s*(```|~~~)")
CODE = re.compile(r"(?<![\\`])(`+)(?!`)[^|]*?[^`|]\1(?!`)")
"""Code within a line. A bar ends the cell of a table, and the code with it."""

FOREIGN = re.compile(
    r"<(?!https?://)(?=[a-z/!?])"
    r"|(?<=\])\((?!\s*<?(?:https?://|mailto:|#|[\w./%+~@=-]+[\s)>?#]))"
    r"|\[(?!\^)(?=[^\]]*\]:)",
    re.IGNORECASE,
)
"""In what a person typed: a tag; the destination of a link that is neither an address of the web
nor a path; the definition of a link."""

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
BACKTICKS = re.compile(r"`+")
SHORTEST_FENCE = 3


def inline(text: object) -> str:
    """``text`` as one line of a heading, a paragraph, a list or a cell."""
    line = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(text).split()))
    escaped = INLINE.sub(r"\\\g<0>", line)
    for markup in (ENTITY, TAG):
        escaped = markup.sub(r"\\\g<0>", escaped)
    return AT_THE_BEGINNING.sub(_inert, escaped)


def block(text: str) -> str:
    """``text`` as a code block whose fence no line of it can end."""
    longest = max((len(run) for run in BACKTICKS.findall(text)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return "\n".join([fence, text.rstrip("\n"), fence])


def typed(text: str) -> str:
    """Markdown that a person typed, as it is; an open code block is closed."""
    parts: list[str] = []
    prose: list[str] = []
    code: list[str] | None = None
    for line in [*text.splitlines(), ""]:
        if FENCE.match(line):
            parts += [_without_foreign(prose)] if prose else []
            parts += [] if code is None else [block("\n".join(code))]
            prose, code = [], [] if code is None else None
        else:
            (prose if code is None else code).append(line)
    parts += [_without_foreign(prose[:-1])] if code is None and prose[:-1] else []
    parts += [block("\n".join(code))] if code is not None else []
    return "\n".join(parts)


def _without_foreign(lines: Sequence[str]) -> str:
    """Code within a line keeps what it holds, where all code of its paragraph ends in its line."""
    found: list[str] = []
    for is_blank, paragraph in groupby(lines, key=lambda line: not line.strip()):
        its = list(paragraph)
        keep_code = not is_blank and all("`" not in CODE.sub("", line) for line in its)
        found += [_line(line, keep_code=keep_code) for line in its]
    return "\n".join(found)


def _line(line: str, *, keep_code: bool) -> str:
    clean = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", line.replace("\t", "    "))
    kept = [(one.start(), one.end()) for one in CODE.finditer(clean)] if keep_code else []

    def inert(found: re.Match[str]) -> str:
        is_code = any(start <= found.start() < end for start, end in kept)
        return found[0] if is_code else f"\\{found[0]}"

    return FOREIGN.sub(inert, clean)


def _inert(found: re.Match[str]) -> str:
    """A number is an item by the sign behind it."""
    first = found[0]
    return f"{first}\\" if first[0].isdigit() else f"\\{first}"
