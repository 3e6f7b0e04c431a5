"""`python -m webapp.stats.changes`: the changes of a series, from CSV to JSON, in any shell."""

import argparse
import json
import sys
from typing import Any

from webapp.stats.changes import (
    Analysis,
    At,
    BadSeriesError,
    Change,
    Segment,
    explain,
    others,
    series_csv,
)
from webapp.stats.detector import detect
from webapp.stats.shell import end_silently

BAD_INPUT = 2
"""Exit code for input that cannot be read as a series."""


def main(arguments: list[str] | None = None) -> int:
    """Read CSV from standard input, print JSON, return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        points = series_csv.read_points(sys.stdin)
        told = detect(points, better=options.better)
    except BadSeriesError as error:
        sys.stderr.write(f"changes: {error}\n")
        return BAD_INPUT
    except UnicodeDecodeError as error:
        sys.stderr.write(f"changes: the input is not UTF-8 text: {error.reason}\n")
        return BAD_INPUT
    shown = {"least_pct": options.min_effect, "online": options.online}
    document = as_document(told.analysis, **shown) | others.as_lists(told.others, points, **shown)
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m webapp.stats.changes",
        description="Find the changes of a series. Standard input: CSV with a header and the "
        "columns revision, value and optionally position, boot; one row a sample, in order along "
        "the tree. Standard output: JSON.",
    )
    parser.add_argument(
        "--better", choices=("more", "less"), default="more", help="which way is an improvement"
    )
    parser.add_argument(
        "--min-effect",
        type=float,
        default=0.0,
        metavar="PCT",
        help="leave out findings smaller than so many percent",
    )
    parser.add_argument(
        "--online",
        action="store_true",
        help="say for each finding which revision confirmed it when read one by one, and which "
        "changes were confirmed on the way and retracted later",
    )
    return parser


def as_document(analysis: Analysis, *, least_pct: float, online: bool) -> dict[str, Any]:
    """Return the analysis as plain data for JSON."""
    changes = [
        _change(change, analysis, online=online)
        for change in analysis.changes
        if abs(change.change_pct) >= least_pct
    ]
    noise = analysis.noise
    document: dict[str, Any] = {
        "changes": changes,
        "segments": [_segment(segment) for segment in analysis.segments],
        "noise_pct": None if noise is None else _rounded(noise.revision_pct),
        "noise": noise
        and {
            "run_in_boot_pct": _rounded(noise.run_pct),
            "boot_pct": _rounded(noise.boot_pct),
            "sample_in_build_pct": _rounded(noise.within_pct),
            "build_pct": _rounded(noise.build_pct),
            "memory": _rounded(noise.memory),
        },
        "smallest_provable_pct": analysis.smallest and _rounded(analysis.smallest.pct),
        "bimodal": analysis.is_bimodal,
        "drifting": analysis.is_drifting,
        "why_not": explain.why_not(analysis),
        "left_out": [at.label for at in analysis.left_out],
    }
    if online:
        document["retracted"] = [
            {"revision": item.revision.label, "detected_at": item.confirmed_by.label}
            for item in analysis.retracted
        ]
    return document


def _change(change: Change, analysis: Analysis, *, online: bool) -> dict[str, Any]:
    document = {
        "revision": change.revision.label,
        "previous": change.previous.label,
        "interval": [change.first.label, change.last.label],
        "last_known_old": change.after.label,
        "change_pct": _rounded(change.change_pct),
        "ci_pct": [_rounded(change.low_pct), _rounded(change.high_pct)],
        "probability": _rounded(change.probability),
        "verdict": change.verdict,
        "state": change.state,
        "score": _rounded(change.score),
        "why": explain.why_flagged(change, analysis),
    }
    if online:
        detected: At = change.confirmed_by or change.revision
        document["detected_at"] = detected.label
    return document


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "first": segment.first.label,
        "last": segment.last.label,
        "revisions": segment.count,
        "level": segment.level,
        "ci": [segment.low, segment.high],
        "end_level": segment.end_level,
        "drift_pct": _rounded(segment.drift_pct),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


if __name__ == "__main__":
    end_silently()
    sys.exit(main())
