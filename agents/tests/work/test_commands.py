"""Filling in: what a server sends stays data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.errors import AgentError
from labagent.job import Job
from labagent.work.command_lab import placeholders
from labagent.work.commands import Command

from agents.tests.board import job

VALUES = placeholders(Job.parse(job(mode="pf@inet4+a+b")), Path("/d"), boot=1, iteration=2)


def filled(*words, values=VALUES):
    return Command(words, 1.0).filled(values)


def test_each_placeholder_is_filled_in_within_its_argument():
    words = (
        "{mode}",
        "--rev={revision}",
        "{workload}/{traffic}",
        "{options}",
        "{boot}.{iteration}",
    )
    assert filled(*words) == ["pf@inet4+a+b", "--rev=r303643", "pf/inet4", "a,b", "1.2"]


def test_doubled_braces_are_braces():
    assert filled("{{revision}}") == ["{revision}"]


@given(st.text())
def test_a_value_never_makes_another_argument_nor_another_placeholder(text):
    assert filled("a{revision}b", "{tree}", values={**VALUES, "revision": text, "tree": "t"}) == [
        f"a{text}b",
        "t",
    ]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_a_shell_gets_values_quoted(text):
    line = Command(("printf %s {revision}",), 1.0, shell=True)
    argv = line.filled({**VALUES, "revision": text})
    assert argv[:2] == ["/bin/sh", "-c"]
    done = subprocess.run(argv, capture_output=True, check=True)
    assert done.stdout == text.encode()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("revision", "-rf"),
        ("revision", "--upload-pack=x"),
        ("revision", "r1 r2"),
        ("revision", "r1\n"),
        ("revision", "r1\x1b[0m"),
        ("revision", "$(reboot)"),
        ("revision", "`id`"),
        ("revision", "a;b"),
        ("revision", "a|b"),
        ("revision", "~root"),
        ("revision", "../etc"),
        ("revision", "a/../../etc"),
        ("revision", ""),
        ("revision", None),
        ("revision", "r" * 300),
        ("tree", "$HOME"),
        ("hardware", "A B"),
        ("mode", "-v"),
        ("mode", "pf@-v"),
        ("mode", "pf+-v"),
        ("mode", "pf@a'b"),
        ("mode", "PATH=x"),
        ("mode", "pf+=x"),
        ("tree", "PATH=x"),
        ("metric", "*"),
        ("build_key", "-k"),
        ("aliases", ["-x"]),
        ("aliases", "r1"),
        ("boots", 0),
        ("boots", 10**9),
        ("boots", True),
        ("iterations", "5"),
    ],
)
def test_a_job_that_could_do_harm_is_refused(key, value):
    """Only a mode may hold `=`, between a knob and its value."""
    with pytest.raises(AgentError):
        Job.parse(job(**{key: value}))


def test_the_value_of_a_knob_reaches_the_commands():
    found = placeholders(Job.parse(job(mode="forwarding+a+hw.cxgbe.nXxq=5")), Path("/d"))
    assert (found["workload"], found["options"]) == ("forwarding", "a,hw.cxgbe.nXxq=5")
