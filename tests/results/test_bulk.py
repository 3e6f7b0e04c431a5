"""Many rows in one statement."""

import json
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from webapp.analysis.models import Finding
from webapp.results.services import update_rows

pytestmark = pytest.mark.django_db

THIRD, TINY = 1 / 3, 5e-324


def three_findings() -> list[Finding]:
    revisions = make.revisions(4)
    of = make.series()
    return [
        make.finding(of, before, at, score=1.0, one_build={"was": "judged"})
        for before, at in pairwise(revisions)
    ]


def test_rows_take_the_values_given_bit_by_bit_and_others_stay() -> None:
    one, other, third = three_findings()
    row = {"score": THIRD, "p_value": TINY, "why": 'a "quote", ü', "locations": [[1, "r1", THIRD]]}
    empty = {"score": 0.0, "p_value": 1.0, "why": "", "locations": []}
    update_rows(
        Finding,
        [
            {"id": one.pk, "one_build": None, **row},
            {"id": other.pk, "one_build": {"kept": [THIRD]}, **empty},
        ],
    )
    stored = {found.pk: found for found in Finding.objects.all()}
    first = stored[one.pk]
    assert {name: getattr(first, name) for name in row} == row
    assert Finding.objects.filter(one_build__isnull=True).get() == one
    assert stored[other.pk].one_build == {"kept": [THIRD]}
    assert (stored[third.pk].score, stored[third.pk].why) == (1.0, third.why)


def test_all_rows_take_one_statement_and_none_takes_none() -> None:
    findings = three_findings()
    with CaptureQueriesContext(connection) as asked:
        update_rows(Finding, [{"id": row.pk, "score": 2.0} for row in findings])
        update_rows(Finding, [])
    assert len(asked) == 1
    assert set(Finding.objects.values_list("score", flat=True)) == {2.0}


def test_what_json_cannot_hold_is_refused_and_an_unknown_column_named() -> None:
    finding = three_findings()[0]
    with pytest.raises(ValueError, match="not JSON compliant"):
        update_rows(Finding, [{"id": finding.pk, "score": float("nan")}])
    with pytest.raises(KeyError, match="no column colour"):
        update_rows(Finding, [{"id": finding.pk, "colour": "red"}])
    finding.refresh_from_db()
    assert json.dumps(finding.score) == "1.0"
