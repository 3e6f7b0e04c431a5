"""Which image, configuration and traffic preset a group of files belongs to.

Files are named `bench.[IMAGE.][CFG.][PKTGEN.]ITERATION.receiver`; a configuration may hold dots or
be a number. The `.info` file says the three apart, and agrees with the file name except where files
were renamed after the run (then the name is right) or carry only a part of the configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from labagent.readers.benchlab.image import leading_image
from labagent.readers.benchlab.info import Info

TRAFFIC_PRESETS = frozenset(
    {"inet4", "inet6"}
    | {"64", "128", "256", "512", "1024", "1280", "1518", "2048", "9800"}
    | {"1K", "5K", "10K", "50K", "100K", "1M", "2M", "4M", "5M", "6M", "10M"}
)
"""The presets of pkt-gen by which files were named; anything else is part of the configuration."""


@dataclass(frozen=True)
class Names:
    """The parts of a file's name before the iteration; empty: the name lacks that part."""

    image: str = ""
    cfg: str = ""
    pktgen: str = ""

    @property
    def prefix(self) -> str:
        """The parts that are there, joined as in the file's name."""
        return ".".join(part for part in (self.image, self.cfg, self.pktgen) if part)


def read_names(prefix: str, info: Info | None, images: Iterable[str] = ()) -> Names:
    """The names behind `prefix`; `images` are those known from the same directory."""
    if info is None:
        return names_of_prefix(prefix, images)
    if info.old:
        return _old_names(prefix, info)
    stated = Names(info.image, info.cfg, info.pktgen)
    if stated.prefix == prefix or _is_part(prefix, stated):
        return stated
    return names_of_prefix(prefix, [*images, info.image])


def names_of_prefix(prefix: str, images: Iterable[str] = ()) -> Names:
    """The names in `prefix`, read from both ends: an image first, a preset last."""
    image = _image_of(prefix, images)
    rest = prefix[len(image) :].lstrip(".")
    cfg, _, last = rest.rpartition(".")
    if last in TRAFFIC_PRESETS:
        return Names(image, cfg, last)
    return Names(image, rest, "")


def _image_of(prefix: str, images: Iterable[str]) -> str:
    known = [image for image in images if image and f"{prefix}.".startswith(f"{image}.")]
    return max(known, key=len) if known else leading_image(prefix)


def _old_names(prefix: str, info: Info) -> Names:
    if prefix == info.cfg:
        return Names(info.image, info.cfg)
    if info.cfg and prefix.endswith(f".{info.cfg}"):
        return Names(prefix.removesuffix(f".{info.cfg}"), info.cfg)
    found = names_of_prefix(prefix)
    return found if found.image else replace(found, image=info.image)


def _is_part(prefix: str, stated: Names) -> bool:
    """Whether `prefix` says nothing but parts of what is stated (`128KBhash` of the configuration
    `4Mstates-128KBhash`, or all of it without the image)."""
    rest = _without(prefix, stated.image)
    if rest in ("", stated.pktgen, replace(stated, image="").prefix):
        return rest != ""
    part = re.escape(rest.removesuffix(f".{stated.pktgen}") if stated.pktgen else rest)
    return bool(re.search(rf"(?<![A-Za-z0-9]){part}(?![A-Za-z0-9])", stated.cfg))


def _without(prefix: str, image: str) -> str:
    return prefix.removeprefix(f"{image}.") if image else prefix
