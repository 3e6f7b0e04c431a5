"""Reports in Markdown show names from outside as they are: none of them is markup."""

import html
import re
from urllib.parse import urlencode

import pytest
from django.test import Client
from markdown_it import MarkdownIt

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.results.models import Hardware, Metric, Mode, Revision, Tree
from webapp.stats import markdown

pytestmark = pytest.mark.django_db
EVIL = "x|y `a` [x](javascript:alert(1)) ![i](http://e/) <img src=x> **b** _c_\n# H\n```\n---\n- z"
SHORT = "|`[x](javascript:a)<img src=x>**b**"
"""Fits where a revision or a unit does."""

FOREIGN = re.compile(r"</?(?:a|img|em|strong|code class|hr|s)\b|<h[12]>H")
"""Elements that no report has of its own; code stands in `pre` alone."""


def rendered(text: str) -> str:
    """As HTML, by a parser that is not ours and lets tags through."""
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def harm(text: str) -> list[str]:
    shown = rendered(text)
    return FOREIGN.findall(shown) + re.findall(r"(?<!<pre>)<code>", shown)


def cells(text: str) -> set[int]:
    rows = re.findall(r"<tr>.*?</tr>", rendered(text), re.DOTALL)
    return {len(re.findall(r"<t[dh]", row)) for row in rows}


@pytest.fixture
def compared() -> str:
    """The query of a comparison in which everything bears a hostile name."""
    tree, metric = make.tree("evil"), make.metric(EVIL, unit=SHORT)
    hardware, mode = make.hardware("evil"), make.mode("evil")
    along = make.revisions(2, of=tree)
    for factor, revision in enumerate(along, 1):
        samples = [factor * value for value in (100.0, 101.0, 99.0)]
        make.run(revision, on=hardware, in_mode=mode, of_metric=metric, samples=samples)
    Hardware.objects.filter(pk=hardware.pk).update(name=EVIL)
    Mode.objects.filter(pk=mode.pk).update(name=EVIL)
    return urlencode({"a": f"{tree}:{along[0].name}", "b": f"{tree}:{along[1].name}"})


def test_a_comparison_shows_names_as_they_are(client: Client, compared: str) -> None:
    text = client.get(f"/compare.md?{compared}").content.decode()
    assert harm(text) == []
    assert "<td>x|y" in rendered(text)


def test_a_bisect_shows_names_as_they_are(client: Client) -> None:
    truth = Truth()
    bisect = lab.start(truth)
    lab.work(truth, bisect)
    Revision.objects.update(subject=EVIL, author_name=EVIL)
    culprit = Revision.objects.get(name="r1009")
    Revision.objects.filter(pk=culprit.pk).update(name=f"r1009{SHORT}")
    Hardware.objects.update(name=EVIL)
    Mode.objects.update(name=EVIL)
    Tree.objects.update(name=EVIL)
    Metric.objects.update(name=EVIL, unit=SHORT)
    text = client.get(f"/bisects/{bisect.pk}.md").content.decode()
    assert "## Decisions" in text
    assert harm(text) == []
    assert cells(text) == {3}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("r303643", "r303643"),
        ("inet4+a_b@c/d-e.f", "inet4+a_b@c/d-e.f"),
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("_a_", r"\_a\_"),
        ("&lt;", r"\&lt;"),
        ("a & b < c", "a & b < c"),
        ("<b>", r"\<b>"),
        ("# a", r"\# a"),
        ("12. a", r"12\. a"),
        ("12.0-CURRENT", "12.0-CURRENT"),
        ("a\r\n\x1b[0m", "a \ufffd\\[0m"),
    ],
)
def test_text_is_as_plain_as_it_can_be(text: str, shown: str) -> None:
    assert markdown.inline(text) == shown


@pytest.mark.parametrize("before", ["", "# ", "- ", "1. "])
@pytest.mark.parametrize(
    "text", [EVIL, "- a", "+ a", "1) a", "> a", "===", "&lt;", "~~a~~", "a_b_c"]
)
def test_what_is_escaped_reads_the_same(text: str, before: str) -> None:
    shown = rendered(before + markdown.inline(text))
    assert harm(before + markdown.inline(text)) == []
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)).strip() == " ".join(text.split())


TYPED = """# Impact of `tx` on <b>pf</b>

| path  | **share** |
|-------|-----------|
| `lock_delay` (`dev.<n>.tx`) | 46.8 % |

- see [OFF](PMC/off.svg), [ON](../on.svg#a) and [D1](https://reviews.freebsd.org/D1)

```
x <b>code</b>
"""


def test_what_a_lab_typed_stays_markdown() -> None:
    text = markdown.typed(TYPED)
    assert text == TYPED.replace("<b>pf</b>", r"\<b>pf\</b>") + "```"
    shown = rendered(text)
    for part in ("<h1>", "<table>", "<strong>share", "<code>dev.&lt;n&gt;.tx</code>"):
        assert part in shown
    for link in ("PMC/off.svg", "../on.svg#a", "https://reviews.freebsd.org/D1"):
        assert f'<a href="{link}"' in shown


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x>",
        "`a\n<img src=x> `b`",
        "| `a | <img src=x> ` |\n|---|---|",
        r"\`<img src=x>\`",
        "`a\n# H\n<img src=x> `b`",
        "[x](javascript:a)",
        "[x]( javascript:a)",
        "[x](<javascript:a>)",
        "[x](\njavascript:a)",
        "[x](&#106;avascript:a)",
        "[x]\n\n[x]: javascript:a",
        "- [x]: data:a\n\n[x]",
        "<javascript:a>",
        "```\na\n```\n<img src=x>",
    ],
)
def test_no_tag_and_no_script_is_left_of_what_a_lab_typed(text: str) -> None:
    reader = MarkdownIt("gfm-like", {"linkify": False})
    reader.validateLink = lambda _address: True  # type: ignore[method-assign]
    assert re.findall(r"<(?:img|a)\b", str(reader.render(markdown.typed(text)))) == []


def test_no_line_of_a_block_ends_it() -> None:
    assert markdown.block("a\n````\nb\n") == "`````\na\n````\nb\n`````"
