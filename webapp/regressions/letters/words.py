"""The sentences of mails and feeds about alerts. They match those of the pages."""

import re

from webapp.charts.text import MINUS, chance, finding_sentence, percent
from webapp.regressions.letters.facts import AlertFacts
from webapp.regressions.models import Alert, Finding, Verdict

PREFIX = "[driftline]"
QUOTE_MAX = 48
PLACE_MAX = 60
SUBJECT_MAX = 250
NOT_PRINTED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text: str, most: int) -> str:
    """``text`` in one line of at most ``most`` characters: no header can be smuggled in."""
    plain = NOT_PRINTED.sub(" ", text).strip()
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def place(finding: Finding) -> str:
    """``pf on Atom/T540``, and that it is simulated where it is."""
    hardware = finding.series.hardware
    simulated = " (simulated)" if hardware.lab.simulated else ""
    return f"{finding.series.mode} on {hardware}{simulated}"


def size(finding: Finding) -> str:
    """``11.4 % slower [−12.3, −10.5]``. The verdict decides: a series may have its own way."""
    better = finding.verdict == Verdict.BETTER
    grown = (finding.change_pct or 0.0) > 0
    return finding_sentence(
        percent=finding.change_pct,
        low=finding.low_pct,
        high=finding.high_pct,
        better="more" if grown == better else "less",
        unit=finding.series.metric.unit,
    )


def subject_line(facts: AlertFacts) -> str:
    """``-11.4% pf on Atom/T540 by r303643 "Implement trivial backoff…" (97%)``."""
    what = facts.alert.verdict
    if facts.worst:
        series = facts.worst.series
        mode, hardware = (one_line(str(one), PLACE_MAX) for one in (series.mode, series.hardware))
        what = f"{_signed(facts.worst)} {mode} on {hardware}"
    return one_line(f"{what} by {_suspect(facts)}", SUBJECT_MAX)


def _signed(finding: Finding) -> str:
    if finding.change_pct is None:
        return finding.verdict
    return percent(finding.change_pct).replace(MINUS, "-") + "%"


def _suspect(facts: AlertFacts) -> str:
    """The commit, or how many it may be: a chance is that of a step, which commits may share."""
    alert, worst = facts.alert, facts.worst
    names = worst is not None and worst.revision_id == alert.likeliest_id
    sure = f" ({chance(worst.here).replace(' ', '')})" if worst and names else ""
    if facts.in_step > 1:
        return f"one of {facts.in_step} commits up to {alert.likeliest}{sure}"
    subject = one_line(alert.likeliest.subject, QUOTE_MAX)
    return f"{alert.likeliest}" + (f' "{subject}"' if subject else "") + sure


def verdict_sentence(facts: AlertFacts) -> str:
    """The whole alert in one sentence."""
    alert, worst = facts.alert, facts.worst
    if worst is None:
        return f"{alert.verdict.capitalize()} since {commit(alert)}."
    sentence = (
        f"{alert.verdict.capitalize()}: {place(worst)} is {size(worst)} since {commit(alert)}"
    )
    more = len(facts.findings) - 1
    if not more:
        return f"{sentence}."
    worse = sum(row.verdict == Verdict.WORSE for row in facts.findings if row is not worst)
    kinds = [f"{worse} worse" if worse else "", f"{more - worse} better" if more - worse else ""]
    return f"{sentence}, and {more} more ({', '.join(filter(None, kinds))})."


def commit(alert: Alert) -> str:
    """``r303643 “Implement trivial backoff” by mjg``; the id alone where no more is known."""
    revision = alert.likeliest
    subject = one_line(revision.subject, 120)
    author = one_line(revision.author_name or revision.author_email, 60)
    return (
        f"{revision}" + (f" “{subject}”" if subject else "") + (f" by {author}" if author else "")
    )


def surety_sentence(facts: AlertFacts) -> str:
    """How sure it is that the change is real, and that it began there."""
    worst = facts.worst
    if worst is None:
        return ""
    step = f"it began after {worst.previous} and not later than {worst.revision}"
    real, here = chance(worst.probability), chance(worst.here)
    return f"The change is real with {real}; if so, {step} with {here}."


def alert_line(alert: Alert, worst: Finding | None) -> str:
    """An alert in one line, where several stand together; ``worst`` is None without findings."""
    state = alert.get_resolution_display() if alert.resolution else alert.get_state_display()
    what = f"{place(worst)} {size(worst)}, " if worst else ""
    return f"Alert {alert.pk} ({state}): {what}{alert.verdict} since {commit(alert)}"
