"""Which options a run's mode carries, and which parts of a label are no option of this run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from labagent.model import KNOB
from labagent.readers.benchlab.image import Image
from labagent.readers.benchlab.label import Label
from labagent.readers.benchlab.tokens import is_patch, overlaps, tree_of_branch

DEFAULT_TOPIC = "firewalls"
DEFAULT_WORKLOAD = "forwarding"

_FIREWALL_CFG = re.compile(r"^(?:(?:fast)?forwarding|(?:ipfw|ipf|pf)(?:-state\w*)?)$")
_SYSCTL = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
_VALUE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:[-_.]default)?")
_VERSUS = re.compile(r"[-._]?vs[-._]?")


@dataclass(frozen=True)
class Siblings:
    """What the runs of one label directory have between them."""

    images: tuple[Image, ...] = ()
    cfgs: tuple[str, ...] = ()

    @property
    def image_tokens(self) -> tuple[str, ...]:
        """The parts of the names of all images, in order."""
        return tuple(token for image in self.images for token in image.tokens)

    @property
    def images_differ(self) -> bool:
        """Whether the images have different tokens in their names."""
        return len({image.tokens for image in self.images}) > 1


def label_options(label: Label, siblings: Siblings) -> tuple[str, ...]:
    """The parts of the label that hold for every run below it.

    A label often names what was put to the test: then some image or configuration of the directory
    carries it and another does not, and it says nothing about the other.
    """
    return tuple(token for token in label.segments if not _tested(token, siblings))


def _tested(token: str, siblings: Siblings) -> bool:
    tokens = siblings.image_tokens
    if overlaps(token, tokens):
        return True
    if is_patch(token):
        return siblings.images_differ or any(map(is_patch, tokens))
    return _pairs_configurations(token, siblings.cfgs) or _compares(token, siblings.images)


def _pairs_configurations(token: str, cfgs: Sequence[str]) -> bool:
    """`fastio`, where both `null` and `null-fastio` were measured."""
    part = re.compile(rf"[-._]{re.escape(token)}$|^{re.escape(token)}[-._]")
    return any((base := part.sub("", cfg)) != cfg and base in cfgs for cfg in cfgs)


def _compares(token: str, images: Sequence[Image]) -> bool:
    """`main-vs-stable13`, where the sides are branches or images."""
    sides = _VERSUS.split(token)
    return len(sides) > 1 and all(
        tree_of_branch(side, None) is not None or overlaps(side, (i.name for i in images))
        for side in sides
    )


def knob_value(cfg: str, topic: str | None) -> str:
    """The number that a knob had, where the topic is one (named as sysctls are:
    `hw.igb.num_queues`) and the configuration its value (`8000`, `8000-default`); else empty. What
    was measured then is forwarding."""
    found = _VALUE.fullmatch(cfg) if topic and _SYSCTL.fullmatch(topic) else None
    return found[1] if found else ""


def workload_of(cfg: str, topic: str | None) -> str:
    """The configuration; without one the topic, which for firewalls means plain forwarding."""
    return DEFAULT_WORKLOAD if knob_value(cfg, topic) else former_workload(cfg, topic)


def topic_options(cfg: str, topic: str | None) -> tuple[str, ...]:
    """The topic with its value, where it is a knob; else what `former_topic_options` says."""
    value = knob_value(cfg, topic)
    return (f"{topic}{KNOB}{value}",) if value else former_topic_options(cfg, topic)


def former_workload(cfg: str, topic: str | None) -> str:
    """The workload as agents read it that knew no knobs."""
    if cfg:
        return cfg
    return DEFAULT_WORKLOAD if topic == DEFAULT_TOPIC else topic or ""


def former_topic_options(cfg: str, topic: str | None) -> tuple[str, ...]:
    """The topic, where a configuration's name means something only within it: `null` of ipsec and
    `null` of openvpn are two configurations. To agents that knew no knobs it was also `1` under
    `hw.igb.num_queues`, a number of queues.

    A topic that stands in for the configuration is the workload itself; one that is also the name
    of a firewall's configuration is marked, so that it is not taken for that one.
    """
    if not topic or topic == DEFAULT_TOPIC:
        return ()
    if cfg:
        return (topic,)
    return (f"topic-{topic}",) if _FIREWALL_CFG.match(topic) else ()


def indistinct(keys: Iterable[tuple[Image, object]]) -> Collection[Image]:
    """The images that are not told apart: different names, no number that identifies the build,
    yet the same key (tree, revision, mode). Their name has to become an option."""
    names: dict[object, set[Image]] = {}
    for image, key in keys:
        names.setdefault(key, set()).add(image)
    return {
        image
        for images in names.values()
        if len(images) > 1
        for image in images
        if image.name and image.revision is None
    }
