"""What a commit did, in a word, and who says so: the detector, or the cells alone."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.alerts.queries import Detected
from webapp.analysis.models import Finding
from webapp.analysis.queries import PointVerdict
from webapp.charts.text import MARKS
from webapp.results.models import Series
from webapp.stats.compare import Verdict

CSS = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
ORDER = (Verdict.WORSE, Verdict.BETTER, Verdict.EQUIVALENT, Verdict.CANNOT_TELL)


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict over all series, in ``text``; ``source`` says what it rests on."""

    text: str
    marks: str
    source: str

    @property
    def css_class(self) -> str:
        """The CSS class of the answer."""
        return CSS.get(self.text, "cannot-tell")


@dataclass(frozen=True, slots=True)
class Proven:
    """A series in which a commit is proven to differ from the revision tested before it."""

    series: Series
    judged: PointVerdict

    def rank(self) -> tuple[int, float]:
        """For the order of a list: the worse first, and the largest of each."""
        return ORDER.index(self.judged.verdict), -abs(self.judged.percent or 0.0)


def headline(detected: Detected, judged: Mapping[int, PointVerdict]) -> Headline:
    """The verdict of the findings that begin here; where there are none, that of the cells."""
    findings = [one.finding for one in detected.begun]
    if findings and all(row.state == Finding.State.ONE_BUILD for row in findings):
        return Headline("one build a side", MARKS[Verdict.CANNOT_TELL], "no fact about it yet")
    if findings:
        verdicts = Counter(Verdict(finding.verdict) for finding in findings)
        return Headline(_text(verdicts), _marks(verdicts), _states(findings))
    verdicts = Counter(one.verdict for one in judged.values())
    if not verdicts:
        return Headline("not compared", "", "")
    counts = ", ".join(f"{verdicts[one]} {one}" for one in ORDER if verdicts[one])
    source = f"against the revision tested before alone ({counts}); the detector reports nothing"
    return Headline(_text(verdicts), _marks(verdicts), source)


def _text(verdicts: Counter[Verdict]) -> str:
    worse, better = verdicts[Verdict.WORSE], verdicts[Verdict.BETTER]
    if worse and better:
        return "mixed"
    if worse or better:
        return "regression" if worse else "improvement"
    if verdicts[Verdict.CANNOT_TELL]:
        return "cannot tell"
    return "equivalent"


def _marks(verdicts: Counter[Verdict]) -> str:
    proven = [one for one in (Verdict.WORSE, Verdict.BETTER) if verdicts[one]]
    rest = [one for one in (Verdict.CANNOT_TELL, Verdict.EQUIVALENT) if verdicts[one]]
    return "".join(MARKS[one] for one in proven or rest[:1])


def _states(findings: list[Finding]) -> str:
    states = Counter(finding.state for finding in findings)
    counts = " and ".join(
        f"{states[state]} {state.label}"
        for state in (*Finding.PROVEN, Finding.State.ONE_BUILD, Finding.State.CANDIDATE)
        if states[state]
    )
    return f"found by the detector: {counts}"
