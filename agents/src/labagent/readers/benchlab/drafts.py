"""What a run's own files say about it, before its siblings and its label are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labagent.readers.benchlab.groups import Group, ValueFile
from labagent.readers.benchlab.image import Image, parse_image
from labagent.readers.benchlab.info import Info, parse_info
from labagent.readers.benchlab.kernel import Kernel, parse_uname
from labagent.readers.benchlab.measure import measure_values
from labagent.readers.benchlab.names import Names, names_of_prefix, read_names
from labagent.readers.benchlab.pairing import Entry, Paired
from labagent.reading import UnreadFileError, read_text


@dataclass
class Draft:
    """An entry with everything read that its own files say."""

    entry: Entry
    names: Names
    image: Image
    info: Info | None
    kernel: Kernel | None
    options: tuple[str, ...] = ()

    @property
    def group(self) -> Group:
        """The logs of the run."""
        return self.entry.group


def make_drafts(paired: Paired) -> list[Draft]:
    """A draft for each group of logs, then one for each set of value files without logs."""
    infos = {id(entry): _read_info(entry) for entry in paired.entries}
    images = sorted({info.image for info in infos.values() if info and info.image})
    drafts = [_draft(entry, infos[id(entry)], images) for entry in paired.entries]
    return drafts + [_draft_of_values(files, images) for files in paired.alone]


def _read_info(entry: Entry) -> Info | None:
    if entry.group.info is None:
        return None
    try:
        return parse_info(read_text(entry.group.info))
    except UnreadFileError as error:
        entry.measured.unread = entry.measured.unread or str(error)
        return None


def _draft(entry: Entry, info: Info | None, images: Sequence[str]) -> Draft:
    names = read_names(entry.group.prefix, info, images)
    if entry.renamed is not None:
        renamed = names_of_prefix(entry.renamed.prefix, [*images, names.image])
        if (renamed.image, renamed.pktgen) == (names.image, names.pktgen):
            names = renamed
    kernel = parse_uname(info.uname) if info and info.uname else None
    return Draft(entry, names, parse_image(names.image), info, kernel)


def _draft_of_values(files: Sequence[ValueFile], images: Sequence[str]) -> Draft:
    group = Group(files[0].prefix, files[0].variant)
    names = names_of_prefix(group.prefix, images)
    entry = Entry(group, measure_values(files))
    return Draft(entry, names, parse_image(names.image), None, None)
