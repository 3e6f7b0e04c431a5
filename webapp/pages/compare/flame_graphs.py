"""The profiles of what a report compares: flame graphs, differences, and pictures of these."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.urls import reverse

from webapp.analysis.queries import (
    ComparedRow,
    ComparedTable,
    Kernel,
    address_of,
    kernel_of,
    profiled_among,
)
from webapp.outbox.services import absolute
from webapp.pages.parts.links import diff_link, side_link
from webapp.stats.markdown import inline


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The profiles of one cell: flame ``graphs`` and differences from the baseline, each with the
    title of its side and its address.
    """

    title: str
    graphs: Sequence[tuple[str, str]]
    differences: Sequence[tuple[str, str]]


MOST_PICTURES = 6
"""Differences of profiles that are drawn in a report; the others are links alone."""


@dataclass(frozen=True, slots=True)
class FlamePicture:
    """The difference ``title`` of profiles as a picture: the addresses of its page, and of it."""

    title: str
    link: str
    svg: str
    png: str

    @classmethod
    def of(cls, title: str, link: str) -> "FlamePicture":
        """That of the page at ``link``."""
        _, _, query = link.partition("?")
        svg, png = (f"{reverse(f'profile_diff_{kind}')}?{query}" for kind in ("svg", "png"))
        return cls(title, link, svg, png)


def profile_lines(table: ComparedTable, titles: Sequence[str]) -> list[ProfileLine]:
    """The cells that were profiled, one a machine and mode; ``titles`` are those of the sides."""
    sets = [one for row in table.rows for one in row.sets]
    profiled = profiled_among([kernel_of(one) for one in sets])
    lines = [_profile_line(row, titles, profiled) for row in table.rows]
    return list({line.title: line for line in lines if line.graphs}.values())


def _profile_line(
    row: ComparedRow, titles: Sequence[str], profiled: Collection[Kernel]
) -> ProfileLine:
    found = [
        (title, address_of(one))
        for title, one in zip(titles, row.sets, strict=True)
        if kernel_of(one) in profiled
    ]
    has_base = kernel_of(row.sets[0]) in profiled
    return ProfileLine(
        f"{row.mode_label}, {row.sets[0].hardware}",
        [(title, side_link(side)) for title, side in found],
        [(title, diff_link(found[0][1], side)) for title, side in found[1:] if has_base],
    )


def pictures_of(lines: Sequence[ProfileLine]) -> list[FlamePicture]:
    """The first of the differences."""
    named = [
        FlamePicture.of(f"{line.title}: {title}", link)
        for line in lines
        for title, link in line.differences
    ]
    return named[:MOST_PICTURES]


def flame_graphs(profiles: Sequence[ProfileLine]) -> str:
    """As labs list them at the end, in Markdown with their addresses; empty without profiles."""
    named = [
        (f"{line.title}: {title}{what}", link)
        for line in profiles
        for links, what in ((line.graphs, ""), (line.differences, ", difference"))
        for title, link in links
    ]
    lines = [f"  - [{inline(text)}]({absolute(link)})" for text, link in named]
    drawn = [
        f"\n[![{inline(one.title)}]({absolute(one.png)})]({absolute(one.link)})"
        for one in pictures_of(profiles)
    ]
    return "\n".join(["Flame graphs:", *lines, *drawn]) if lines else ""
