"""The counts of the rounds, a line for each kind of fault."""

from collections.abc import Sequence

from tests.faults.rounds.playing import Outcome

HEAD = """\
| broken | rounds | kills | same digest | mails lost | mails sent twice |
|---|---|---|---|---|---|
"""


def rendered(found: Sequence[Outcome]) -> str:
    """A row for each kind of fault, and one for all."""
    names = list(dict.fromkeys(one.fault for one in found))
    rows = [_row(name, [one for one in found if one.fault == name]) for name in names]
    return HEAD + "\n".join([*rows, _row("all", found), ""])


def _row(name: str, found: Sequence[Outcome]) -> str:
    if all(one.is_skipped for one in found):
        return f"| {name} | {found[0].outcome} | | | | |"
    played = [one for one in found if not one.is_skipped]
    same = f"{sum(one.is_well for one in played)} of {len(played)}"
    wrong = "; ".join(sorted({one.outcome for one in played if not one.is_well}))
    sums = (sum(one.kills for one in played), sum(one.lost for one in played))
    cells = [name, len(played), sums[0], same + (f" ({wrong})" if wrong and name != "all" else "")]
    return f"| {' | '.join(map(str, [*cells, sums[1], sum(one.twice for one in played)]))} |"
