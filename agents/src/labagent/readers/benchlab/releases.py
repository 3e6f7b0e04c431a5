"""What names a kernel where no number and no hash does: a release, or a day.

Of a kernel that says `11.0-RELEASE-p3` or `12.0-RC1` that is exact. `-CURRENT` and `-STABLE` are no
releases but moving branches: those have a day, if anything names one. The server keeps such runs,
and has them wait until their revision has its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from labagent.readers.benchlab.kernel import Kernel

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
    """The release that the kernel says it is."""
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
    first of the ``releases`` that image and label say."""
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
    else nothing. A label seldom tells the patch level."""
    own = release_of_kernel(kernel)
    if own is None or named is None or own.split("-")[0] == named.split("-")[0]:
        return "", ""
    return own, named
