"""What names a kernel: `uname -a`, or a release or a day where no number and no hash does.

Of a kernel named `11.0-RELEASE-p3` or `12.0-RC1` that is exact. `-CURRENT` and `-STABLE` are no
releases but moving branches: those have a day, if anything names one. The server keeps such runs,
and has them wait until their revision has its place.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

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
        """``12.0-CURRENT``; empty where the name has none."""
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
        """What distinguishes this build from any other: present where the kernel carries its date.

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


_STAGE = re.compile(r"^(?:ALPHA|BETA|RC)[0-9]+(?:-p[0-9]+)?$|^RELEASE(?:-p[0-9]+)?$")
_IMAGE = re.compile(
    r"^([0-9]{1,2})\.([0-9]{1,2})-?((?:ALPHA|BETA|RC|RELEASE)[0-9]*)?(-?p[0-9]+)?(?![0-9A-Za-z])"
)
DAY = re.compile(
    r"(?<![0-9A-Za-z])((?:19|20)[0-9]{2})(?:-([01][0-9])-([0-3][0-9])|([01][0-9])([0-3][0-9]))"
    r"(?![0-9A-Za-z])"
)


def release_id(major: str, minor: str, stage: str) -> str | None:
    """`10.1-RELEASE` of `10`, `1` and nothing; `11.1-BETA1`; `10.3-RELEASE-p3` of `p3`. None for
    what is no release."""
    text = stage.strip("-")
    if not text:
        text = "RELEASE"
    elif text.startswith("p"):
        text = f"RELEASE-{text}"
    text = re.sub(r"(?<=[0-9E])-?(?=p[0-9])", "-", text)
    return f"{int(major)}.{int(minor)}-{text}" if _STAGE.match(text) else None


def release_of_kernel(kernel: Kernel | None) -> str | None:
    """The release that the kernel names."""
    if kernel is None or not kernel.stage:
        return None
    return release_id(str(kernel.major), str(kernel.minor), kernel.stage)


def release_of_image(name: str) -> str | None:
    """`11.1BETA1` → `11.1-BETA1`."""
    match = _IMAGE.match(name)
    return release_id(match[1], match[2], (match[3] or "") + (match[4] or "")) if match else None


def day_in(name: str) -> str | None:
    """The first day that a name holds, as `2016-05-01`."""
    for match in DAY.finditer(name):
        year, month, day = match[1], match[2] or match[4], match[3] or match[5]
        try:
            return date(int(year), int(month), int(day)).isoformat()
        except ValueError:
            continue
    return None


def name_without_number(
    kernel: Kernel | None, names: Sequence[str], releases: Sequence[str | None]
) -> str | None:
    """The kernel's release; else a day in ``names``; else, where no kernel contradicts it, the
    first of the ``releases`` that image and label name."""
    if found := release_of_kernel(kernel):
        return found
    days = (day_in(name) for name in names)
    if found := next((day for day in days if day), None):
        return found
    if kernel is not None and kernel.stage:
        return None
    return next((release for release in releases if release), None)


def contradicted_release(kernel: Kernel | None, named: str | None) -> tuple[str, str]:
    """The release of the kernel and that which the label names, where the two are of two versions;
    else nothing. A label seldom has the patch level."""
    own = release_of_kernel(kernel)
    if own is None or named is None or own.split("-")[0] == named.split("-")[0]:
        return "", ""
    return own, named
