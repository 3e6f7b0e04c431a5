"""What a kernel says about itself: `uname -a` → release, revision, tree, build."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_UNAME = re.compile(r"^FreeBSD +(?:(\S+) +)?([0-9]{1,3})\.([0-9]{1,3})-(\S+) FreeBSD \S+ *(.*)$")
_DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]+ [0-9]+:[0-9]+:[0-9]+ \S+ [0-9]{4}"
_BUILT = re.compile(_DATE)
_VERSION_END = re.compile(rf"{_DATE}|\S+@\S+:")
_SVN = re.compile(r"(?<![\w.])r([0-9]{6})(?::[0-9]+)?[A-Z]*(?!\w)")
_COUNTED = re.compile(r"(?<![\w.])([nc][0-9]{6})(?:-([0-9a-f]{7,40}))?(?![0-9a-zA-Z])")
_HASH = re.compile(r"(?<![\w.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])([0-9a-f]{7,40})(?![0-9a-zA-Z])")
_MACHINE = re.compile(r"\s+\S+$")

MAX_BUILD_ID = 200

MAX_IDENT = 1024
"""Characters of a `uname -a` that are read; real ones have up to 250."""


@dataclass(frozen=True)
class Kernel:
    """One `uname -a`. `release` is `12.0-CURRENT`; `version` what follows it, without the machine
    type: `#14 r317849M: Sat May  6 00:18:48 CEST 2017 olivier@lame4:/usr/obj/…`."""

    ident: str
    host: str = ""
    major: int | None = None
    minor: int | None = None
    stage: str = ""
    version: str = ""

    @property
    def release(self) -> str:
        """``12.0-CURRENT``; empty where the name does not tell."""
        return f"{self.major}.{self.minor}-{self.stage}" if self.stage else ""

    @property
    def revision(self) -> str | None:
        """The revision in the version string, as people write it."""
        end = _VERSION_END.search(self.version)
        text = self.version[: end.start()] if end else self.version
        if match := _COUNTED.search(text):
            return match.group(1)
        if match := _SVN.search(text):
            return f"r{match.group(1)}"
        match = _HASH.search(text)
        return match.group(1) if match else None

    @property
    def commit(self) -> str | None:
        """The git hash behind a commit count."""
        match = _COUNTED.search(self.version)
        return match.group(2) if match else None

    @property
    def tree(self) -> str | None:
        """The line of history this kernel's own name places it on."""
        if self.major is None or self.minor is None:
            return None
        return tree_of(self.major, self.minor, self.stage)

    @property
    def build(self) -> str | None:
        """What tells this build from any other: present when the kernel carries its build date.

        The machine it ran on is left out: one image runs on many.
        """
        if not _BUILT.search(self.version):
            return None
        return bounded(" ".join(f"{self.release} {self.version}".split()))


def parse_uname(ident: str) -> Kernel:
    """A FreeBSD `uname -a`; of any other one only the text is known."""
    ident = ident[:MAX_IDENT]
    match = _UNAME.match(ident)
    if not match:
        return Kernel(ident)
    host, major, minor, stage, version = match.groups()
    version = _MACHINE.sub("", f" {version}").strip()
    return Kernel(ident, host or "", int(major), int(minor), stage, version)


def tree_of(major: int, minor: int, stage: str) -> str | None:
    """`…-CURRENT` and `N.0-ALPHAk` are head; `-PRERELEASE`, `-BETAk`, `-STABLE` (and an `-ALPHAk`
    past `N.0`) stable/N; `-RCk`, `-RELEASE`, `-pK` releng/N.M."""
    if stage == "CURRENT" or (stage.startswith("ALPHA") and minor == 0):
        return "freebsd-head"
    if stage.startswith(("PRERELEASE", "BETA", "STABLE", "ALPHA")):
        return f"freebsd-stable-{major}"
    if stage.startswith(("RC", "RELEASE", "p")):
        return f"freebsd-releng-{major}.{minor}"
    return None


def bounded(text: str) -> str:
    """`text` cut to what the server takes for a build."""
    if len(text) <= MAX_BUILD_ID:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{text[: MAX_BUILD_ID - 13]}-{digest[:12]}"
