"""Every parser, on anything: an answer or the parser's own refusal, no other exception.

50 examples each; `make fuzz` has 10,000.
"""

from __future__ import annotations

import json
import math
import random
from contextlib import suppress
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labagent.errors import AgentError, SettingsError
from labagent.files import UnreadFileError, read_toml
from labagent.job import Job
from labagent.limits import LARGEST_SAMPLE
from labagent.model import Metric, Mode
from labagent.readers.benchlab.drafts import names_of_prefix, parse_info, parse_time, read_names
from labagent.readers.benchlab.groups import parse_values
from labagent.readers.benchlab.kernel import parse_uname
from labagent.readers.benchlab.label import parse_image, parse_label
from labagent.readers.benchlab.layout import nested_options
from labagent.readers.formats import FORMATS as FORMATS_OF_RESULTS
from labagent.readers.formats import Printed, detect, read_results
from labagent.readers.logs import FORMATS
from labagent.readers.logs.seconds import parse_second
from labagent.work.commands import READERS, Output, UnreadableError

from agents.tests.board import job
from agents.tests.make import (
    HEAD_12,
    RELEASE_11_1,
    equilibrium_log,
    info_text,
    old_info_text,
    read,
    receiver_log,
)
from agents.tests.mutations import KINDS, made_subjects
from agents.tests.result_damages import RESULT_KINDS

pytestmark = pytest.mark.fuzz

LOGS = [
    receiver_log(1000.5, new=True).encode(),
    receiver_log(883374, seconds=20).encode(),
    equilibrium_log(64, 65).encode(),
]
INFOS = [info_text(cfg="pf"), old_info_text("pf"), info_text(uname=RELEASE_11_1, image="317849")]
RESULTS = [
    "1\n2.5\n3e6\n",
    '{"value": 1}\n{"metric": "latency", "value": 2, "unit": "us", "better": "less"}\n',
    '{"end": {"sum_received": {"bits_per_second": 8.5}}}',
    '{"end": {"sum": {"bits_per_second": 100.0, "lost_percent": 25.0}}}',
]
NUMBERS = st.sampled_from(
    ["1e999", "-1e999", "nan", "inf", "1e300", "-5", "1_0", "9" * 400, "0x10", "", "١٢", "1,5"]
)


@st.composite
def damaged(draw, samples: list[bytes]) -> bytes:
    """A true file, damaged up to three times, or with a number in it replaced; or anything."""
    data = draw(st.sampled_from(samples) | st.binary(max_size=500))
    rng = random.Random(draw(st.integers(0, 2**32)))
    for kind in draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=3)):
        data = KINDS[kind](rng, data, samples[0])
    if draw(st.booleans()):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(NUMBERS).encode() + data[at:]
    return data


def texts(*samples: str):
    return damaged([sample.encode() for sample in samples]).map(
        lambda data: data.decode("utf-8", "replace")
    )


@given(damaged(LOGS))
def test_any_log_gives_possible_values_or_a_reason_why_not(data):
    for form in FORMATS:
        form.claims(data)
        reading = form.read(data)
        assert bool(reading.values) != bool(reading.problem)
        assert all(0 < value <= LARGEST_SAMPLE for value in reading.values.values()) or (
            form.name == "equilibrium"
        )
        assert all(math.isfinite(value) for value in reading.values.values())
        assert all(len(doubt) < 300 for doubt in reading.doubts)


@given(damaged([line for log in LOGS for line in log.splitlines()]))
def test_any_line_is_a_second_or_none(line):
    second = parse_second(line)
    assert second is None or second.pps >= 0


@given(texts(*INFOS))
def test_any_info_is_read(text):
    info = parse_info(text)
    kernel = parse_uname(info.uname)
    assert kernel.build is None or len(kernel.build) <= 200
    assert len(kernel.ident) <= 1024
    parse_time(info.started)
    read_names("pf", info)
    assert len(info.doubts) < 1024


@given(texts(HEAD_12, RELEASE_11_1))
def test_any_kernel_is_read(text):
    kernel = parse_uname(text)
    assert kernel.tree is None or kernel.tree.isascii()
    assert kernel.revision is None or kernel.revision.isascii()
    assert kernel.commit is None or kernel.commit.isascii()


@given(texts("Thu Sep 10 08:11:48 CEST 2015", "May  8, 2016 at 06:43:48 PM CEST"))
def test_any_time_is_known_or_none(text):
    time = parse_time(text)
    assert time is None or (time.tzinfo is not None and 1990 <= time.year <= 2099)


@given(texts("fbsd12-head.r317849.VIMAGE", "fbsd13-r357572-2-10", "MAIN_n268154", "11.1BETA1"))
def test_any_name_is_read(text):
    image, label = parse_image(text), parse_label(text)
    for revision in (image.revision, label.revision):
        assert revision is None or revision.isascii()
    names_of_prefix(text)
    assert nested_options(text)
    with suppress(SettingsError):
        Mode.parse(text)
    mode = Mode.of(text or "x", text, [text or "x"])
    assert Mode.parse(str(mode)) == mode


@given(damaged([b"1001\n1002.5\n\n1003\n", b"1.0e+06\n"]))
def test_any_value_file_holds_possible_values_or_is_refused(data):
    with suppress(UnreadFileError):
        values = parse_values(Path("pf.pps"), data)
        assert values is None or all(0 <= value <= LARGEST_SAMPLE for value in values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["values", "json-lines", "iperf3"]),
    data=damaged([r.encode() for r in RESULTS]),
)
def test_any_output_gives_possible_values_or_is_refused(tmp_path, kind, data):
    path = tmp_path / "run.1.out"
    path.write_bytes(data)
    with suppress(UnreadableError):
        output = Output(tmp_path, [path])
        found = READERS[kind].read(output, Job.parse(job()), Metric("a", "b", "more"))
        for metric, values in found.values.items():
            assert all(abs(value) <= LARGEST_SAMPLE for value in values)
            json.dumps([metric.name, metric.unit, *values], allow_nan=False).encode()


SAMPLES = sorted(
    path
    for path in (Path(__file__).parent / "readers/formats/samples").iterdir()
    if path.suffix != ".md"
)
UNNOTICED = {"digit changed", "digit lost", "digit doubled", "byte flipped", "another's content"}
"""What may turn one true output into another."""

NAMED = [path for path in SAMPLES if path.name != "values.txt"]
"""Without bare numbers: any other number is one too."""


@given(
    path=st.sampled_from(SAMPLES),
    kinds=st.lists(st.sampled_from(sorted(RESULT_KINDS)), max_size=3),
    seed=st.integers(0, 2**32),
)
def test_any_result_file_gives_possible_values_or_is_refused(path, kinds, seed):
    whole = path.read_bytes()
    printed = Printed(broken(whole, kinds, seed).decode("utf-8", "replace"))
    for form in FORMATS_OF_RESULTS.values():
        form.claims(printed)
        with suppress(UnreadableError):
            content = read_results(printed, form)
            for one in content.results:
                values = [*one.values, *(v for each in one.histograms for v in each.values)]
                assert all(abs(value) < LARGEST_SAMPLE * 1e12 for value in values)
                assert all(min(each.counts) > 0 for each in one.histograms)
                names = [one.case, one.metric.name, one.metric.unit, *content.warnings]
                json.dumps([names, values], allow_nan=False).encode()


@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.name)
@given(
    kind=st.sampled_from(sorted(set(RESULT_KINDS) - UNNOTICED)),
    seed=st.integers(0, 2**32),
)
def test_no_number_of_a_damaged_result_file_becomes_another_unnoticed(path, kind, seed):
    """Damaged once: two damages may make the output of another measurement, as two swapped lines
    and two more do."""
    form, before = known_of(path)
    with suppress(UnreadableError):
        data = broken(path.read_bytes(), [kind], seed)
        damaged = Printed(data.decode("utf-8", "replace"))
        after = read_results(damaged, form)
        for (case, name, unit), found in numbers_of(after.results).items():
            alike = [one for key, one in before.items() if key[1:] == (name, unit)]
            anywhere = set().union(*(alike or before.values()))  # a name may be a user's own
            known = before.get((case, name, unit), anywhere)
            assert after.warnings or found <= known, (case, name, found, known)


def broken(whole, kinds, seed):
    rng, data = random.Random(seed), whole
    for kind in kinds:
        data = RESULT_KINDS[kind](rng, data, whole)
    return data


@cache
def known_of(path):
    """The format of a file, and the numbers that it holds whole or damaged so that nothing shows
    it: an earlier report of schbench, fewer transactions of a client of pgbench, a shorter log of
    HdrHistogram, a result of KTAP that was not skipped, percentiles of fio beside its histogram."""
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    texts = [whole]
    if path.name == "schbench.txt":
        texts += ["".join(lines[:count]) for count in range(len(lines))]
    if path.name == "pgbench-log.txt":
        clients = [[one for one in lines if one.startswith(client)] for client in ("0 ", "1 ")]
        counts = product(*(range(len(one) + 1) for one in clients))
        texts += ["".join(clients[0][:first] + clients[1][:second]) for first, second in counts]
    if path.suffix == ".hlog":
        kept = [one for one in lines if "HIST" in one]
        texts += ["".join(kept[a:b]) for a, b in combinations(range(len(kept) + 1), 2)]
    if path.name == "ktap.txt":
        texts.append(whole.replace("# SKIP", ""))
    if path.name == "fio-plus.json":
        texts.append(whole.replace('"bins"', '"lost"'))
    form = detect(Printed(whole))
    found = {}
    for text in texts:
        with suppress(UnreadableError):
            for key, numbers in numbers_of(read_results(Printed(text), form).results).items():
                found.setdefault(key, set()).update(numbers)
    return form, found


def numbers_of(results):
    found = {}
    for one in results:
        key = (one.case, one.metric.name, one.metric.unit)
        found.setdefault(key, set()).update(one.values, one.histograms)
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(st.sampled_from(sorted(job())), JSON)
def test_any_job_is_taken_or_refused(key, value):
    with suppress(AgentError):
        Job.parse({**job(), key: value})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged([b'name = "a"\n[[hardware]]\nname = "x/y"\nboot = ["a", "{revision}"]\n']))
def test_any_toml_is_a_table_or_refused(tmp_path, data):
    path = tmp_path / "lab.toml"
    path.write_bytes(data)
    with suppress(SettingsError):
        read_toml(path)


SUBJECTS = list(made_subjects())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    subject=st.sampled_from(SUBJECTS),
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 2**32),
)
def test_any_damaged_directory_gives_documents_that_can_be_sent(
    tmp_path_factory, subject, kind, seed
):
    root = tmp_path_factory.mktemp("archive")
    rng = random.Random(seed)
    target = rng.choice(subject.targets)
    files = {**subject.files, target: KINDS[kind](rng, subject.files[target], b"CMD\n")}
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for run in read(root):
        json.dumps(run.document(), allow_nan=False, ensure_ascii=False).encode()
        assert len(run.warnings) < 100
