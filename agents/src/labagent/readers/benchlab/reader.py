"""A label directory → its runs, and what is no run and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labagent.files import UnreadFileError, digest_of
from labagent.limits import EVIDENCE
from labagent.model import Evidence, Mode, Outcome, Overrides, Run, Skip, Source, safe_name
from labagent.readers.benchlab.drafts import (
    Draft,
    Names,
    doubt_warnings,
    make_drafts,
    parse_time,
    problem_warnings,
    run_facts,
)
from labagent.readers.benchlab.groups import (
    MINIMUM_TO_COMPARE,
    compare_stored,
    group_files,
    measure_logs,
    samples_of,
)
from labagent.readers.benchlab.kernel import (
    Kernel,
    bounded,
    contradicted_release,
    day_in,
    name_without_number,
    release_of_image,
)
from labagent.readers.benchlab.label import (
    Label,
    Siblings,
    former_topic_options,
    former_workload,
    indistinct,
    label_options,
    parse_label,
    topic_options,
    workload_of,
)
from labagent.readers.benchlab.layout import LabelDirectory, read_contents
from labagent.readers.benchlab.pairing import NO_RUN, Entry, assign_profiles, leavings, pair, unread

NO_REVISION = "no revision in image, label or kernel"
NO_SAMPLE = "no usable sample"
CONSOLE_ONLY = "only console captures"
NO_HARDWARE = "no hardware in the path: pass --hardware"
NO_TREE = "no tree known: pass --tree"
NO_WORKLOAD = "no workload known: pass --mode"

SHORTEST_HASH = 7
"""Digits of a hash, as git abbreviates it at the least."""


@dataclass(frozen=True)
class Readme:
    """The facts that were typed, and why there are none where the file could not be read."""

    typed: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def read_label(
    directory: LabelDirectory, overrides: Overrides, readme: Readme
) -> Iterator[Outcome]:
    """The runs of a label directory in a fixed order, then what was skipped."""
    contents = read_contents(directory)
    grouped = [group_files(variant) for variant in contents.variants]
    groups = [group for found in grouped for group in found.groups]
    entries = [Entry(group, measure_logs(group)) for group in groups]
    paired = pair(entries, [file for found in grouped for file in found.values])
    contents.profiled.extend(path for found in grouped for path in found.profiled)
    profiles = [left for one in contents.variants for left in assign_profiles(one, entries)]
    outcomes = list(_Reader(directory, overrides, readme, make_drafts(paired)).outcomes())
    yield from (one for draft, one in outcomes if _is_wanted(directory, draft))
    left_out = (draft.group for draft, one in outcomes if isinstance(one, Skip))
    profiles += [(one.path, NO_RUN) for group in left_out for one in group.taken]
    if directory.wanted is None:
        yield from leavings(directory, contents, paired, profiles)
    yield from (unread(directory, error) for found in grouped for error in found.unread)
    yield from contents.skips


def _is_wanted(directory: LabelDirectory, draft: Draft) -> bool:
    if directory.wanted is None:
        return True
    paths = [*draft.entry.measured.digests, *draft.group.paths]
    return any(path.is_relative_to(directory.wanted) for path in paths)


class _Reader:
    """The drafts of one label, made into runs: each with an eye on its siblings."""

    def __init__(
        self,
        directory: LabelDirectory,
        overrides: Overrides,
        readme: Readme,
        drafts: Sequence[Draft],
    ) -> None:
        self.directory = directory
        self.overrides = overrides
        self.drafts = drafts
        numbered = [
            draft.image.revision or (draft.kernel and draft.kernel.revision) for draft in drafts
        ]
        self.label: Label = parse_label(directory.label, is_dated=not any(numbered))
        self.kernel = _common_kernel(drafts)
        self.sibling_tree = _common_tree(drafts)
        self.readme = readme
        images = {draft.image.name: draft.image for draft in drafts}
        cfgs = {draft.names.cfg for draft in drafts}
        siblings = Siblings(tuple(images.values()), tuple(sorted(cfgs)))
        self.label_options = label_options(self.label, siblings)
        for draft in drafts:
            draft.options = self._options(draft)

    def outcomes(self) -> Iterator[tuple[Draft, Outcome]]:
        unclear = indistinct((draft.image, self._key(draft)) for draft in self.drafts)
        for draft in self.drafts:
            if draft.image in unclear:
                draft.options = (*draft.options, draft.image.name)
            yield draft, self._outcome(draft)

    def _options(self, draft: Draft) -> tuple[str, ...]:
        kernel = draft.kernel or self._kernel_of_image(draft)
        named = (*draft.image.tokens, *self.label_options)
        revision = self._revision(draft)
        return (
            *(
                token
                for token in named
                if not _is_hash_of(kernel, token) and day_in(token) != (revision or "")
            ),
            *draft.group.variant.options,
        )

    def _key(self, draft: Draft) -> object:
        return self._tree(draft), self._revision(draft), self._mode(draft)

    def _labels(self, draft: Draft) -> list[str | None]:
        """The revisions that the names of its directories give."""
        nested = [parse_label(name).revision for name in draft.group.variant.nested]
        return [self.label.revision, *nested]

    def _revision(self, draft: Draft) -> str | None:
        """By the first rule that hits: image, label, kernel, kernel of the siblings; where none
        names a commit, a release or a day. It is what the run is sent as and known by; the server
        files it by the evidence.
        """
        labels = self._labels(draft)
        counted = [name for name in labels if name and name[0] in "rnc"]
        kernel = draft.kernel or self.kernel
        candidates = [draft.image.revision, *counted, kernel.revision if kernel else None, *labels]
        found = next((revision for revision in candidates if revision), None)
        return found or self._without_number(draft)

    def _without_number(self, draft: Draft) -> str | None:
        names = [draft.names.image, self.directory.label, *draft.group.variant.nested]
        releases = [release_of_image(draft.names.image), self.label.release]
        return name_without_number(draft.kernel or self.kernel, names, releases)

    def _tree(self, draft: Draft) -> str | None:
        candidates = (
            self.overrides.tree,
            self.label.tree,
            draft.kernel.tree if draft.kernel else None,
            draft.image.tree,
            self.sibling_tree,
            self.label.release_tree if draft.kernel is None else None,
        )
        return next((tree for tree in candidates if tree), None)

    def _mode(self, draft: Draft) -> Mode | None:
        if self.overrides.mode:
            return self.overrides.mode
        cfg, topic = draft.names.cfg, self.directory.topic
        options = (*draft.options, *topic_options(cfg, topic))
        workload = workload_of(cfg, topic)
        return Mode.of(workload, draft.names.pktgen, options) if workload else None

    def _former_mode(self, draft: Draft) -> str:
        """The mode as agents read it that knew no knobs, where that is another: runs that they
        uploaded are known by it."""
        mode = self._mode(draft)
        if self.overrides.mode or mode is None:
            return ""
        cfg, topic = draft.names.cfg, self.directory.topic
        options = (*draft.options, *former_topic_options(cfg, topic))
        former = Mode(
            safe_name(former_workload(cfg, topic)),
            mode.traffic,
            tuple(sorted({safe_name(option) for option in options})),
        )
        return str(former) if former != mode else ""

    def _outcome(self, draft: Draft) -> Outcome:
        """The run, or why there is none. What cannot be read costs this run only."""
        if draft.entry.measured.unread:
            return self._skip(draft, draft.entry.measured.unread, unread=True)
        try:
            return self._judge(draft)
        except UnreadFileError as error:
            return self._skip(draft, str(error), unread=True)

    def _judge(self, draft: Draft) -> Outcome:
        hardware = self.overrides.hardware or self.directory.hardware
        tree, read, mode = self._tree(draft), self._revision(draft), self._mode(draft)
        revision = self.overrides.revision or read
        if revision is None:
            return self._skip(draft, NO_REVISION)
        if not draft.entry.measured.values:
            return self._skip(draft, CONSOLE_ONLY if draft.group.console else NO_SAMPLE)
        if hardware is None:
            return self._skip(draft, NO_HARDWARE)
        if tree is None:
            return self._skip(draft, NO_TREE)
        if mode is None:
            return self._skip(draft, NO_WORKLOAD)
        run = self._run(draft, tree, read or revision, hardware, mode)
        position = self.overrides.position
        home = self.directory.path
        return replace(run, revision=revision, read_as=read, position=position, home=home)

    def _skip(self, draft: Draft, reason: str, *, unread: bool = False) -> Skip:
        name = draft.group.prefix or "bench"
        where = "/".join([self.directory.title, *draft.group.variant.nested, name])
        return Skip(where, reason, unread)

    def _run(self, draft: Draft, tree: str, revision: str, hardware: str, mode: Mode) -> Run:
        measured = draft.entry.measured
        started = parse_time(draft.info.started) if draft.info else None
        return Run(
            tree=tree,
            revision=revision,
            hardware=hardware,
            mode=mode,
            samples=samples_of(measured),
            build_id=self._build(draft, revision),
            kernel_ident=draft.kernel.ident if draft.kernel else "",
            measured_at=started.isoformat() if started else None,
            sources=self._sources(draft),
            facts=run_facts(
                group=draft.group,
                names=draft.names,
                kernel=draft.kernel,
                label="/".join([self.directory.label, *draft.group.variant.nested]),
                topic=self.directory.topic,
                iterations=measured.iterations,
                typed=self.readme.typed,
            ),
            warnings=tuple(self._warnings(draft, revision)),
            evidence=self._evidence(draft),
            profiles=tuple(draft.group.taken),
        )

    def _evidence(self, draft: Draft) -> Evidence:
        """What the kernel and the names state of the commit; without an `.info`, the kernel that
        the other runs of the image name. Where the user gave it, they count for nothing."""
        nested = draft.group.variant.nested
        where = Evidence(
            label="/".join([self.directory.label, *nested])[: EVIDENCE["label"].most],
            image=draft.names.image[: EVIDENCE["image"].most],
            directory="/".join([self.directory.title, *nested])[: EVIDENCE["directory"].most],
            trust=self.overrides.trust,
            session=self.overrides.session,
            former_mode=self._former_mode(draft),
        )
        if self.overrides.revision is not None:
            return where
        found = draft.kernel or self._kernel_of_image(draft)
        kernel = found.revision or "" if found else ""
        commit = found.commit or "" if found else ""
        is_number = kernel[:1] in ("r", "n", "c") and kernel[1:].isdecimal()
        labels = [label for label in self._labels(draft) if label]
        counted = [label for label in labels if label[0] in "rnc"]
        if not (found and found.revision) and not draft.image.revision and not labels:
            kernel, named = contradicted_release(found, self.label.release)
            return replace(where, kernel_revision=kernel, label_revision=named)
        return replace(
            where,
            kernel_hash=commit if is_number else kernel,
            kernel_revision=kernel if is_number else "",
            image_revision=draft.image.revision or "",
            label_revision=next(iter([*counted, *labels]), ""),
        )

    def _build(self, draft: Draft, revision: str) -> str:
        """The kernel's version string when it carries a build date, which nothing else shares;
        else its release, revision, image and label, which together name one build of the lab."""
        if draft.kernel and draft.kernel.build:
            return draft.kernel.build
        release = draft.kernel.release if draft.kernel else ""
        parts = [release, revision, draft.names.image, self.directory.label]
        return bounded(" ".join(part for part in parts if part))

    def _sources(self, draft: Draft) -> tuple[Source, ...]:
        digests = dict(draft.entry.measured.digests)
        if draft.group.info:
            digests[draft.group.info] = digest_of(draft.group.info)
        base = self.directory.path.parent
        return tuple(
            Source(path.relative_to(base).as_posix(), digests[path]) for path in sorted(digests)
        )

    def _warnings(self, draft: Draft, revision: str) -> Iterator[str]:
        for stored in draft.entry.stored:
            if warning := compare_stored(draft.entry.measured, stored):
                yield warning
        yield from problem_warnings(draft.entry.measured)
        yield from doubt_warnings(draft)
        yield from self._identity_warnings(draft, revision)
        yield from filter(None, [self.readme.problem])
        if draft.info and draft.info.started and parse_time(draft.info.started) is None:
            yield f"time of the measurement not understood: {draft.info.started}"

    def _identity_warnings(self, draft: Draft, revision: str) -> Iterator[str]:
        if draft.entry.renamed and draft.entry.renamed.prefix == draft.names.prefix:
            yield f"logs are named {draft.group.prefix}, results {draft.names.prefix}: results kept"
        if draft.info and not draft.info.old:
            stated = Names(draft.info.image, draft.info.cfg, draft.info.pktgen)
            if stated != draft.names and draft.entry.renamed is None:
                prefix = stated.prefix or "nothing"
                yield f"files are named {draft.names.prefix}, .info names {prefix}"
        own = draft.kernel.revision if draft.kernel else None
        if own and own[0] in "rnc" and own != revision and not _is_hash_of(draft.kernel, revision):
            yield f"the kernel names {own}, image or label {revision}"
        yield from self._sibling_warnings(draft)
        if draft.kernel is None:
            yield from self._guess_warnings(draft)

    def _sibling_warnings(self, draft: Draft) -> Iterator[str]:
        """Where one `.info` alone names another kernel than the other runs of the same image."""
        if draft.kernel is None:
            return
        others = self._other_kernels(draft)
        kernels = {(kernel.revision, kernel.release) for kernel in others}
        own = (draft.kernel.revision, draft.kernel.release)
        if len(others) >= MINIMUM_TO_COMPARE and len(kernels) == 1 and own not in kernels:
            theirs = " ".join(filter(None, kernels.pop()))
            yield f"the kernel names {' '.join(filter(None, own))}, of the other runs {theirs}"

    def _other_kernels(self, draft: Draft) -> list[Kernel]:
        """Those that the other runs of its image name."""
        return [
            other.kernel
            for other in self.drafts
            if other is not draft and other.kernel and other.image.name == draft.image.name
        ]

    def _kernel_of_image(self, draft: Draft) -> Kernel | None:
        """For a run that names no kernel: that of the other runs of its image, if they agree."""
        kernels = self._other_kernels(draft)
        agree = len({(kernel.revision, kernel.commit) for kernel in kernels}) == 1
        return kernels[0] if agree else None

    def _guess_warnings(self, draft: Draft) -> Iterator[str]:
        """Where a run that names no kernel got what a kernel would have named."""
        if self.kernel or self._kernel_of_image(draft):
            yield "no .info: kernel taken from the other runs of the directory"
        elif self.label.tree or draft.image.tree:
            return
        elif self.sibling_tree:
            yield "no .info: tree taken from the other runs of the directory"
        else:
            yield "no kernel named: tree taken from the directory's name"


def _is_hash_of(kernel: Kernel | None, name: str) -> bool:
    """Whether ``name`` is the hash that the kernel names beside its number: of digits alone, it
    looks like any number."""
    commit = kernel.commit if kernel else None
    if commit is None or len(name) < SHORTEST_HASH:
        return False
    return commit.startswith(name) or name.startswith(commit)


def _common_kernel(drafts: Iterable[Draft]) -> Kernel | None:
    """The kernel of all siblings that name one, when they agree on revision and tree."""
    kernels = [draft.kernel for draft in drafts if draft.kernel]
    if len({(kernel.revision or kernel.release, kernel.tree) for kernel in kernels}) != 1:
        return None
    return kernels[0]


def _common_tree(drafts: Iterable[Draft]) -> str | None:
    """The tree of all siblings whose kernels name one, when they agree."""
    trees = {draft.kernel.tree for draft in drafts if draft.kernel and draft.kernel.tree}
    return trees.pop() if len(trees) == 1 else None
