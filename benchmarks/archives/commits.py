"""Commits of an invented history, with every name by which kernels and people call them."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from webapp.results.identity import Bound, Known

HEAD = "freebsd-head"
LAST_SVN = 368_800
FIRST_GIT, LAST_GIT = 245_200, 285_000
"""Counts of first parents between which commits are drawn."""
LAST_C = 246_500
"""Until then kernels named the count of all commits, as ``c255632``."""

_MARGIN = 6000
"""Commits of git before and after those drawn, for their neighbours."""

_MERGED_AT_FIRST = 10_400, 14_000
"""Commits of merged branches before `FIRST_GIT`."""
_MERGES, _LARGE_MERGES = 400, 2
_LARGE_MERGE = 1000, 4000
"""Commits that a whole vendor's tree brings; most merges bring one to a hundred and fifty."""
_SVN_MAJORS = ((302_409, 11), (339_434, 12), (LAST_SVN, 13))
_GIT_MAJORS = ((LAST_C, 13), (264_900, 14), (275_000, 15), (LAST_GIT, 16))


@dataclass(frozen=True, slots=True)
class Commit:
    """``svn`` is a Subversion number, 0 for a commit of git; ``first`` and ``total`` count first
    parents and all commits up to it, 0 for one of Subversion."""

    tree: str
    release: str
    hash: str
    svn: int = 0
    first: int = 0
    total: int = 0

    @property
    def name(self) -> str:
        """The name by which a tree places it."""
        return f"r{self.svn}" if self.svn else f"n{self.first}"

    @property
    def major(self) -> str:
        return self.release.partition(".")[0]

    def is_named(self, name: str) -> bool:
        """Whether a run filed at ``name`` is filed at this commit: a count of all commits is a
        place too, but that of another commit. A release names one, ``12.0-CURRENT`` none."""
        names = [self.name, f"c{self.total}"]
        if "-RELEASE" in self.release:
            names.append(self.release)
        if name in names:
            return True
        return len(name) >= 7 and self.hash.startswith(name)


class History:
    """Draws commits; the same number is always the same commit."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._seed = rng.getrandbits(64)
        self._merges = sorted(rng.sample(range(FIRST_GIT, LAST_GIT), _MERGES))
        sizes = [round(10 ** rng.uniform(0, 2.2)) for _ in self._merges]
        for at in rng.sample(range(_MERGES), _LARGE_MERGES):
            sizes[at] = rng.randint(*_LARGE_MERGE)
        self._merged = list(accumulate(sizes, initial=rng.randint(*_MERGED_AT_FIRST)))

    def svn(self, number: int = 0) -> Commit:
        number = number or self.rng.randint(280_000, LAST_SVN - 1000)
        major = next(major for last, major in _SVN_MAJORS if number <= last)
        return Commit(HEAD, f"{major}.0-CURRENT", self._hash(HEAD, number), svn=number)

    def git(self, first: int = 0) -> Commit:
        first = first or self.rng.randint(LAST_C + _MARGIN, LAST_GIT - _MARGIN)
        major = next(major for last, major in _GIT_MAJORS if first <= last)
        total = first + self._merged[bisect_right(self._merges, first)]
        found = self._hash(HEAD, -first)
        return Commit(HEAD, f"{major}.0-CURRENT", found, first=first, total=total)

    def counted(self) -> Commit:
        """One of the weeks when kernels named the count of all commits."""
        return self.git(self.rng.randint(FIRST_GIT, LAST_C))

    def stable(self, major: int) -> Commit:
        first = self.rng.randint(250_000, 260_000)
        tree = f"freebsd-stable-{major}"
        return Commit(tree, f"{major}.2-STABLE", self._hash(tree, first), first=first)

    def release(self) -> Commit:
        version = self.rng.choice(("10.1", "10.2", "11.1"))
        number = self.rng.randint(270_000, 330_000)
        tree = f"freebsd-releng-{version}"
        stage = self.rng.choice(("RELEASE", f"RELEASE-p{self.rng.randint(1, 12)}"))
        return Commit(tree, f"{version}-{stage}", self._hash(tree, number), svn=number)

    def any(self) -> Commit:
        return self.svn() if self.rng.random() < 0.5 else self.git()

    def near(self, commit: Commit, steps: int) -> Commit:
        """The commit so many steps after (negative: before)."""
        return self.svn(commit.svn + steps) if commit.svn else self.git(commit.first + steps)

    def _hash(self, tree: str, number: int) -> str:
        # S324: nothing secret; it is only to look like a hash of git.
        return hashlib.sha1(f"{self._seed}/{tree}/{number}".encode()).hexdigest()  # noqa: S324


class Imported:
    """What an instance knows of the history: commits by hash, and pairs of counts."""

    def __init__(self) -> None:
        self._commits: dict[tuple[str, str], Commit] = {}
        self._pairs: dict[str, list[tuple[int, int]]] = {}

    def add(self, commits: Iterable[Commit], *, with_pairs: bool = False) -> None:
        for commit in commits:
            self._commits[commit.tree, commit.hash] = commit
            if with_pairs:
                self._pairs.setdefault(commit.tree, []).append((commit.first, commit.total))

    def known(self, tree: str, found: str) -> Known:
        """What a tree knows about the hash of a kernel, as the service asks its tables."""
        fitting = [
            commit
            for (its_tree, name), commit in self._commits.items()
            if found and its_tree == tree and name.startswith(found)
        ]
        bound = Bound(fitting[0].name, self._names(fitting[0])) if len(fitting) == 1 else None
        return Known(bound, self._pairs.get(tree, []))

    def _names(self, commit: Commit) -> list[str]:
        names = [commit.name, commit.hash]
        if (commit.first, commit.total) in self._pairs.get(commit.tree, []):
            names.append(f"n{commit.total}")
        return names
