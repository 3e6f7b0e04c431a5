"""Why something is reported, or is not: one sentence with the rule and its figures."""

from math import expm1, log1p

from webapp.stats.changes import findings, scale
from webapp.stats.metrics import worth_telling

TOO_FEW = "Nothing is known yet: too few revisions to know the noise of this series."

LEFT_OUT = (
    "Fewer than half of the samples of this revision are above 0: the detector, which reads "
    "logarithms, leaves the revision out."
)

RAREST = 1e-6
"""The smallest probability that is given as it is."""

NO_SCATTER_YET = "All values are equal so far, so nothing is known of the noise of this series."


def why_flagged(change: findings.Change, analysis: findings.Analysis) -> str:
    """Return the sentence why a change is reported."""
    if not change.level:
        return _why_lost(change)
    noise = _noise(analysis)
    size = _beside(change)
    if change.state == "candidate":
        return (
            f"Candidate: {change.revision.label} alone is {size} the level of the "
            f"{_revisions(change.revisions_before)} before, {change.score:.1f} standard "
            f"deviations ({change.needed:.1f} make a candidate{noise}); "
            "one more revision that agrees confirms the change."
        )
    are = "is" if change.revisions_after == 1 else "are"
    newest = f"newest {change.unweighed}" if change.unweighed > 1 else "newest"
    since = f"{change.revision.label} on"
    if change.unweighed:
        since += f" (all but the {newest} weighed so far)"
    return (
        f"Confirmed: {_revisions(change.revisions_after)} from {since} {are} "
        f"{size} the previous {change.revisions_before}, "
        f"{change.score:.1f} standard deviations today "
        f"(limit {change.needed:.1f} when {_confirmed_by(change)} confirmed the change{noise}); "
        f"{_suspects(change)}."
    )


def _why_lost(change: findings.Change) -> str:
    """The sentence why a rate is reported as lost."""
    count, chance = change.revisions_after, max(change.p_value, RAREST)
    often = "once" if change.p_value >= RAREST else "less than once"
    over = f" {change.back.label} measured more again." if change.back else ""
    return (
        f"Confirmed: {_revisions(count)} from {change.revision.label} on measured 0. Were each to "
        f"fail by itself, as often as those before, {count} one after the other would come {often} "
        f"in {1 / chance:,.0f} times (limit {1 / scale.BY_ITSELF:,.0f}); {_suspects(change)}.{over}"
    )


def _beside(change: findings.Change) -> str:
    """``9.0 % [8.8, 9.3] below``."""
    ends = sorted(abs(one) for one in (change.low_pct, change.high_pct))
    if change.low_pct * change.high_pct < 0:
        signed = f"[{change.low_pct:+.1f}, {change.high_pct:+.1f}]"
        return f"{change.change_pct:+.1f} % {signed} from"
    way = "above" if change.change_pct > 0 else "below"
    return f"{abs(change.change_pct):.1f} % [{ends[0]:.1f}, {ends[1]:.1f}] {way}"


def why_not(analysis: findings.Analysis) -> str:
    """Return the sentence why the newest revision is not reported."""
    newest = analysis.newest
    if newest is None:
        return _nothing_known(analysis)
    off = f"{newest.revision.label} lies {newest.off_pct:+.1f} % off its level"
    if newest.score >= newest.needed:
        alone = "one revision alone never confirms a change."
        return f"Not confirmed: {off}, but {alone}{_recurring(analysis)}"
    seen = _smallest(analysis)
    is_telling = analysis.smallest is not None and worth_telling(analysis.smallest.pct) is not None
    answer = "No change" if is_telling else "Too little is known to tell"
    return (
        f"{answer}: {off}, {newest.score:.1f} standard deviations where "
        f"{newest.needed:.1f} make a candidate{_noise(analysis)}{seen}.{_recurring(analysis)}"
    )


def why_not_at(analysis: findings.Analysis, position: int) -> str:
    """Return the sentence why no change is reported at an earlier revision.

    `position` is that of a measured revision at which no change was found.
    """
    if analysis.newest is not None and position >= analysis.newest.revision.position:
        return why_not(analysis)
    level = _level_at(analysis, position)
    if level is None:
        return TOO_FEW
    return f"No change here: this revision belongs to {level}.{_recurring(analysis)}"


def why_withdrawn(analysis: findings.Analysis, position: int) -> str:
    """Return the sentence with the revisions that took back a change at an earlier one."""
    level = _level_at(analysis, position)
    if level is None:
        return "Withdrawn: what is measured now shows no such change."
    return f"Withdrawn: with what was measured since, this revision belongs to {level}."


def _level_at(analysis: findings.Analysis, position: int) -> str | None:
    """The level that holds a revision, and why it is one; None where none is known."""
    for segment in analysis.segments:
        if segment.first.position <= position <= segment.last.position:
            drift = f", which drifts by {segment.drift_pct:+.1f} %" if segment.drift_pct else ""
            return (
                f"the level of {_revisions(segment.count)} from {segment.first.label} to "
                f"{segment.last.label}{drift}, and no split of it reaches the "
                f"{scale.CONFIRM:.1f} standard deviations that a change needs{_noise(analysis)}"
            )
    return None


def why_retracted(retracted: findings.Retracted) -> str:
    """Return the sentence why a change is no longer reported."""
    return (
        f"Retracted: {retracted.confirmed_by.label} seemed to confirm a change at "
        f"{retracted.revision.label}, but the revisions after it went back to the old level, or "
        "showed a slow drift instead of a step."
    )


def what_helps(analysis: findings.Analysis) -> str:
    """Return the sentence how small a change could be proven now, and what would help."""
    smallest, noise = analysis.smallest, analysis.noise
    if smallest is None or noise is None:
        is_unknown = noise is None or noise.within_pct != 0
        return _nothing_known(analysis) if is_unknown else NO_SCATTER_YET
    now = (
        f"A change of {smallest.pct:.1f} % would be proven by the next two revisions in 80 of "
        f"100 cases, one of {smallest.later_pct:.1f} % by the next ten"
    )
    if smallest.helps == "runs":
        return f"{now}; twice the runs of each: {smallest.more_runs_pct:.1f} %."
    if smallest.helps == "revisions":
        return f"{now}; more runs of the same builds would hardly help, more revisions would."
    return f"{now}; with one sample of each revision, what would help is not known."


def _nothing_known(analysis: findings.Analysis) -> str:
    left_out = len(analysis.left_out)
    if not left_out:
        return TOO_FEW
    if analysis.count:
        return (
            f"{TOO_FEW} {_revisions(left_out)} with fewer than half of their samples above 0 are "
            "left out."
        )
    return (
        "Nothing is known: the detector reads logarithms, and of "
        f"{_revisions(left_out)} fewer than half of the samples are above 0. Comparisons of two "
        "revisions count them."
    )


def _noise(analysis: findings.Analysis) -> str:
    if analysis.noise is None or analysis.noise.revision_pct is None:
        return ""
    return f"; revisions here scatter by {analysis.noise.revision_pct:.2f} %"


def _smallest(analysis: findings.Analysis) -> str:
    if analysis.smallest is None:
        return ""
    return f"; the next two could prove {analysis.smallest.pct:.1f} %"


def _recurring(analysis: findings.Analysis) -> str:
    """Why a revision far off its level is no excursion, where such recur."""
    if not analysis.recurring:
        return ""
    many = _revisions(analysis.recurring)
    return f" Here {many} far off the level are noise, not excursions, because such recur."


def _revisions(count: int) -> str:
    return "1 revision" if count == 1 else f"{count} revisions"


def _confirmed_by(change: findings.Change) -> str:
    return change.confirmed_by.label if change.confirmed_by else "the next revision"


def _suspects(change: findings.Change) -> str:
    began = f"the change began after {change.after.label}, at the latest in {change.last.label}"
    if change.first == change.last:
        return began
    likeliest = f"{change.revision.label} ({100 * change.here:.0f} %)"
    return f"{began} (95 %), most likely at {likeliest}"


def why_excursion(one: findings.Finding) -> str:
    """Return the sentence why a revision is an excursion."""
    return (
        f"Excursion: {one.first.label} alone is {_size(one)}, {one.score:.0f} standard deviations "
        f"off, and all its samples agree; {one.last.label} is back. Nothing lasted."
    )


def why_slow(one: findings.Finding) -> str:
    """Return the sentence why a slow loss or gain is reported."""
    return (
        f"Slow: {_size(one)} from {one.first.label} to {one.last.label}, {one.score:.1f} standard "
        "deviations of a trend beside all steps. No single commit."
    )


def why_noise(one: findings.NoiseChange) -> str:
    """Return the sentence why a change of noise is reported."""
    word = "more" if one.ratio > 1 else "less"
    ratio = max(one.ratio, 1 / one.ratio)
    return (
        f"Noise: from {one.first.label} on revisions scatter {ratio:.1f} times {word} than before."
    )


def why_modes(one: findings.ModeChange) -> str:
    """Return the sentence why a change of modes is reported."""
    return (
        f"Modes: from {one.first.label} on {100 * one.share_after:.0f} % of runs are "
        f"{abs(one.gap_pct):.1f} % below the others, {100 * one.share_before:.0f} % before."
    )


def mean_change_pct(one: findings.ModeChange) -> float:
    """Return by how much other shares of two modes move the mean of runs, in percent."""
    return 100 * expm1((one.share_after - one.share_before) * log1p(one.gap_pct / 100))


def _size(one: findings.Finding) -> str:
    return f"{one.pct:+.1f} % [{one.low_pct:+.1f}, {one.high_pct:+.1f}]"
