"""Formats that are plain JSON: where their cases and values lie."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from labagent.model import Histogram, Metric, derived_names
from labagent.readers.formats import base

ROUNDING = 1e-6
"""Of a mean that is printed beside its samples."""


@dataclass(frozen=True)
class Field:
    """A value, or a list of samples, below a case; only `when` that is there and not 0.

    `instead` is where a summary of the samples lies that counts where they are not there, `mean`
    where their mean does.
    """

    path: str
    metric: Metric
    scale: float = 1.0
    when: str = ""
    instead: str = ""
    mean: str = ""

    def read(self, case: Any, where: str) -> tuple[list[float], list[str]]:
        """The values of a case, and what may be wrong with them. Raises UnreadableError."""
        found, doubts = _amounts(case, self.path, where), []
        if not found and self.instead and (found := _amounts(case, self.instead, where)):
            doubts.append(f"{where}: no {self.path}, so {self.instead} counts")
        elif found and self.mean:
            doubts = list(mean_doubts(found, _amounts(case, self.mean, where), where))
        return [self.scale * one for one in found], doubts


@dataclass(frozen=True)
class Bins:
    """An object of value → count below a case, and where its largest value and their number are."""

    path: str
    largest: str
    total: str
    metric: Metric
    scale: float

    def read(self, case: Any, where: str) -> Histogram | None:
        """The histogram; None: there are no bins. The values of the last bin are the largest one.

        Raises UnreadableError."""
        bins = next((found for _, found in select(case, self.path)), None)
        if bins is None:
            return None
        place = f"{where} {self.path}"
        if not isinstance(bins, dict):
            raise base.UnreadableError(f"{place} are no counts by value")
        pairs = [(base.amount(key, place), base.whole(count, place)) for key, count in bins.items()]
        largest, total = (
            base.amount(next((one for _, one in select(case, path)), None), f"{where} {path}")
            for path in (self.largest, self.total)
        )
        counted = sum(count for _, count in pairs)
        if counted != total:
            raise base.UnreadableError(f"{place} count {counted}, and {self.total} is {total:g}")
        if not counted:
            return None
        last = max(value for value, count in pairs if count)
        exact = [(largest if value == last else value, count) for value, count in pairs]
        return Histogram.of(exact, self.scale)


@dataclass(frozen=True)
class JsonTable:
    """`signature` has what marks the format, `cases` the path to its cases and `case` that of their
    name, or of one for all. In a path `*` stands for each member of a list or an object. What lies
    at `failures` below a case is 0 unless it failed. A case is left out where the text at the first
    of `unit`, its own or that of all, is another than the second."""

    name: str
    source: str
    signature: tuple[str, ...]
    cases: str
    case: str
    fields: tuple[Field, ...]
    histograms: tuple[Bins, ...] = ()
    failures: str = ""
    unit: tuple[str, str] = ("", "")

    def claims(self, printed: base.Printed) -> bool:
        """Whether all of the signature is there."""
        return all(any(True for _ in select(printed.json, path)) for path in self.signature)

    def read(self, printed: base.Printed) -> base.Content:
        """All fields of all cases. Raises UnreadableError."""
        if printed.json is None:
            raise base.UnreadableError(f"{printed.where} is no JSON")
        shared = next((str(text) for _, text in select(printed.json, self.case)), "")
        results: list[base.Result] = []
        warnings = []
        seen: set[str] = set()
        for at, case in select(printed.json, self.cases):
            where = f"{printed.where}{at}"
            if doubt := self._other_unit(printed.json, case):
                warnings.append(f"{where}: {doubt}; left out")
                continue
            found, doubts = self._case(case, where, shared)
            warnings += self._failed(case, where)
            warnings += [
                f"{where}: {one.case} is there twice" for one in found[:1] if one.case in seen
            ]
            warnings += doubts
            seen |= {one.case for one in found}
            results += found
        return base.Content(results, warnings)

    def _other_unit(self, document: Any, case: Any) -> str:
        path, known = self.unit
        unit = (text_of(case, path) or text_of(document, path)) if path else known
        return "" if unit == known else f"{path} is {unit[:20]!r} and not {known!r}"

    def _failed(self, case: Any, where: str) -> Iterator[str]:
        for _, value in select(case, self.failures) if self.failures else ():
            codes = value if isinstance(value, list) else [value]
            if count := sum(code != 0 for code in codes):
                yield f"{where}: {self.failures} is not 0 in {count} of {len(codes)}"

    def _case(self, case: Any, where: str, shared: str) -> tuple[list[base.Result], list[str]]:
        name = next((str(text) for _, text in select(case, self.case)), shared)
        derived: set[str] = set()
        results, doubts = [], []
        for bins in self.histograms:
            if histogram := bins.read(case, where):
                derived |= derived_names(bins.metric.name)
                results.append(base.Result(bins.metric, (), name, (histogram,)))
        for field in self.fields:
            if field.metric.name in derived:
                continue
            if field.when and not any(_amounts(case, field.when, where)):
                continue
            values, more = field.read(case, where)
            doubts += more
            if values:
                results.append(base.Result(field.metric, tuple(values), name))
        return results, doubts

    def format(self) -> base.Format:
        """The format."""
        return base.Format(self.name, self.source, self.claims, self.read, ends_itself=True)


def _amounts(case: Any, path: str, where: str) -> list[float]:
    return [
        base.amount(one, f"{where}{at}")
        for at, value in select(case, path)
        for one in (value if isinstance(value, list) else [value])
    ]


def mean_doubts(values: Sequence[float], stated: Sequence[float], where: str) -> Iterator[str]:
    """Where samples have not the mean that is stated beside them: some may be lost or doubled."""
    mean = fsum(values) / len(values)
    if any(abs(mean - one) > ROUNDING * max(mean, one) for one in stated):
        yield f"{where}: the {len(values)} samples have another mean than the file states"


def select(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What lies at the path ``a/b/*``, each with its place in words."""
    if not path:
        yield "", value
        return
    key, _, rest = path.partition("/")
    if key == "*" and isinstance(value, list | dict):
        members = list(value.items() if isinstance(value, dict) else enumerate(value))
    elif isinstance(value, dict) and key in value:
        members = [(key, value[key])]
    else:
        return
    for name, inner in members:
        yield from ((f" {name}{at}", found) for at, found in select(inner, rest))


def text_of(value: Any, path: str) -> str:
    """The text or number at the path; empty where there is none."""
    found = [one for _, one in select(value, path) if isinstance(one, str | int | float)]
    return str(found[0]) if found else ""


def _fio() -> Iterator[Field]:
    for side in ("read", "write"):
        when = f"{side}/io_bytes"
        bandwidth = Metric(f"{side}_bandwidth", "B/s", "more")
        yield Field(f"{side}/bw_bytes", bandwidth, when=when)
        yield Field(f"{side}/iops", Metric(f"{side}_iops", "ops/s", "more"), when=when)
        for name, path in (
            ("mean", "mean"),
            ("p50", "percentile/50.000000"),
            ("p99", "percentile/99.000000"),
            ("p99.9", "percentile/99.900000"),
            ("max", "max"),
        ):
            metric = Metric(f"{side}_latency_{name}", "us", "less")
            yield Field(f"{side}/clat_ns/{path}", metric, 1e-3, when)


TABLES = (
    JsonTable(
        "fio",
        "fio(1), JSON+ output",
        ("fio version", "jobs"),
        "jobs/*",
        "jobname",
        tuple(_fio()),
        tuple(
            Bins(
                f"{side}/clat_ns/bins",
                f"{side}/clat_ns/max",
                f"{side}/clat_ns/N",
                Metric(f"{side}_latency", "us", "less"),
                1e-3,
            )
            for side in ("read", "write")
        ),
        failures="error",
    ),
    JsonTable(
        "hyperfine",
        "hyperfine(1), --export-json",
        ("results/*/command", "results/*/mean"),
        "results/*",
        "command",
        (
            Field("times", base.TIME, instead="mean", mean="mean"),
            Field("user", base.USER_TIME),
            Field("system", base.SYSTEM_TIME),
        ),
        failures="exit_codes",
    ),
    JsonTable(
        "pytest-benchmark",
        "pytest-benchmark's documentation, --benchmark-json",
        ("machine_info", "benchmarks/*/stats/median"),
        "benchmarks/*",
        "fullname",
        (Field("stats/data", base.TIME, instead="stats/median", mean="stats/mean"),),
    ),
    JsonTable(
        "pyperf",
        "pyperf's documentation, JSON",
        ("benchmarks/*/runs/*/values", "metadata/unit"),
        "benchmarks/*",
        "metadata/name",
        (Field("runs/*/values", base.TIME),),
        unit=("metadata/unit", "second"),
    ),
    JsonTable(
        "trex",
        "TRex's stateless API: get_stats(); what arrived, and what was lost on the way",
        ("global/rx_pps", "global/rx_drop_bps", "total"),
        "global",
        "global/name",
        (
            Field("rx_pps", Metric("pps", "packets/s", "more")),
            Field("rx_bps", Metric("throughput", "bit/s", "more")),
            Field("rx_drop_bps", Metric("dropped", "bit/s", "less")),
        ),
    ),
)
FORMATS = tuple(table.format() for table in TABLES)
