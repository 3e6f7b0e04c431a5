"""What other trackers of performance keep: codespeed, LNT, conbench and asv.

Each record has a provenance: revision, machine and time in the tracker's own names. One file may
hold a whole history. Bencher's is in `ci`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats import base
from labagent.readers.formats.json_tables import select, text_of

MAX_UNIT = 50
BYTES = "B"
LNT_METRICS = {
    "execution_time": Metric("execution_time", "s", "less"),
    "compile_time": Metric("compile_time", "s", "less"),
    "score": Metric("score", "points", "more"),
    "mem_bytes": Metric("mem_bytes", BYTES, "less"),
    "code_size": Metric("code_size", BYTES, "less"),
}
LNT_SUFFIXES = {"exec": "execution_time", "compile": "compile_time", "score": "score"}
"""Ends of the names of tests in reports before version 2."""
CONBENCH = {
    "s": (base.TIME, 1.0),
    "ns": (base.TIME, 1e-9),
    "B/s": (base.BANDWIDTH, 1.0),
    "i/s": (base.RATE, 1.0),
}
ASV = {
    "time": Metric("time", "s", "less"),
    "timeraw": Metric("time", "s", "less"),
    "mem": Metric("object_memory", BYTES, "less"),
    "peakmem": Metric("process_memory", BYTES, "less"),
    "track": Metric("tracked", "", ""),
}
_POSTED = frozenset({"commitid", "benchmark", "environment", "executable", "result_value"})
_WHOLE = re.compile(r"[0-9]{1,15}")


def records(printed: base.Printed) -> list[Any]:
    """The documents of the text: of one object, a list, the member `data`, or one a line."""
    document = printed.json
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        document = document["data"]
    if document is None:
        document = printed.json_lines
    return document if isinstance(document, list) else [document]


def _all_have(printed: base.Printed, *paths: str) -> bool:
    found = records(printed)
    return bool(found) and all(
        any(True for _ in select(one, path)) for one in found for path in paths
    )


def _doubled(
    printed: base.Printed, results: list[base.Result], *, once: bool = False
) -> Iterator[str]:
    """Values of one benchmark of one provenance; ``once``: at one revision, whenever measured."""
    seen = set()
    for one in results:
        provenance = one.provenance or base.Provenance()
        provenance = replace(provenance, measured_at="", committed_at="") if once else provenance
        key = (provenance, one.case, one.metric.name)
        if key in seen:
            yield f"{printed.where}: {one.case[:80]} of {provenance.revision[:64]} is there twice"
        seen.add(key)


def position_of(order: str) -> int | None:
    """The position of a revision whose name is a number."""
    return int(order) if _WHOLE.fullmatch(order) else None


# codespeed


def claims_codespeed(printed: base.Printed) -> bool:
    """Whether it is what clients post, or the tables as Django dumps them."""
    found = printed.json if isinstance(printed.json, list) else [printed.json]
    if all(isinstance(one, dict) and one.keys() >= _POSTED for one in found):
        return bool(found)
    return any(text_of(one, "model") == "codespeed.result" for one in found)


def read_codespeed(printed: base.Printed) -> base.Content:
    """Each result; what is posted states neither unit nor direction. Raises UnreadableError."""
    if not claims_codespeed(printed):
        raise base.UnreadableError(f"{printed.where} holds no results of codespeed")
    found = printed.json if isinstance(printed.json, list) else [printed.json]
    posted = text_of(found[0], "commitid") and "model" not in found[0]
    results = list(_posted(found, printed.where) if posted else _dumped(found, printed.where))
    return base.Content(results, list(_doubled(printed, results, once=True)))


def _posted(found: list[Any], where: str) -> Iterator[base.Result]:
    for number, one in enumerate(found):
        provenance = base.Provenance(
            branch=f"{text_of(one, 'project')}/{text_of(one, 'branch')}",
            revision=text_of(one, "commitid"),
            hardware=text_of(one, "environment"),
            measured_at=text_of(one, "result_date"),
            committed_at=text_of(one, "revision_date"),
        )
        case = f"{text_of(one, 'executable')}.{text_of(one, 'benchmark')}"
        value = base.finite(one["result_value"], f"{where} {number} result_value")
        yield base.Result(_codespeed_metric(one), (value,), case, provenance=provenance)


def _codespeed_metric(benchmark: Any) -> Metric:
    """The metric of a benchmark: `units_title` names it, `lessisbetter` directs it."""
    unit = clean(text_of(benchmark, "units"))[:MAX_UNIT]
    less = benchmark.get("lessisbetter") if isinstance(benchmark, dict) else None
    better = {True: "less", False: "more"}.get(less, "") if isinstance(less, bool) else ""
    if unit == "seconds" and better == "less":
        return base.TIME
    title = text_of(benchmark, "units_title") or "codespeed.value"
    return Metric(safe_name(clean(f"{title}.{unit}" if unit else title)), unit, better)


def _dumped(found: list[Any], where: str) -> Iterator[base.Result]:
    tables: dict[str, dict[str, Mapping[str, Any]]] = {}
    for one in found:
        if isinstance(one, dict) and isinstance(one.get("fields"), dict):
            tables.setdefault(text_of(one, "model"), {})[text_of(one, "pk")] = one["fields"]

    def row(kind: str, key: Any) -> Mapping[str, Any]:
        return tables.get(f"codespeed.{kind}", {}).get(str(key), {})

    for key, fields in tables.get("codespeed.result", {}).items():
        revision = row("revision", fields.get("revision"))
        branch = row("branch", revision.get("branch"))
        project = row("project", branch.get("project", revision.get("project")))
        benchmark = row("benchmark", fields.get("benchmark"))
        executable = row("executable", fields.get("executable"))
        if not revision or not benchmark or not executable:
            raise base.UnreadableError(f"{where}: what result {key[:20]} is of is not in the dump")
        provenance = base.Provenance(
            branch=f"{text_of(project, 'name')}/{text_of(branch, 'name')}",
            revision=text_of(revision, "commitid"),
            hardware=text_of(row("environment", fields.get("environment")), "name"),
            measured_at=text_of(fields, "date"),
            committed_at=text_of(revision, "date"),
        )
        case = f"{text_of(executable, 'name')}.{text_of(benchmark, 'name')}"
        value = base.finite(fields.get("value"), f"{where} result {key[:20]} value")
        yield base.Result(_codespeed_metric(benchmark), (value,), case, provenance=provenance)


# LNT


def claims_lnt(printed: base.Printed) -> bool:
    """Whether each document is a report of a run."""
    return _all_have(printed, "machine/name", "run", "tests/*/name") or _all_have(
        printed, "Machine/Name", "Run/Info", "Tests/*/Name"
    )


def read_lnt(printed: base.Printed) -> base.Content:
    """The metrics of LNT's own schema; others and states are left out. Raises UnreadableError."""
    if not claims_lnt(printed):
        raise base.UnreadableError(f"{printed.where} is no report of LNT")
    results: list[base.Result] = []
    left: dict[str, None] = {}
    for number, report in enumerate(records(printed)):
        where = f"{printed.where} {number}"
        new = "machine" in report
        provenance = _lnt_provenance(report, new=new)
        for at, test in select(report, "tests/*" if new else "Tests/*"):
            found = list(_lnt_values(test) if new else _lnt_old_values(test))
            for name, metric, value in found:
                if metric not in LNT_METRICS:
                    left[metric] = None
                    continue
                data = value if isinstance(value, list) else [value]
                values = tuple(base.amount(one, f"{where}{at} {metric}") for one in data)
                results.append(
                    base.Result(LNT_METRICS[metric], values, name, provenance=provenance)
                )
    unknown = [
        f"{printed.where}: {name[:50]} is no metric of LNT's own schema; left out" for name in left
    ]
    return base.Content(results, [*unknown, *_doubled(printed, results)])


def _lnt_provenance(report: Any, *, new: bool) -> base.Provenance:
    run = report["run"] if new else report["Run"]
    revision = text_of(run, "llvm_project_revision") or text_of(run, "Info/run_order")
    return base.Provenance(
        revision=revision,
        hardware=text_of(report, "machine/name" if new else "Machine/Name"),
        measured_at=text_of(run, "start_time" if new else "Start Time"),
        position=position_of(revision),
    )


def _lnt_values(test: Any) -> Iterator[tuple[str, str, Any]]:
    name = text_of(test, "name")
    for metric, value in test.items() if isinstance(test, dict) else ():
        if metric not in ("name", "id", "info", "profile") and not metric.endswith(
            ("status", "hash")
        ):
            yield name, metric, value


def _lnt_old_values(test: Any) -> Iterator[tuple[str, str, Any]]:
    name, _, suffix = text_of(test, "Name").rpartition(".")
    if suffix not in ("status", "hash"):
        for _, data in select(test, "Data"):
            yield name, LNT_SUFFIXES.get(suffix, suffix), data


# conbench


def claims_conbench(printed: base.Printed) -> bool:
    """Whether each document is a benchmark result, as posted or as the API answers."""
    return _all_have(printed, "stats/data", "stats/unit", "tags/name")


def read_conbench(printed: base.Printed) -> base.Content:
    """The samples of each result; a unit that conbench does not know has no direction. Raises
    UnreadableError."""
    if not claims_conbench(printed):
        raise base.UnreadableError(f"{printed.where} holds no result of conbench")
    results: list[base.Result] = []
    warnings = []
    for number, one in enumerate(records(printed)):
        unit = clean(text_of(one, "stats/unit"))[:MAX_UNIT]
        metric, scale = CONBENCH.get(unit, (Metric(safe_name(f"conbench.{unit}"), unit, ""), 1.0))
        data = one["stats"]["data"]
        if not isinstance(data, list):
            raise base.UnreadableError(f"{printed.where} {number}: data are no list")
        wanted = text_of(one, "stats/iterations")
        if wanted and wanted != str(len(data)):
            warnings.append(f"{printed.where} {number}: {len(data)} values of {wanted} iterations")
        values = tuple(scale * base.amount(value, f"{printed.where} {number}") for value in data)
        results.append(
            base.Result(metric, values, _conbench_case(one), provenance=_conbench_provenance(one))
        )
    return base.Content(results, [*warnings, *_doubled(printed, results)])


def _conbench_case(one: Any) -> str:
    tags = {name: text_of(one["tags"], name) for name in sorted(one["tags"])}
    name = tags.pop("name")
    tags.pop("id", None)
    return ".".join([name, *(f"{key}-{text}" for key, text in tags.items() if text)])


def _conbench_provenance(one: Any) -> base.Provenance:
    def first(*paths: str) -> str:
        return next(filter(None, (text_of(one, path) for path in paths)), "")

    return base.Provenance(
        branch=first("github/repository", "commit/repository", "run/commit/repository"),
        revision=first("github/commit", "commit/sha", "run/commit/sha"),
        hardware=first("machine_info/name", "hardware/name", "run/hardware/name"),
        measured_at=first("timestamp"),
        committed_at=first("commit/timestamp", "run/commit/timestamp"),
    )


# asv


def claims_asv(printed: base.Printed) -> bool:
    """Whether it is a file of results, of one commit in one environment."""
    return _all_have(printed, "commit_hash", "env_name", "params/machine", "results")


def read_asv(printed: base.Printed) -> base.Content:
    """A case a benchmark and set of parameters; its kind is in its name. Raises
    UnreadableError."""
    if not claims_asv(printed):
        raise base.UnreadableError(f"{printed.where} is no file of results of asv")
    results: list[base.Result] = []
    warnings = []
    for document in records(printed):
        columns = [name for _, name in select(document, "result_columns/*")]
        provenance = _asv_provenance(document)
        for _, entries in select(document, "results"):
            if not isinstance(entries, dict) or columns[:2] != ["result", "params"]:
                raise base.UnreadableError(f"{printed.where}: results are not in asv's version 2")
            for name, entry in entries.items():
                metric = ASV.get(name.rpartition(".")[2].partition("_")[0])
                for case, value in _asv_values(name, entry):
                    if metric is None or value is None or value != value:  # noqa: PLR0124 (NaN)
                        reason = "is of no known kind" if metric is None else "failed"
                        warnings.append(f"{printed.where}: {case[:80]} {reason}; left out")
                        continue
                    number = base.amount(value, f"{printed.where}: {case[:80]}")
                    results.append(base.Result(metric, (number,), case, provenance=provenance))
    return base.Content(results, [*warnings, *_doubled(printed, results)])


def _asv_provenance(document: Any) -> base.Provenance:
    date = document.get("date")
    moment = ""
    if isinstance(date, int) and 0 <= date < 1e14:
        moment = datetime.fromtimestamp(date / 1000, UTC).isoformat()
    return base.Provenance(
        revision=text_of(document, "commit_hash"),
        hardware=text_of(document, "params/machine"),
        committed_at=moment,
    )


def _asv_values(name: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """The value of each set of parameters."""
    if not isinstance(entry, list) or not entry or not isinstance(entry[0], list):
        yield name, None
        return
    given = entry[1] if len(entry) > 1 and isinstance(entry[1], list) else []
    lists = [one if isinstance(one, list) else [one] for one in given]
    sets = [".".join([name, *map(str, one)])[: 4 * MAX_NAME] for one in product(*lists)]
    if len(sets) != len(entry[0]):
        raise base.UnreadableError(
            f"{name[:80]} has {len(entry[0])} values of {len(sets)} parameters"
        )
    yield from zip(sets, entry[0], strict=True)


FORMATS = (
    base.Format(
        "codespeed",
        "codespeed's models: units, lessisbetter",
        claims_codespeed,
        read_codespeed,
        ends_itself=True,
    ),
    base.Format("lnt", "LNT's schemas/nts.yaml", claims_lnt, read_lnt, ends_itself=True),
    base.Format(
        "conbench", "conbench's units.py", claims_conbench, read_conbench, ends_itself=True
    ),
    base.Format(
        "asv",
        "asv's documentation: the kinds of benchmarks",
        claims_asv,
        read_asv,
        ends_itself=True,
    ),
)
