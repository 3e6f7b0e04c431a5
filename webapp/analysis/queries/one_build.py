"""What pages, mails and feeds say of a loss that rests on one build a side. One wording for all."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.analysis.models import Finding
from webapp.stats.decisive import LIMIT_OF_COMMIT, what_settles

CAVEAT = (
    "Not a fact about the commit yet: builds of one and the same revision differ too, and this "
    "series cannot tell by how much."
)


def one_build_lines(finding: Finding) -> Sequence[str]:
    """How sure it is, by what belief, and what would settle it; nothing where the detector found it
    or nothing open is left to say.
    """
    facts = finding.one_build
    if facts is None or finding.state != Finding.State.ONE_BUILD:
        return []
    return [
        CAVEAT if facts["builds_after"] == 1 else f"{_builds(facts)} do not settle it yet.",
        _chance(facts),
        _size(facts),
        _belief(facts),
        what_settles(str(finding.revision), str(finding.previous)),
    ]


def _builds(facts: Mapping[str, Any]) -> str:
    before, after = facts["builds_before"], facts["builds_after"]
    return f"{before} build{'' if before == 1 else 's'} before and {after} from it on"


def _chance(facts: Mapping[str, Any]) -> str:
    pairs, limit = facts["pairs"], f"limit {_share(facts['limit'])}"
    if pairs > 1:
        limit += f"; {_share(LIMIT_OF_COMMIT)} for the {pairs} pairs of this commit together"
    chance = _share(facts["chance"])
    return f"Without a change, a loss as large is seen with a chance of {chance} ({limit})."


def _size(facts: Mapping[str, Any]) -> str:
    sure = abs(facts["sure_pct"])
    return f"Its size, with the builds' scatter counted, is at least {sure:.1f} % with 95 %."


def _belief(facts: Mapping[str, Any]) -> str:
    median, spread, turning = facts["median_pct"], facts["spread"], facts["turning_pct"]
    return (
        f"Believed: builds scatter by {median:.2g} %, in two series of three within × {spread:.2g} "
        f"of it. If they scatter by {turning:.1f} % or more here, it would not be an alert."
    )


def _share(chance: float) -> str:
    return f"{100 * chance:.2g} %"
