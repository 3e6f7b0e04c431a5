"""Small pieces of SVG text. Pure. Every text is escaped here and nowhere else."""

from collections.abc import Iterable
from html import escape


def element(name: str, *children: str, **attributes: object) -> str:
    """One element. ``class_`` and ``stroke_width`` write class and stroke-width.

    Attributes that are None or empty are left out. Children are SVG already: put text through
    `plain_text` first.
    """
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def plain_text(text: object) -> str:
    """Text content, escaped."""
    return escape(str(text))


def label(text: object, *, x: float, y: float, **attributes: object) -> str:
    """A ``text`` element at (x, y), in pixels of the picture."""
    return element("text", plain_text(text), x=x, y=y, **attributes)


def document(
    *children: str,
    width: float,
    height: float,
    described: str,
    class_: str = "",
    has_links: bool = False,
) -> str:
    """A whole image of ``width`` × ``height`` user units that scales with its box.

    Readers of the screen go into one that ``has_links``; others are one thing to them.
    """
    return element(
        "svg",
        element("title", plain_text(described)),
        *children,
        viewBox=f"0 0 {_text(width)} {_text(height)}",
        width=width,
        height=height,
        role="group" if has_links else "img",
        class_=class_,
        xmlns="http://www.w3.org/2000/svg",
    )


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """The ``points`` of a polyline, to a tenth of a user unit."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


def triangle(x: float, y: float, *, size: float, up: bool) -> str:
    """The ``points`` of a triangle around a place."""
    tip = -size if up else size
    return points([(x, y + tip), (x - size, y - tip * 0.7), (x + size, y - tip * 0.7)])


def _text(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
