"""KTAP, as the kernel's own tests print it: how many passed and failed."""

from __future__ import annotations

import re

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError

PASSED = Metric("tests_passed", "tests", "more")
FAILED = Metric("tests_failed", "tests", "less")
_RESULT = re.compile(r"( *)(not )?ok (\d{1,9})(.*)$")
_PLAN = re.compile(r"( *)1\.\.(\d+)\s*$")
_VERSION = re.compile(r"^(?:\[ *\d+\.\d+\] )?K?TAP version \d+", re.MULTILINE)
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")


def claims(printed: Printed) -> bool:
    """Whether a line names the version."""
    return _VERSION.search(printed.text) is not None


def read(printed: Printed) -> Content:
    """Results that are not the sum of a subtest; skipped ones count as neither.

    Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} is no KTAP")
    passed = failed = above = 0
    planned: dict[int, int] = {}
    seen: dict[int, int] = {}
    last: dict[int, int] = {}
    in_order = True
    for line in printed.text.splitlines():
        text = _STAMP.sub("", line)
        if plan := _PLAN.match(text):
            planned[len(plan[1])] = planned.get(len(plan[1]), 0) + int(plan[2][:9])
        if not (match := _RESULT.match(text)):
            continue
        depth = len(match[1])
        seen[depth] = seen.get(depth, 0) + 1
        in_order &= int(match[3]) == last.get(depth, 0) + 1
        last = {level: one for level, one in last.items() if level < depth} | {depth: int(match[3])}
        if depth >= above and "# SKIP" not in match[4].upper():
            failed, passed = failed + bool(match[2]), passed + (not match[2])
        above = depth
    if not seen:
        raise UnreadableError(f"{printed.where} holds no result of a test")
    warnings = []
    if len(_VERSION.findall(printed.text)) > 1:
        warnings.append(f"{printed.where} holds more than one output; all are counted together")
    if not in_order:
        warnings.append(f"{printed.where}: the results are not numbered in order")
    if planned != seen:
        warnings.append(f"{printed.where}: not as many results as were planned")
    return Content([Result(PASSED, (float(passed),)), Result(FAILED, (float(failed),))], warnings)


FORMAT = Format("ktap", "Documentation/dev-tools/ktap.rst of Linux", claims, read)
