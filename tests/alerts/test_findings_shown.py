"""The findings of a chart, by a statement of our own, are those that the QuerySets mean."""

from datetime import timedelta
from itertools import product

import pytest

from tests import make
from webapp.alerts.queries import FindingRow, findings_shown
from webapp.analysis.models import Finding
from webapp.results.models import Series

pytestmark = pytest.mark.django_db


@pytest.fixture
def series() -> list[Series]:
    """Findings of each kind and state, sure or perhaps none, striking or faint, in an alert or in
    none.
    """
    along = make.revisions(5)
    alert = make.alert(along[2], after=along[1])
    found = []
    states = [one for one in Finding.State.values if one != Finding.State.SUPERSEDED]
    kinds = product(Finding.Kind.values, states, (-1.0, 1.0), (3.0, 9.0))
    for number, (kind, state, high, score) in enumerate(kinds):
        one = make.series(in_mode=f"mode-{number}")
        make.finding(
            one,
            along[1],
            along[2],
            kind=kind,
            state=state,
            low_pct=-2.0,
            high_pct=high,
            score=score,
            alert=alert if number % 5 == 0 else None,
            recovered_by=along[4] if state == Finding.State.RECOVERED else None,
            details={"ratio": 2, "share_before": 0.25} if number % 2 else {},
            first_detected_at=make.DAY_ONE + timedelta(days=number % 3),
        )
        found.append(one)
    return found


@pytest.mark.parametrize("days", [None, 0, 1])
def test_both_choose_the_same_and_read_the_same(series: list[Series], days: int | None) -> None:
    asof = None if days is None else make.DAY_ONE + timedelta(days=days)
    meant = Finding.all_kinds.on_display().shown_alone().of_all(series)
    if asof:
        meant = meant.filter(first_detected_at__lte=asof)
    shown = [FindingRow(*row) for row in meant.values_list(*FindingRow._fields)]
    assert findings_shown([one.pk for one in series], asof=asof) == shown
    assert len({(one.kind, one.state) for one in shown}) > 10 or days is not None
    assert len(shown) < len(series)
