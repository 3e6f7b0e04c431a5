"""Why a finding that is no change of level is told: one sentence with its figures."""

from math import expm1, log1p

from webapp.stats.levels import Finding, ModeChange, NoiseChange


def why_excursion(one: Finding) -> str:
    """Return the sentence that says why a revision is told as an excursion."""
    return (
        f"Excursion: {one.first.label} alone is {_size(one)}, {one.score:.0f} standard deviations "
        f"off, and all its samples agree; {one.last.label} is back. Nothing lasted."
    )


def why_slow(one: Finding) -> str:
    """Return the sentence that says why a slow loss or gain is told."""
    return (
        f"Slow: {_size(one)} from {one.first.label} to {one.last.label}, {one.score:.1f} standard "
        "deviations of a trend beside all steps. No single commit."
    )


def why_noise(one: NoiseChange) -> str:
    """Return the sentence that says why a change of noise is told."""
    word = "more" if one.ratio > 1 else "less"
    ratio = max(one.ratio, 1 / one.ratio)
    return (
        f"Noise: from {one.first.label} on revisions scatter {ratio:.1f} times {word} than before."
    )


def why_modes(one: ModeChange) -> str:
    """Return the sentence that says why a change of modes is told."""
    return (
        f"Modes: from {one.first.label} on {100 * one.share_after:.0f} % of runs are "
        f"{abs(one.gap_pct):.1f} % below the others, {100 * one.share_before:.0f} % before."
    )


def mean_change_pct(one: ModeChange) -> float:
    """Return by how much other shares of two modes move the mean of runs, in percent."""
    return 100 * expm1((one.share_after - one.share_before) * log1p(one.gap_pct / 100))


def _size(one: Finding) -> str:
    return f"{one.pct:+.1f} % [{one.low_pct:+.1f}, {one.high_pct:+.1f}]"
