"""Which commit a run measured, by what its kernel, its image and its directory say of it.

The kernel was there when the run was made; an image or a directory was named by somebody. So the
order is: the git hash in the kernel's string, then its number, then image or label. Where they
differ in a way that is understood, the run is filed at the kernel's commit:

* two counts of one history name one commit, when they differ by as much as all commits and the
  first parents alone do (``n277567`` and ``n257521``); the count of all commits, written with the
  letter that kernels gave it (``c277567``), becomes an alias;
* a count that only a name gives may count either. It is filed as one of all commits, which has no
  place by itself, and not among first parents;
* names that repeat the number in the kernel's string contradict nothing, whatever imported history
  calls the commit of the kernel's hash;
* Subversion numbers at most `NEAR` apart: a working copy is at the last commit that changed it,
  and the repository has gone on.

A hash in a name that is not the kernel's contradicts it, whatever their numbers say. All else
waits until somebody decides, with what speaks for each candidate.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from webapp.results.spellings import COUNT_PATTERN, HASH_PATTERN, SVN_PATTERN, as_total, is_total

Trust = Literal["", "kernel", "label"]

NEAR: Final = 10
"""Subversion numbers this far apart name one kernel."""

LEAST_MERGED, MOST_MERGED = 10_000, 40_000
"""By how much all commits of FreeBSD outnumber the first parents (merged vendor branches), from the
switch to git on: 20,046 at ``n257521``. Asked only where the tree knows no pair of counts."""

LARGE_MERGE: Final = 2_000
"""Commits that may be merged between a pair of counts and a known pair, where none is known beyond,
besides one for each first parent between them: a bound for histories that merge no more than they
commit. Before the first known pair there are half as many as at it, at least: two counts that are a
few hundred apart are two kernels, however far away that pair is."""


_HASHES = re.compile(
    r"(?<=[nc][0-9]{6}-)g?([0-9a-f]{7,40})(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])((?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{11,40})(?![A-Za-z0-9])"
)
"""In names: behind a count even digits alone are the hash of its commit, however short."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an agent read before any rule. Empty: it was not there.

    ``kernel_hash`` and ``kernel_revision`` are from the kernel's version string, the two others
    from the names of image and directory (``label``). ``trust`` is what the uploader named: which
    side to believe where they differ. ``session``: what the uploader called what was measured
    together; without it the runs of one directory are. ``former_mode`` is the mode as agents before
    this one read it, where that was another.
    """

    label: str = ""
    image: str = ""
    directory: str = ""
    kernel_hash: str = ""
    kernel_revision: str = ""
    image_revision: str = ""
    label_revision: str = ""
    trust: Trust = ""
    session: str = ""
    former_mode: str = ""

    @property
    def session_name(self) -> str:
        """What the runs measured together are called."""
        return self.session or self.label

    @property
    def named(self) -> str:
        """What somebody called it: the image gives it of one kernel, the label of a directory."""
        return self.image_revision or self.label_revision

    @property
    def named_by(self) -> str:
        """Where that is from."""
        return "image" if self.image_revision else "label"

    @property
    def named_hashes(self) -> tuple[str, ...]:
        """The hashes in that name, beside a number or alone."""
        text = self.image if self.image_revision else self.label
        return tuple(one or other for one, other in _HASHES.findall(text))


@dataclass(frozen=True, slots=True)
class Bound:
    """The commit that imported history has for the kernel's hash, and every name it answers to."""

    name: str
    names: Collection[str]


@dataclass(frozen=True, slots=True)
class Known:
    """What a tree knows: of the kernel's hash its commit, and pairs of counts (first parents, all)
    that name one commit. ``counts_all``: the tree's own ``n`` counts all commits.
    """

    bound: Bound | None = None
    pairs: Sequence[tuple[int, int]] = ()
    counts_all: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that the run may be of, and the reason."""

    revision: str
    source: str
    text: str

    def to_data(self) -> dict[str, str]:
        """What is stored of it."""
        return {"revision": self.revision, "source": self.source, "text": self.text}


@dataclass(frozen=True, slots=True)
class Identity:
    """Where a run belongs: at ``revision``, or, with ``candidates``, nowhere until one is chosen.

    ``alias`` is another name of that commit; ``remark`` is what was decided by a rule.
    """

    revision: str
    alias: str = ""
    remark: str = ""
    candidates: tuple[Candidate, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether somebody has to decide."""
        return bool(self.candidates)


def identify(sent: str, evidence: Evidence, known: Known | None = None) -> Identity:
    """Where a run belongs that was sent as of the revision ``sent``."""
    tree = known or Known()
    kernel = tree.bound.name if tree.bound else evidence.kernel_revision
    stranger = _strange_hash(evidence, tree)
    if stranger:
        found = _ask(sent, evidence, kernel or evidence.kernel_hash, stranger)
    elif kernel:
        found = _by_kernel(sent, evidence, tree, kernel)
    else:
        found = _by_hash_alone(sent, evidence)
        if found.revision == evidence.named and not tree.counts_all and not found.waits:
            found = _on_its_scale(found, evidence)
    return found


def _on_its_scale(found: Identity, evidence: Evidence) -> Identity:
    """A count that no kernel names is not one of first parents."""
    total = as_total(found.revision)
    if not total or evidence.trust == "label":
        return found
    remark = (
        f"no kernel names {found.revision}: a name may count all commits, so it is filed as "
        f"{total} and not among first parents, unless it is sent with --trust label"
    )
    return replace(found, revision=total, remark="; ".join(filter(None, [found.remark, remark])))


def _by_kernel(sent: str, evidence: Evidence, tree: Known, kernel: str) -> Identity:
    """The kernel names a commit, by its hash or its number."""
    named = evidence.named
    total = evidence.kernel_revision if is_total(evidence.kernel_revision) else ""
    alias = total if total != kernel else ""
    if not named:
        return Identity(kernel, alias, _other(sent, kernel, "the kernel's commit"))
    if kernel in (named, as_total(named)):
        return Identity(kernel)
    if tree.bound and any(_is_one_of(one, tree.bound.names) for one in (named, as_total(named))):
        return Identity(kernel, alias)
    if is_hash(named) and evidence.kernel_hash:
        if _same_hash(named, evidence.kernel_hash):
            return Identity(kernel)
    elif found := _understood(named, kernel, evidence, tree):
        return found
    return _ask(sent, evidence, kernel)


def _strange_hash(evidence: Evidence, tree: Known) -> str:
    """A hash in the name where none in it is the start of the kernel's, or the other way round."""
    own = [evidence.kernel_hash, evidence.kernel_revision]
    own += [tree.bound.name, *tree.bound.names] if tree.bound else []
    found = evidence.named_hashes
    if not evidence.kernel_hash or any(_begin_alike(one, other) for one in found for other in own):
        return ""
    return found[0] if found else ""


def is_hash(name: str) -> bool:
    """Whether ``name`` is (the start of) a git hash, and no count of commits (``c255632``)."""
    return HASH_PATTERN.fullmatch(name) is not None and not name.isdecimal() and not is_total(name)


def _by_hash_alone(sent: str, evidence: Evidence) -> Identity:
    """No number and no history to bind the hash by: it can be compared with another hash only."""
    named, found = evidence.named, evidence.kernel_hash
    if not found or not named or (is_hash(named) and _same_hash(named, found)):
        return Identity(sent)
    if is_hash(named):
        return _ask(sent, evidence, found)
    remark = (
        f"the kernel names commit {found}, which no imported history of the tree holds: filed at "
        f"{named} as the {evidence.named_by} has it, and judged anew when history is imported"
    )
    return Identity(named, remark=remark)


def _understood(named: str, kernel: str, evidence: Evidence, tree: Known) -> Identity | None:
    """Where the two differ by what a rule explains."""
    if named == evidence.kernel_revision:
        what = f"the commit of the kernel's hash; kernel and {evidence.named_by} name {named}"
        alias = named if is_total(named) else ""
        return Identity(kernel, alias, f"filed at {kernel}, {what}")
    both = f"the kernel names {kernel}, the {evidence.named_by} {named}"
    for own in dict.fromkeys([kernel, *(tree.bound.names if tree.bound else ())]):
        apart = _apart(SVN_PATTERN, own, named)
        if apart is not None and apart <= NEAR:
            return Identity(kernel, remark=f"{both}: filed at the kernel's, {apart} commits away")
        first, total = _number(COUNT_PATTERN, own), _number(COUNT_PATTERN, named)
        if first is not None and total is not None and _is_pair(first, total, tree.pairs):
            filed, alias = (named, kernel) if tree.counts_all else (kernel, as_total(named))
            remark = f"{both}: one commit, counted along first parents and in all"
            return Identity(filed, alias=alias, remark=remark)
    return None


def _is_pair(first: int, total: int, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether both counts may be of one commit: along a history merged commits only add up, so that
    those of known pairs before and after are bounds, equal ones of the pair itself.

    Numbers that one slip of typing turns into one another are no pair unless it is known: of the
    tens of thousands of counts that may be the other one, the true one is hardly ever such a one.
    """
    if (first, total) not in pairs and _is_one_slip(str(first), str(total)):
        return False
    merged = total - first
    before = max((pair for pair in pairs if pair[0] <= first), default=None)
    after = min((pair for pair in pairs if pair[0] >= first), default=None)
    least, most = LEAST_MERGED, MOST_MERGED
    if before:
        least = before[1] - before[0]
        most = least + LARGE_MERGE + first - before[0]
    if after:
        most = after[1] - after[0]
        if not before:
            least = max(most - LARGE_MERGE - (after[0] - first), most // 2)
    return least <= merged <= most


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one digit was typed wrongly, or two neighbours were exchanged."""
    if len(one) != len(other):
        return False
    at = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(at) != 2:
        return len(at) == 1
    left, right = at
    return right == left + 1 and one[left] == other[right] and one[right] == other[left]


def _ask(sent: str, evidence: Evidence, kernel: str, stranger: str = "") -> Identity:
    """Wait, unless the uploader named whom to believe. ``stranger``: the name is this hash."""
    named = stranger or evidence.named
    if evidence.trust:
        filed = kernel if evidence.trust == "kernel" else named
        remark = f"the kernel names {kernel}, the {evidence.named_by} {named}: filed as asked"
        return Identity(filed, remark=remark)
    name = evidence.image if evidence.named_by == "image" else evidence.label
    where = f"the {evidence.named_by} {name}" if name else f"the {evidence.named_by}"
    candidates = (
        Candidate(kernel, "kernel", f"the kernel names {kernel}"),
        Candidate(named, evidence.named_by, f"{where} names {named}"),
    )
    return Identity(sent, candidates=candidates)


def _other(sent: str, filed: str, what: str) -> str:
    return f"sent as {sent}, filed at {filed}, {what}" if sent != filed else ""


def _is_one_of(name: str, names: Collection[str]) -> bool:
    return name in names or (is_hash(name) and any(_same_hash(name, one) for one in names))


def _same_hash(one: str, other: str) -> bool:
    return is_hash(other) and _begin_alike(one, other)


def _begin_alike(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return shorter >= 7 and one[:shorter] == other[:shorter]


def _number(pattern: Any, name: str) -> int | None:
    found = pattern.fullmatch(name)
    return int(found[1]) if found else None


def _apart(pattern: Any, one: str, other: str) -> int | None:
    first, second = _number(pattern, one), _number(pattern, other)
    return None if first is None or second is None else abs(first - second)
