"""A part of the study of damaged files; `python -m agents.tests.mutations` is all of it."""

from __future__ import annotations

from agents.tests.mutations import KINDS, VERDICTS, Study

ALWAYS_KNOWN = (
    *("cut in the middle", "emptied", "first lines lost", "NUL bytes", "other encoding"),
    *("two files in one", "unit changed", "sum off", "no finite number", "absurd number"),
    *("CRLF", "CRLF in a line", "huge line"),
)
"""Damage that never changes a value without a warning, whatever file it hits."""

CASES = 12


def test_damaged_files_are_noticed():
    study = Study(archive=False)
    counts = study.run(CASES)
    assert sum(found.total() for found in counts.values()) == CASES * len(KINDS)
    assert {kind: found["silent"] for kind, found in counts.items() if kind in ALWAYS_KNOWN} == (
        dict.fromkeys(ALWAYS_KNOWN, 0)
    ), study.silent
    total = {verdict: sum(found[verdict] for found in counts.values()) for verdict in VERDICTS}
    assert total["crash"] == total["slow"] == 0, study.silent
    assert total["silent"] <= 0.04 * CASES * len(KINDS), study.silent


def test_the_study_repeats_itself_by_its_seed():
    assert Study(archive=False).run(3) == Study(archive=False).run(3)
