"""Whatever lies in a directory, reading it ends in runs and reasons, never in a traceback."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from labagent.model import Mode
from labagent.readers.benchlab.drafts import names_of_prefix, parse_info, read_names
from labagent.readers.benchlab.kernel import parse_uname
from labagent.readers.benchlab.label import parse_image, parse_label
from labagent.readers.logs import FORMATS

from agents.tests.make import label_dir, read

NAMES = st.text("rncD0123456789.-_abcXYZ", max_size=40)
FILE_NAMES = st.one_of(
    st.from_regex(
        r"\A(bench\.)?[a-z0-9D]{0,8}(\.[a-z0-9]{1,6}){0,2}\.(info|pps|[1-3]\.receiver)\Z"
    ),
    st.from_regex(r"\A(pps|none|303643|bench)\.[a-z0-9]{1,6}(\.[1-3])?\Z"),
)


@given(NAMES)
@example("fbsd13-r357572-2M_leg-0to12M_dos")
def test_any_name_can_be_read(name):
    image, label = parse_image(name), parse_label(name)
    assert "" not in image.tokens + label.segments
    names = names_of_prefix(name)
    assert names.prefix.replace(".", "") == name.replace(".", "")


@given(st.text(max_size=300))
@example('UNAME="FreeBSD"')
@example("FreeBSD hp 12.0-CURRENT FreeBSD 12.0-CURRENT ")
def test_any_info_can_be_read(text):
    info = parse_info(text)
    kernel = parse_uname(info.uname)
    assert kernel.build is None or len(kernel.build) <= 200
    read_names("pf", info)


@given(st.binary(max_size=2000))
def test_any_log_can_be_read(data):
    for form in FORMATS:
        form.claims(data)
        assert form.read(data).values or form.read(data).problem


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(FILE_NAMES, st.sampled_from(["", "1\n2\n3\n", "x", 'CFG="a"', "\x00ä"])))
def test_any_directory_gives_documents_that_can_be_sent(tmp_path_factory, files):
    root = tmp_path_factory.mktemp("archive")
    label = label_dir(root, "fbsd12-head.r317849")
    for name, content in files.items():
        (label / name).write_text(content)
    for run in read(root):
        document = json.loads(json.dumps(run.document(), allow_nan=False))
        mode = document["mode"]
        assert Mode.parse(str(run.mode)) == Mode.of(
            mode["workload"], mode["traffic"], mode["options"]
        )
        assert all(metric["samples"] for metric in document["metrics"].values())
