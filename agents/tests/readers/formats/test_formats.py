"""Formats of results on outputs of the tools (samples/README.md names what made them)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from labagent.limits import MOST_METRICS, NAME, UNIT
from labagent.readers.formats import FORMATS, Printed, UnreadableError, detect, read_results

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".md")


def printed(name):
    return Printed((SAMPLES / name).read_text(), name)


def read(name):
    form = detect(printed(name))
    content = read_results(printed(name), form)
    found = {}
    for one in content.results:  # of a tracker, the values of a metric at all places
        before = found.get((one.case, one.metric.name))
        values = (*(before.values if before else ()), *one.values)
        found[one.case, one.metric.name] = replace(one, values=values)
    return form.name, found, content


# Case, metric, unit, better, samples: read off the files by hand.
VALUES = {
    "iperf3-tcp.json": [
        ("", "throughput", "bit/s", "more", [5228021440.21259]),
        ("", "retransmits", "segments", "less", [10]),
    ],
    "iperf3-udp.json": [
        ("", "throughput", "bit/s", "more", [92151251.39875136]),
        ("", "jitter", "ms", "less", [0.006188527072414195]),
        ("", "lost", "%", "less", [7.732634338138925]),
    ],
    "fio.json": [
        ("randread", "read_iops", "ops/s", "more", [8192]),
        ("randread", "read_bandwidth", "B/s", "more", [33554432]),
        ("randread", "read_latency_p99", "us", "less", [2211.84]),
        ("randread", "read_latency_p99.9", "us", "less", [5013.504]),
        ("mixed", "write_iops", "ops/s", "more", [5932.58427]),
        ("mixed", "write_latency_max", "us", "less", [68298.082]),
    ],
    "fio-plus.json": [("randread", "read_latency_mean", "us", "less", [28.276118286])],
    "cyclictest-histogram.json": [("", "latency_min", "us", "less", [11])],
    "perf-sched.txt": [
        ("sched-messaging", "sched_latency_mean", "us", "less", [337]),
        ("python", "sched_latency_max", "us", "less", [104441]),
    ],
    "bpftrace.txt": [],
    "hdrhistogram.hlog": [("", "value_mean", "", "", [1306.6053333333334])],
    "hdrhistogram-tagged.hlog": [
        ("read", "value_mean", "", "", [(155.884 + 159.042) / 2]),
        ("write", "value_mean", "", "", [(3106.244 + 3154.48) / 2]),
    ],
    "run-document.txt": [
        ("pf", "pps", "packets/s", "more", [883374, 881020.5, 885501]),
        ("cyclictest", "latency_min", "us", "less", [11]),
    ],
    "cyclictest.json": [
        ("", "latency_max", "us", "less", [52859]),
        ("", "latency_min", "us", "less", [19]),
        ("", "latency_mean", "us", "less", [(119.36 * 200 + 838.52 * 107) / 307]),
    ],
    "hackbench.txt": [("", "time", "s", "less", [0.367])],
    "sysbench-cpu.txt": [
        ("cpu", "rate", "ops/s", "more", [939.73]),
        ("cpu", "latency_p95", "us", "less", [7840]),
    ],
    "sysbench-memory.txt": [
        ("memory", "rate", "ops/s", "more", [1592968.79]),
        ("memory", "bandwidth", "B/s", "more", [1555.63 * 1048576]),
    ],
    "sysbench-fileio.txt": [
        ("fileio", "read_iops", "ops/s", "more", [1928.98]),
        ("fileio", "write_bandwidth", "B/s", "more", [20.09 * 1048576]),
    ],
    "sysbench-mutex.txt": [("", "latency_mean", "us", "less", [908330])],
    "stress-ng.yaml": [
        ("cpu", "bogo_rate", "bogo-ops/s", "more", [68.731305]),
        ("switch", "bogo_rate", "bogo-ops/s", "more", [199982.720275]),
    ],
    "perf-bench-pipe.txt": [
        ("sched/pipe", "time", "s", "less", [0.030]),
        ("sched/pipe", "time_per_op", "ns", "less", [30819]),
        ("sched/pipe", "rate", "ops/s", "more", [32447]),
    ],
    "perf-bench-messaging.txt": [("sched/messaging", "time", "s", "less", [0.225])],
    "perf-bench-memcpy.txt": [
        ("mem/memcpy.default", "bandwidth", "B/s", "more", [31.502016 * 1024**3]),
        ("mem/memcpy.x86-64-movsb", "bandwidth", "B/s", "more", [39.0625 * 1024**3]),
    ],
    "perf-bench-syscall.txt": [("syscall/basic", "time_per_op", "ns", "less", [1521.48])],
    "perf-bench-futex.txt": [("futex/hash", "rate", "ops/s", "more", [446464])],
    "perf-stat.json": [
        ("", "task_clock", "s", "less", [0.000887157]),
        ("", "page-faults", "events", "", [76]),
    ],
    "perf-stat.csv": [
        ("", "task_clock", "s", "less", [0.00079]),
        ("", "context-switches", "events", "", [1]),
    ],
    "hyperfine.json": [
        ("sleep 0.01", "time", "s", "less", [0.01036819592, 0.01051424192, 0.01029309392]),
        ("sleep 0.02", "user_time", "s", "less", [0.0013055866666666664]),
    ],
    "wrk.txt": [
        ("", "rate", "ops/s", "more", [651.49]),
        ("", "bandwidth", "B/s", "more", [210.13 * 1024]),
        ("", "latency_mean", "us", "less", [21130]),
        ("", "latency_p99", "us", "less", [188400]),
    ],
    "pgbench.txt": [
        ("", "rate", "ops/s", "more", [231.177652]),
        ("", "latency_mean", "us", "less", [8651]),
    ],
    "google-benchmark.json": [
        ("BM_Copy/64", "time_per_op", "ns", "less", [7.540316879374155, 7.65758296778097]),
        ("BM_Copy/64", "chunks", "1", "", [3, 3]),
        ("BM_Sum", "time_per_op", "ns", "less", [0.943978614425558, 0.8248610249721352]),
    ],
    "pytest-benchmark.json": [
        (
            "test_x.py::test_sum",
            "time",
            "s",
            "less",
            [
                1.372099359286949e-05,
                1.3028999092057347e-05,
                1.29489999380894e-05,
                1.2878997949883342e-05,
                1.2828997569158673e-05,
            ],
        ),
    ],
    "go.txt": [
        ("Join", "time_per_op", "ns", "less", [94.37, 66.84]),
        ("Join", "bandwidth", "B/s", "more", [169550000, 239380000]),
        ("Join", "allocated", "B/op", "less", [8, 8]),
        ("Rate", "rows_s", "rows/s", "", [1248439451, 978473581]),
    ],
    "criterion.txt": [
        ("sum/small", "time_per_op", "ns", "less", [3.0305]),
        ("fact 9", "time_per_op", "ns", "less", [9.5028]),
    ],
    "netperf.txt": [
        ("", "throughput", "bit/s", "more", [54623450000]),
        ("", "latency_p99", "us", "less", [7]),
    ],
    "schbench.txt": [
        ("", "wakeup_latency_p50", "us", "less", [8]),
        ("", "wakeup_latency_p99.9", "us", "less", [909]),
        ("", "request_latency_p99", "us", "less", [17248]),
        ("", "rate", "ops/s", "more", [302.46]),
    ],
    "unixbench.txt": [
        ("1 parallel.Dhrystone 2 using register variables", "rate", "ops/s", "more", [40000000.5]),
        ("1 parallel.Shell Scripts (1 concurrent)", "rate", "ops/s", "more", [100]),
        ("1 parallel.Double-Precision Whetstone", "whetstone", "MWIPS", "more", [4500.1]),
        ("2 parallel", "score", "points", "more", [1701.2]),
    ],
    "lmbench.txt": [
        ("Pipe latency", "time_per_op", "ns", "less", [7913.9]),
        ("AF_UNIX sock stream bandwidth", "bandwidth", "B/s", "more", [5120500000]),
    ],
    "will-it-scale.csv": [
        ("1 tasks", "process_rate", "ops/s", "more", [590000]),
        ("2 tasks", "thread_rate", "ops/s", "more", [880000]),
    ],
    "ktap.txt": [
        ("", "tests_passed", "tests", "more", [2]),
        ("", "tests_failed", "tests", "less", [1]),
    ],
    "phoronix.xml": [
        (
            "pts/compress-zstd.Compression Level: 3",
            "pts.MB_per_s",
            "MB/s",
            "more",
            [1500.1, 1506.3],
        ),
        ("pts/build-linux-kernel", "pts.Seconds", "Seconds", "less", [84.27]),
    ],
    "jmh.json": [
        (
            "org.sample.Sums.rate.size-1000",
            "rate",
            "ops/s",
            "more",
            [1843075.7044982042, 325573.779816879, 380746.8286686956, 784061.502330411],
        ),
        (
            "org.sample.Sums.average.size-1000",
            "time_per_op",
            "ns",
            "less",
            [23175.53144224197, 5474.262694145758, 4970.582144070676, 3714.9623486747373],
        ),
        ("org.sample.Sums.sampled.size-1000", "time_per_op", "ns", "less", [51457.161209068]),
    ],
    "bencher.json": [
        ("copy", "time_per_op", "ns", "less", [88]),
        ("copy", "rate", "ops/s", "more", [5.55]),
        ("binary", "file-size", "", "", [42]),
    ],
    "bencher-perf.json": [
        ("copy", "time_per_op", "ns", "less", [88.5, 91.25]),
        ("binary", "file-size", "bytes (B)", "", [4096]),
    ],
    "trex.json": [
        ("", "pps", "packets/s", "more", [44841136]),
        ("", "throughput", "bit/s", "more", [22958659584]),
        ("", "dropped", "bit/s", "less", [13926400]),
    ],
    "rtla-timerlat.txt": [("", "thread_latency_mean", "us", "less", [2])],
    "rtla-osnoise.txt": [("", "noise_latency_mean", "us", "less", [(4428 + 2 * 4716) / 9144])],
    "pgbench-log.txt": [("", "latency_mean", "us", "less", [363685 / 30])],
    "hdrhistogram.hgrm": [("", "value_mean", "", "", [176.688])],
    "kcidb.json": [
        ("hackbench.pipe", "kcidb.s", "s", "", [0.75]),
        ("iperf3.tcp", "kcidb.bit_2fs", "bit/s", "", [1000000.5]),
    ],
    "squad.json": [
        ("boot", "duration", "s", "", [12.5]),
        ("dd", "write_rate", "", "", [101.5, 102, 99.75]),
        ("", "points", "", "", [7]),
    ],
    "lnt.json": [
        ("copy/64", "execution_time", "s", "less", [1.5, 1.625]),
        ("copy/64", "compile_time", "s", "less", [0.25]),
        ("sort", "score", "points", "more", [120.5]),
    ],
    "lnt-v1.json": [
        ("nts.copy", "execution_time", "s", "less", [1.5, 1.625]),
        ("nts.copy", "compile_time", "s", "less", [0.25]),
    ],
    "codespeed-posted.json": [("O2.forward", "codespeed.value", "", "", [4000.5, 4010])],
    "codespeed-dump.json": [
        ("O2.build", "time", "s", "less", [84.25, 85.5]),
        ("O2.forward", "Rate.kpps", "kpps", "more", [4000.5]),
    ],
    "conbench.json": [
        ("file-read.format-parquet", "time", "s", "less", [0.5, 0.51, 0.49]),
        ("file-read.format-parquet", "bandwidth", "B/s", "more", [2097152]),
    ],
    "asv.json": [
        ("b.Suite.time_sum.10", "time", "s", "less", [2.5140034267678857e-06]),
        ("b.Suite.time_sum.100", "time", "s", "less", [2.8240028768777847e-06]),
        ("b.peakmem_list", "process_memory", "B", "less", [36970496]),
        ("b.track_size", "tracked", "", "", [42]),
    ],
    "lkp.json": [
        ("", "will-it-scale.per_process_ops", "1", "more", [590000]),
        ("", "kernbench.elapsed_time", "s", "less", [80.1, 80.4]),
    ],
    "json-lines.txt": [("", "pps", "packets/s", "more", [1004.5, 1003])],
    "values.txt": [("", "value", "1", "", [1001, 1002.5, 1003])],
}


def test_each_format_has_a_sample_and_each_sample_its_values():
    assert {detect(printed(path.name)).name for path in FILES} == set(FORMATS)
    assert {path.name for path in FILES} - set(VALUES) == {"pyperf.json"}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_the_values_are_those_of_the_file(name):
    _, found, _ = read(name)
    for case, metric, unit, better, samples in VALUES[name]:
        one = found[case, metric]
        assert (one.metric.unit, one.metric.better) == (unit, better), metric
        assert one.values == pytest.approx(samples, rel=1e-12), metric


def test_bins_of_fio_are_a_histogram_in_place_of_its_percentiles():
    _, found, _ = read("fio-plus.json")
    latency = json.loads((SAMPLES / "fio-plus.json").read_text())["jobs"][0]["read"]["clat_ns"]
    assert {name for _, name in found} == {
        *("read_bandwidth", "read_iops", "read_latency", "read_latency_mean")
    }
    (histogram,) = found["randread", "read_latency"].histograms
    assert sum(histogram.counts) == latency["N"] == 16_384
    derived = histogram.derived()
    assert derived["max"] == pytest.approx(latency["max"] / 1000)
    for name, key in (("p50", "50.000000"), ("p99", "99.000000"), ("p99.9", "99.900000")):
        assert derived[name] == pytest.approx(latency["percentile"][key] / 1000, rel=0.008), name


def test_histograms_of_cyclictest_are_one_over_all_threads():
    _, found, _ = read("cyclictest-histogram.json")
    threads = json.loads((SAMPLES / "cyclictest-histogram.json").read_text())["thread"].values()
    (histogram,) = found["", "latency"].histograms
    assert sum(histogram.counts) == sum(one["cycles"] for one in threads)
    assert histogram.derived()["max"] == max(one["max"] for one in threads)
    assert {name for _, name in found} == {"latency", "latency_min", "latency_mean"}


@pytest.mark.parametrize(
    ("name", "metric", "count", "quantiles"),
    [
        ("rtla-timerlat.txt", "irq_latency", 20_000, {"p50": 1, "p99.9": 3, "max": 7}),
        ("rtla-timerlat.txt", "thread_latency", 20_000, {"p50": 2, "p99": 3, "max": 301}),
        ("rtla-osnoise.txt", "noise_latency", 9144, {"p99": 10, "max": 20}),
        ("pgbench-log.txt", "latency", 30, {"p50": 10980, "max": 25965}),
        ("hdrhistogram.hgrm", "value", 20_000, {"p50": 152, "p99": 599, "max": 1740}),
        ("jmh.json", "latency", 1985, {"p50": 0.361, "max": 67371.008}),
    ],
)
def test_tables_and_logs_of_latencies_are_histograms(name, metric, count, quantiles):
    (found,) = [one for (_, of), one in read(name)[1].items() if of == metric]
    (histogram,) = found.histograms
    assert sum(histogram.counts) == count
    derived = histogram.derived()
    assert {key: derived[key] for key in quantiles} == pytest.approx(quantiles, rel=0.008)


def test_a_row_of_hdrhistogram_that_is_lost_is_noticed_where_it_changes_the_histogram():
    lines = (SAMPLES / "hdrhistogram.hgrm").read_text().splitlines(keepends=True)
    whole = read("hdrhistogram.hgrm")[1]["", "value"].histograms
    for at in range(2, len(lines) - 3):
        content = read_results(
            Printed("".join(lines[:at] + lines[at + 1 :])), FORMATS["hdrhistogram"]
        )
        assert content.warnings or content.results[0].histograms == whole, lines[at]


def test_what_lies_above_the_histogram_of_rtla_leaves_the_maximum():
    text = (SAMPLES / "rtla-timerlat.txt").read_text()
    text = text.replace("over:         0         0", "over:         0        40")
    text = text.replace("count:    10000     10000", "count:    10000     10040")
    content = read_results(Printed(text), FORMATS["rtla"])
    found = {one.metric.name: one for one in content.results}
    assert found["thread_latency_max"].values == (301,)
    assert "thread_latency" not in found
    assert any("left out" in one for one in content.warnings)


def cyclictest(above):
    """Of 4,000 cycles, of which so many are above what the histogram holds."""
    thread = {"min": 5, "max": 900, "avg": 6.0, "cycles": 4000, "histogram": {"5": 4000 - above}}
    return json.dumps({"resolution_in_ns": 0, "num_threads": 1, "thread": {"0": thread}})


@pytest.mark.parametrize(("above", "has_histogram"), [(0, True), (4, True), (5, False)])
def test_cycles_above_the_histogram_count_as_the_longest_up_to_a_thousandth(above, has_histogram):
    content = read_results(Printed(cyclictest(above)), FORMATS["cyclictest"])
    results = {one.metric.name: one for one in content.results}
    assert ("latency" in results) is has_histogram is not ("latency_max" in results)
    assert len(content.warnings) == (above > 0)
    if has_histogram and above:
        derived = results["latency"].histograms[0].derived()
        assert (derived["max"], derived["p99"]) == (900, pytest.approx(5, rel=0.008))


def test_pyperf_keeps_the_values_of_all_processes():
    _, found, _ = read("pyperf.json")
    document = json.loads((SAMPLES / "pyperf.json").read_text())
    runs = document["benchmarks"][0]["runs"]
    assert list(found["timeit", "time"].values) == [
        v for run in runs for v in run.get("values", ())
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_one_format_claims_a_file_and_reads_what_a_server_takes(path):
    claimed = [form.name for form in FORMATS.values() if form.claims(printed(path.name))]
    assert len(claimed) == 1
    name, found, content = read(path.name)
    assert content.warnings == ([] if name not in ("lkp", "bpftrace") else content.warnings)
    assert len(found) <= MOST_METRICS
    for one in content.results:
        assert not NAME.fault(one.metric.name)
        assert not one.metric.unit or not UNIT.fault(one.metric.unit)


def test_a_metric_has_one_unit_and_one_direction_in_all_formats():
    known = {}
    for path in FILES:
        for one in read(path.name)[1].values():
            if one.metric.unit:
                assert known.setdefault(one.metric.name, one.metric) == one.metric


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize("text", ["", "{}", "[]", "hello\n", "{", "null", "[1, 2", "1e999\n"])
def test_what_is_not_in_the_format_is_refused(form, text):
    with pytest.raises(UnreadableError):
        read_results(Printed(text), form)
    assert text == "1e999\n" or form.claims(Printed(text)) is False


@pytest.mark.parametrize(
    ("name", "old", "new", "warning"),
    [
        ("stress-ng.yaml", "    - stressor: switch\n", "", "cpu bogo_rate is there twice"),
        ("fio-plus.json", '"588" : 1', '"588" : 2', "and read/clat_ns/N is 16384"),
        ("fio-plus.json", '"588" : 1', '"588" : -1', "less than nothing"),
        ("fio-plus.json", '"588" : 1', '"588" : 1.5', "no whole number"),
        ("hackbench.txt", "Time: 0.367\n", "Time: 0.367\nTime: 0.367\n", "time is there twice"),
        ("iperf3-tcp.json", "5228021440.21259", "6228021440.21259", "not that of its bytes"),
        ("perf-bench-memcpy.txt", "# function 'x86-64-movsq'", "#", "is there twice"),
        ("go.txt", "169.55 MB/s", "169.55", "no whole line"),
        ("fio.json", '"jobname": "mixed"', '"jobname": "randread"', "randread is there twice"),
        ("fio.json", '"iops": 8192.0', '"iops": 1,\n"iops": 8192.0', "'iops' is there twice"),
        ("ktap.txt", "    ok 1 alloc\n", "", "not as many results as were planned"),
        ("ktap.txt", "ok 2 clock", "ok 4 clock", "not numbered in order"),
        ("will-it-scale.csv", "2,1150000", "1,1150000", "1 tasks are there twice"),
        ("phoronix.xml", "<Value>84.27</Value>", "", "phoronix.xml"),
        ("rtla-timerlat.txt", "3            18", "3            17", "do not add up"),
        ("rtla-osnoise.txt", "10          122", "30          122", "not in order"),
        ("pgbench-log.txt", "1 2 21813", "1 7 21813", "not numbered in order"),
        ("hdrhistogram.hgrm", "1740.000, Tot", "1840.000, Tot", "not the maximum"),
        (
            "schbench.txt",
            "          99.9th: 19872      (10 samples)\n",
            "",
            "request latency is cut",
        ),
        ("lnt.json", '"name": "sort"', '"name": "sort", "hops": 3', "hops is no metric"),
        ("asv.json", "36970496", "null", "b.peakmem_list failed"),
        ("conbench.json", "0.51", "0,51", "4 values of 3 iterations"),
        ("codespeed-posted.json", "2222222222", "1111111111", "is there twice"),
        ("wrk.txt", "210.13KB\n", "210.13KB", "ends within a line"),
    ],
)
def test_damage_that_shows_is_a_warning_or_a_refusal(name, old, new, warning):
    text = (SAMPLES / name).read_text()
    assert old in text
    damaged = Printed(text.replace(old, new), name)
    assert any(warning in one for one in objections(damaged, detect(printed(name))))


def objections(damaged, form):
    """The warnings, or the refusal."""
    try:
        return read_results(damaged, form).warnings
    except UnreadableError as error:
        return [str(error)]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("netperf.txt", "10^6bits/s", "furlongs"),
        ("jmh.json", '"ops/ms"', '"us/op"'),
        ("jmh.json", '"us/op"', '"hours/op"'),
        ("jmh.json", "[0.741, 1]", "[0.741]"),
        ("google-benchmark.json", '"time_unit": "ns"', '"time_unit": "fortnight"'),
        ("wrk.txt", "21.13ms", "21.13parsec"),
        ("perf-stat.json", '"msec"', '"min"'),
        ("cyclictest.json", '"num_threads": 2', '"num_threads": 3'),
        ("will-it-scale.csv", "590000,49.90", "590000"),
        ("phoronix.xml", "<PhoronixTestSuite>", "<!DOCTYPE x []><PhoronixTestSuite>"),
        ("fio.json", '"iops": 8192.0', '"iops": -8192.0'),
        ("values.txt", "1002.5", "1002,5"),
        ("rtla-timerlat.txt", "(us)", "(ns)"),
        ("hdrhistogram.hgrm", "#[Max", "#[Most"),
        ("trex.json", '44841136.0,\n  "tx_bps', '-4.0,\n  "tx_bps'),
        ("conbench.json", "0.51", "-0.51"),
        ("codespeed-dump.json", '"value": 84.25', '"value": "fast"'),
        (
            "codespeed-dump.json",
            '"codespeed.executable", "pk": 1',
            '"codespeed.executable", "pk": 9',
        ),
        ("asv.json", '"result",', '"outcome",'),
        ("bencher-perf.json", '"value": 88.5, ', ""),
    ],
)
def test_a_unit_or_number_that_is_not_known_is_refused(name, old, new):
    text = (SAMPLES / name).read_text()
    assert old in text
    with pytest.raises(UnreadableError):
        read_results(Printed(text.replace(old, new), name), detect(printed(name)))


def test_a_decimal_comma_does_not_shift_the_columns_of_perf():
    text = "0,79,msec,task-clock,786166,100,00,0,007,CPUs utilized\n"
    with pytest.raises(UnreadableError):
        read_results(Printed(text), FORMATS["perf-stat"])


def test_a_user_may_state_the_direction_of_a_go_unit():
    text = "Unit rows/s better=higher\nBenchmarkX-8 \t 10 \t 5.5 rows/s\n"
    (one,) = read_results(Printed(text), FORMATS["go"]).results
    assert (one.metric.better, one.values) == ("more", (5.5,))


def test_remarks_before_the_json_are_passed_over():
    text = "fio: this platform does not support process shared mutexes\n"
    content = read_results(Printed(text + (SAMPLES / "fio.json").read_text()), FORMATS["fio"])
    assert content.results[0].values == (33554432.0,)


def places(name):
    return {one.provenance for one in read(name)[2].results}


def test_a_tracker_names_where_its_records_are_from():
    (lnt,) = places("lnt.json")
    assert (lnt.revision, lnt.hardware, lnt.position) == ("303643", "rig-1", 303643)
    assert {one.position for one in places("bencher-perf.json")} == {1, 2}
    assert {one.branch for one in places("codespeed-dump.json")} == {"net/default"}
    assert {one.committed_at[:10] for one in places("codespeed-dump.json")} == {
        "2026-03-01",
        "2026-03-02",
    }
    (asv,) = places("asv.json")
    assert (asv.hardware, asv.committed_at[:10]) == ("rig", "2026-11-26")
    assert {one.branch for one in places("kcidb.json")} == {"mainline"}
    assert {one.revision for one in places("conbench.json")} == {"1" * 40, "2" * 40}


def test_a_test_that_was_not_executed_has_no_number():
    text = (SAMPLES / "kcidb.json").read_text().replace('"DONE"', '"SKIP"', 1)
    assert [one.case for one in read_results(Printed(text), FORMATS["kcidb"]).results] == [
        "iperf3.tcp"
    ]


def test_the_table_of_samples_is_as_they_are_read():
    """Written anew by `python -m agents.tests.readers.formats.table`."""
    from agents.tests.readers.formats import table  # noqa: PLC0415 (it imports this module)

    assert table.text() == table.README.read_text()


@pytest.mark.parametrize(
    ("name", "samples"),
    [("hyperfine.json", "times"), ("pytest-benchmark.json", "data"), ("jmh.json", "rawData")],
)
@pytest.mark.parametrize("change", ["lost", "doubled", "all lost"])
def test_samples_without_the_mean_that_the_file_states_are_doubted(name, samples, change):
    """A sample is lost from the first list of them, one is there twice, or there are none."""
    document = json.loads((SAMPLES / name).read_text())
    holder = document[0]["primaryMetric"] if name == "jmh.json" else None
    holder = holder or (document["results"][0] if samples == "times" else None)
    holder = holder or document["benchmarks"][0]["stats"]
    found = holder[samples][0] if name == "jmh.json" else holder[samples]
    if change == "lost":
        del found[0]
    elif change == "doubled":
        found.append(found[0])
    else:
        del holder[samples]
    form = detect(printed(name))
    warnings = read_results(Printed(json.dumps(document), name), form).warnings
    expected = ", so " if change == "all lost" else "have another mean than the file states"
    assert expected in " ".join(warnings)


@pytest.mark.parametrize(
    ("name", "old", "new", "doubt"),
    [
        ("ktap.txt", "not ok 2 free", "ok 2 free", "differs from its subtests"),
        ("ktap.txt", "ok 2 clock # SKIP no clock\nok 3 net\n", "", "as were planned"),
        ("rtla-timerlat.txt", "avg:          0         2", "avg:          2         0", "mean"),
        ("perf-bench-memcpy.txt", "      31.502016 GB/sec\n", "", "the case before has no result"),
        ("stress-ng.yaml", "stressor: switch", "stressor:", "of no case"),
        ("phoronix.xml", "<Value>84.27</Value>", "<Value></Value>", "has no value; left out"),
        ("fio.json", '"error": 0', '"error": 5', "jobs 0: error is not 0 in 1 of 1"),
        (
            "hyperfine.json",
            '"exit_codes": [\n    0',
            '"exit_codes": [\n    1',
            "exit_codes is not 0 in 1 of 3",
        ),
        (
            "wrk.txt",
            "Requests/sec",
            "  Non-2xx or 3xx responses: 3\nRequests/sec",
            "line 12: not all",
        ),
        (
            "wrk.txt",
            "Requests/sec",
            "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec",
            "read 3",
        ),
        ("pgbench.txt", "failed transactions: 0", "failed transactions: 7", "transactions: 7"),
        (
            "sysbench-cpu.txt",
            "CPU speed:",
            "    ignored errors:    2  (0.1 per sec.)\nCPU speed:",
            "errors:    2",
        ),
    ],
)
def test_what_contradicts_itself_is_doubted(name, old, new, doubt):
    text = printed(name).text
    assert old in text
    content = read_results(Printed(text.replace(old, new), name), detect(printed(name)))
    assert doubt in " ".join(content.warnings)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cyclictest.json", '"resolution_in_ns": 0', '"resolution_in_ns": []'),
        ("cyclictest.json", '"num_threads": 2', '"num_threads": {}'),
        ("google-benchmark.json", '"time_unit": "ns"', '"time_unit": {}'),
        ("iperf3-udp.json", '"sum_received"', '"lost"'),
        ("iperf3-udp.json", '"sum_received": {', '"sum_received": {}, "lost": {'),
        ("phoronix.xml", "1500.1:1506.3", "1500.1:"),
        ("wrk.txt", "21.13ms   40.59ms", "40.59ms"),
        ("fio-plus.json", '"N"', '"lost"'),
    ],
)
def test_a_value_that_would_be_another_is_refused(name, old, new):
    text = printed(name).text
    assert old in text
    whole = {(one.case, one.metric, one.values) for one in read(name)[2].results}
    try:
        content = read_results(Printed(text.replace(old, new), name), detect(printed(name)))
    except UnreadableError:
        return
    assert {(one.case, one.metric, one.values) for one in content.results} < whole


def results_of(text, name):
    return [
        (one.case, one.metric.name, one.values)
        for one in read_results(Printed(text, name), FORMATS[name]).results
    ]


def test_benchmarks_of_go_that_differ_at_the_end_of_their_names_are_no_repetitions():
    lines = "BenchmarkCopy/size-16{0} 9 10 ns/op\nBenchmarkCopy/size-32{0} 9 20 ns/op\n"
    each = [("Copy/size-16", "time_per_op", (10.0,)), ("Copy/size-32", "time_per_op", (20.0,))]
    assert results_of(lines.format(""), "go") == each
    assert results_of(lines.format("-8"), "go") == each
    by_processors = "BenchmarkSum 9 30 ns/op\nBenchmarkSum-4 9 8 ns/op\n"
    assert [case for case, *_ in results_of(by_processors, "go")] == ["Sum", "Sum-4"]


def test_a_benchmark_that_google_benchmark_skipped_took_no_time():
    document = json.loads(printed("google-benchmark.json").text)
    before = results_of(json.dumps(document), "google-benchmark")
    skipped = {"name": "BM", "skipped": True, "skip_message": "no AVX", "real_time": 0.0}
    document["benchmarks"].append({**document["benchmarks"][0], **skipped, "run_name": "BM"})
    content = read_results(Printed(json.dumps(document)), FORMATS["google-benchmark"])
    assert results_of(json.dumps(document), "google-benchmark") == before
    assert "BM: skipped: no AVX" in " ".join(content.warnings)


def test_bytes_of_pyperf_are_no_seconds():
    document = json.loads(printed("pyperf.json").text)
    document["metadata"]["unit"] = "byte"
    with pytest.raises(UnreadableError, match="unit is 'byte' and not 'second'"):
        read_results(Printed(json.dumps(document)), FORMATS["pyperf"])


def test_the_rate_of_pgbench_that_connects_each_time_is_read():
    text = printed("pgbench.txt").text.replace(
        "without initial connection", "including reconnection"
    )
    assert ("", "rate", (231.177652,)) in results_of(text, "pgbench")


def test_the_version_of_cyclictest_is_a_fact():
    assert read("cyclictest.json")[2].facts == {"cyclictest": "2.40"}


def derived(name):
    """The quantiles of each case and metric of a file that are histograms."""
    found = read(name)[1]
    return {key: one.histograms[0].derived() for key, one in found.items() if one.histograms}


def test_an_interval_log_has_the_quantiles_that_the_library_states():
    """`get_value_at_percentile` and `get_max_value` of the histograms added; three digits."""
    stated = {"p50": 1098, "p90": 2355, "p99": 4343, "p99.9": 7219, "max": 11215}
    assert derived("hdrhistogram.hlog") == {("", "value"): pytest.approx(stated, rel=0.005)}
    by_library = {"p50": 153, "p90": 221, "p99": 297, "max": 395}
    whole = derived("hdrhistogram-tagged.hlog")
    assert whole.keys() == {("read", "value"), ("write", "value")}
    assert whole["read", "value"] == pytest.approx(by_library, rel=0.01)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("HISTFAAABU94nD2", "HISTFAAABU94nD3", "the histogram is damaged"),
        ("HISTFAAABU94", "HISTEwAABU94", "not in HdrHistogram's encoding V2"),
        ("1785500001.000000,", "1785500002.500000,", "there is a gap"),
        ("1785500001.000000,", "1785500000.000000,", "two intervals overlap"),
        ("1785500001.000000,", "noise", "is no interval of HdrHistogram"),
    ],
)
def test_a_damaged_interval_log_is_refused_or_doubted(old, new, reason):
    text = printed("hdrhistogram.hlog").text
    assert old in text
    try:
        doubts = read_results(Printed(text.replace(old, new)), FORMATS["hdrhistogram-log"]).warnings
    except UnreadableError as error:
        doubts = [str(error)]
    assert reason in " ".join(doubts)


def test_values_of_wide_buckets_are_spread_and_called_coarse():
    """By hand: 3,913 values, 1,830 of them below 32 and 166 from 32 to 64, so that the median is
    32 + 32 (1956.5 - 1830) / 166 = 56."""
    found = derived("bpftrace.txt")
    assert found.keys() == {("", "usecs"), ("urgent", "delay"), ("normal", "delay")}
    assert found["", "usecs"]["p50"] == pytest.approx(56, rel=0.01)
    assert 65536 < found["", "usecs"]["max"] < 131072
    assert "quantiles are no finer" in " ".join(read("bpftrace.txt")[2].warnings)


@pytest.mark.parametrize(
    ("old", "new", "doubt"),
    [
        ("[4, 8)               472 |", "[4, 8)               372 |", "the length of its count"),
        ("[4, 8)               472 |@@@@@@@@", "junk |", "is no bucket of bpftrace"),
        ("[4, 8) ", "[5, 8) ", "do not follow each other"),
        ("[80000, 82000)         1 |", "(..., 0)               1 |", "lie below the buckets"),
        ("[64K, 128K)            2 |", "[64K, ...)            9 |", "it is left out"),
    ],
)
def test_buckets_that_cannot_be_trusted_are_doubted(old, new, doubt):
    text = printed("bpftrace.txt").text
    assert old in text
    try:
        found = read_results(Printed(text.replace(old, new)), FORMATS["bpftrace"]).warnings
    except UnreadableError as error:
        found = [str(error)]
    assert doubt in " ".join(found)


def test_rows_of_perf_sched_add_up():
    text = printed("perf-sched.txt").text
    rows = [line for line in text.splitlines(keepends=True) if "sched-messaging" not in line]
    content = read_results(Printed("".join(rows)), FORMATS["perf-sched"])
    assert "do not add up to the total" in content.warnings[0]
