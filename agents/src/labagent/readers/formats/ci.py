"""What test systems write: KTAP, KCIDB, SQUAD's metrics, Bencher's format and `bencher perf`."""

import re
from dataclasses import dataclass, field
from typing import Any

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats import base
from labagent.readers.formats.json_tables import select, text_of
from labagent.readers.formats.languages import claims_lkp
from labagent.readers.formats.trackers import position_of

MAX_UNIT = 50
EXECUTED = frozenset({"PASS", "FAIL", "ERROR", "DONE"})

PASSED = Metric("tests_passed", "tests", "more")
FAILED = Metric("tests_failed", "tests", "less")
_RESULT = re.compile(r"( *)(not )?ok (\d{1,9})(.*)$")
_PLAN = re.compile(r"( *)1\.\.(\d+)\s*$")
_VERSION = re.compile(r"^(?:\[ *\d+\.\d+\] )?K?TAP version \d+", re.MULTILINE)
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")


def claims_ktap(printed: base.Printed) -> bool:
    """Whether a line names the version."""
    return _VERSION.search(printed.text) is not None


def read_ktap(printed: base.Printed) -> base.Content:
    """How many results passed and failed. Sums of subtests do not count, nor what was skipped.

    Raises UnreadableError."""
    if not claims_ktap(printed):
        raise base.UnreadableError(f"{printed.where} is no KTAP")
    lines = [_STAMP.sub("", line) for line in printed.text.splitlines()]
    planned: dict[int, int] = {}
    for plan in filter(None, map(_PLAN.match, lines)):
        planned[len(plan[1])] = planned.get(len(plan[1]), 0) + int(plan[2][:9])
    counted = _Ktap()
    for match in filter(None, map(_RESULT.match, lines)):
        counted.add(match)
    if not counted.seen:
        raise base.UnreadableError(f"{printed.where} holds no result of a test")
    doubts = {
        "more than one output; all are counted together": len(_VERSION.findall(printed.text)) > 1,
        "results that are not numbered in order": not counted.in_order,
        "not as many results as were planned": planned != counted.seen,
        "a subtest without the result of its test": max(counted.last) > 0,
        "a test that differs from its subtests in whether it failed": counted.contradicts,
    }
    warnings = [f"{printed.where} holds {text}" for text, is_so in doubts.items() if is_so]
    numbers = ((PASSED, counted.passed), (FAILED, counted.failed))
    return base.Content(
        [base.Result(metric, (float(number),)) for metric, number in numbers], warnings
    )


@dataclass
class _Ktap:
    """Counts of results, `seen` by their depth; `last` are the numbers and `failures` the failed
    results at each depth below the test that is under way."""

    passed: int = 0
    failed: int = 0
    in_order: bool = True
    contradicts: bool = False
    seen: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)

    def add(self, match: re.Match[str]) -> None:
        """One line of a result; after deeper ones that of a test with subtests."""
        depth, fails, number = len(match[1]), bool(match[2]), int(match[3])
        below = [count for level, count in self.failures.items() if level > depth]
        is_skipped = "# SKIP" in match[4].upper()
        self.seen[depth] = self.seen.get(depth, 0) + 1
        self.in_order &= number == self.last.get(depth, 0) + 1
        self.contradicts |= bool(below) and not is_skipped and fails != any(below)
        if not below and not is_skipped:
            self.failed, self.passed = self.failed + fails, self.passed + (not fails)
        self.last = {level: one for level, one in self.last.items() if level < depth}
        self.failures = {level: one for level, one in self.failures.items() if level <= depth}
        self.last[depth] = number
        self.failures[depth] = self.failures.get(depth, 0) + fails


def claims_kcidb(printed: base.Printed) -> bool:
    """Whether it is a report of version 4 or 5 with tests."""
    document = printed.json
    major = [version for _, version in select(document, "version/major")]
    return major in ([4], [5]) and any(True for _ in select(document, "tests/*/id"))


def read_kcidb(printed: base.Printed) -> base.Content:
    """The numbers of tests that were executed. None has a direction. Raises UnreadableError."""
    if not claims_kcidb(printed):
        raise base.UnreadableError(f"{printed.where} is no report of KCIDB")
    checkouts = _by_id(printed.json, "checkouts")
    builds = _by_id(printed.json, "builds")
    results = []
    for at, test in select(printed.json, "tests/*"):
        where = f"{printed.where}{at}"
        if not isinstance(test, dict) or str(test.get("status")) not in EXECUTED:
            continue
        build = builds.get(text_of(test, "build_id"), {})
        provenance = _kcidb_provenance(test, checkouts.get(text_of(build, "checkout_id"), {}))
        for _, value in select(test, "number/value"):
            unit = clean(text_of(test, "number/unit"))[:MAX_UNIT]
            metric = Metric(safe_name(f"kcidb.{unit or 'number'}"), unit, "")
            number = base.finite(value, f"{where} number")
            results.append(
                base.Result(metric, (number,), text_of(test, "path"), provenance=provenance)
            )
    return base.Content(results)


def _by_id(document: Any, kind: str) -> dict[Any, dict[str, Any]]:
    rows = [one for _, one in select(document, f"{kind}/*") if isinstance(one, dict)]
    return {one["id"]: one for one in rows if isinstance(one.get("id"), str)}


def _kcidb_provenance(test: dict[str, Any], checkout: dict[str, Any]) -> base.Provenance:
    return base.Provenance(
        branch=text_of(checkout, "tree_name") or text_of(checkout, "git_repository_branch"),
        revision=text_of(checkout, "git_commit_hash"),
        hardware=text_of(test, "environment/misc/platform"),
        measured_at=text_of(test, "start_time"),
    )


def claims_squad(printed: base.Printed) -> bool:
    """Whether all there is are names with a number, numbers, or a value and its unit."""
    document = printed.json
    return (
        isinstance(document, dict)
        and bool(document)
        and all(map(_is_metric, document.values()))
        and not claims_lkp(printed)
    )


def _is_metric(one: Any) -> bool:
    if isinstance(one, dict):
        return "value" in one and one.keys() <= {"value", "unit"} and _is_metric(one["value"])
    values = one if isinstance(one, list) else [one]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def read_squad(printed: base.Printed) -> base.Content:
    """Each metric, its group as the case. None has a direction. Raises UnreadableError."""
    if not claims_squad(printed):
        raise base.UnreadableError(f"{printed.where} is no metrics.json of SQUAD")
    results = []
    for path, one in printed.json.items():
        group, _, name = path.rpartition("/")
        value = one["value"] if isinstance(one, dict) else one
        unit = clean(text_of(one, "unit"))[:MAX_UNIT] if isinstance(one, dict) else ""
        where = f"{printed.where}: {path[:80]}"
        values = tuple(
            base.finite(each, where) for each in (value if isinstance(value, list) else [value])
        )
        results.append(base.Result(Metric(safe_name(clean(name)), unit, ""), values, group))
    return base.Content(results)


FORMATS = (
    base.Format("ktap", "Documentation/dev-tools/ktap.rst of Linux", claims_ktap, read_ktap),
    base.Format("kcidb", "kcidb-io, schema 5.3", claims_kcidb, read_kcidb, ends_itself=True),
    base.Format(
        "squad", "SQUAD's documentation, metrics file", claims_squad, read_squad, ends_itself=True
    ),
)


BUILT_IN = {"latency": base.TIME_PER_OP, "throughput": base.RATE}
"""In ns, and operations/s."""


def claims_bencher(printed: base.Printed) -> bool:
    """Whether all there is are measures with a value."""
    document = printed.json
    return (
        isinstance(document, dict)
        and bool(document)
        and all(isinstance(one, dict) and one for one in document.values())
        and all(
            isinstance(measure, dict)
            and "value" in measure
            and measure.keys() <= {"value", "lower_value", "upper_value"}
            for one in document.values()
            for measure in one.values()
        )
    )


def read_bencher(printed: base.Printed) -> base.Content:
    """Each value; measures that are not built in have no unit and no direction.

    Raises UnreadableError."""
    if not claims_bencher(printed):
        raise base.UnreadableError(f"{printed.where} is not in Bencher Metric Format")
    results = []
    for case, measures in printed.json.items():
        for name, measure in measures.items():
            metric = _metric(name, "")
            value = base.finite(measure["value"], f"{printed.where}: {case[:50]} {name[:50]}")
            results.append(base.Result(metric, (value,), case))
    return base.Content(results)


def _metric(name: str, unit: str) -> Metric:
    return BUILT_IN.get(name) or Metric(safe_name(clean(name))[:MAX_NAME], clean(unit)[:50], "")


def claims_perf(printed: base.Printed) -> bool:
    """Whether it is the answer to a query of a project's history."""
    paths = ("results/*/branch/name", "results/*/testbed/name", "results/*/metrics")
    return all(any(True for _ in select(printed.json, path)) for path in ("project", *paths))


def read_perf(printed: base.Printed) -> base.Content:
    """Each metric at its revision; measures that are not built in have no direction.

    Raises UnreadableError."""
    if not claims_perf(printed):
        raise base.UnreadableError(f"{printed.where} is no history of Bencher")
    results = []
    without = 0
    for at, line in select(printed.json, "results/*"):
        slug, unit = text_of(line, "measure/slug"), text_of(line, "measure/units")
        case = text_of(line, "benchmark/name")
        for below, one in select(line, "metrics/*"):
            provenance = _provenance(line, one)
            without += not provenance.revision
            value = [found for _, found in select(one, "metric/value")]
            where = f"{printed.where}{at}{below}"
            if len(value) != 1:
                raise base.UnreadableError(f"{where} has no value")
            number = base.finite(value[0], where)
            results.append(base.Result(_metric(slug, unit), (number,), case, provenance=provenance))
    doubt = f"{printed.where}: {without} metrics of versions without a commit"
    return base.Content(results, [doubt] if without else [])


def _provenance(line: Any, one: Any) -> base.Provenance:
    return base.Provenance(
        branch=text_of(line, "branch/name"),
        revision=text_of(one, "version/hash"),
        hardware=text_of(line, "testbed/name"),
        measured_at=text_of(one, "start_time"),
        position=position_of(text_of(one, "version/number")),
    )


BENCHER = (
    base.Format(
        "bencher", "Bencher's documentation: the built-in measures", claims_bencher, read_bencher
    ),
    base.Format(
        "bencher-perf", "bencher perf: measure.units", claims_perf, read_perf, ends_itself=True
    ),
)
