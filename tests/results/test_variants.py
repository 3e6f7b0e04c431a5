"""Variants of kernels: where runs of them are filed, and that analysis leaves them alone."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import SAMPLES, run_document
from tests.results.steps import FLAT, analyse, measured, mode, upload
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesSettings
from webapp.api.schemas.runs import RunIn
from webapp.merging.services import adopt_builtin_rules, refile_by_label_rules
from webapp.results.documents import Conflict
from webapp.results.models import LabelRule, Mode, Point, Revision, Run, Series, Variant
from webapp.results.services import withdraw_run
from webapp.results.spellings import BUILTIN_RULES

pytestmark = pytest.mark.django_db
N = len(SAMPLES)


def of(*options: str, image: str = "", **fields: Any) -> dict[str, Any]:
    """A run of a mode with ``options``, of ``image``."""
    evidence = {"evidence": {"image": image}} if image else {}
    return run_document(mode=mode("pf", *options), facts={}, **{**evidence, **fields})


def filed() -> dict[tuple[str, str], dict[str, int]]:
    """(mode, variant) → revision → samples."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in Point.objects.with_subjects().select_related("revision"):
        series = row.series
        key = (series.mode.name, series.variant.name if series.variant else "")
        found.setdefault(key, {})[row.revision.name] = row.n
    return found


def rule(pattern: str, kind: str, **fields: Any) -> LabelRule:
    return LabelRule.objects.create(pattern=pattern, kind=kind, **fields)


def test_the_rules_that_come_with_the_program_are_stored() -> None:
    stored = [row.rule() for row in LabelRule.objects.of_lab(None)]
    assert stored == list(BUILTIN_RULES)
    assert adopt_builtin_rules() == 0


def test_a_variant_has_a_series_of_its_own_and_the_plain_kernel_stays_plain() -> None:
    upload(of(), of("D12685", "VIMAGE", image="303643D12685VIMAGE"))
    assert filed() == {("pf", ""): {"r303643": N}, ("pf+VIMAGE", "D12685"): {"r303643": N}}
    run = Run.objects.get(variant__name="D12685")
    assert run.mode.name == "pf+VIMAGE"
    assert run.as_sent == {"mode": "pf+D12685+VIMAGE", "variant": []}
    parts = [{"kind": "patch", "name": "D12685", "checksum": ""}]
    assert Variant.objects.get().parts == parts
    assert Run.objects.get(variant=None).as_sent is None


def test_identity_and_digest_are_those_of_the_document_as_sent() -> None:
    sent = of("uma", image="303643uma")
    document = RunIn.model_validate(sent).document()
    upload(sent)
    assert Run.objects.get().digest == document.digest()
    assert upload(sent).known == (document.uuid,)
    with pytest.raises(Conflict) as raised:
        upload({**sent, "mode": mode("pf")})
    assert {one.path for one in raised.value.problems} == {"runs[0].variant"}


def test_the_image_of_a_run_without_evidence_is_among_its_facts() -> None:
    upload(of("uma") | {"facts": {"image": "303643uma"}})
    assert set(filed()) == {("pf", "uma")}


def test_evidence_that_comes_later_shows_the_variant_of_a_known_run() -> None:
    upload(sent := of("uma"))
    assert set(filed()) == {("pf+uma", "")}
    recorded = upload(sent | {"evidence": {"image": "303643uma"}})
    assert recorded.refiled == set(recorded.known)
    assert filed() == {("pf", "uma"): {"r303643": N}}
    assert Run.objects.get().as_sent == {"mode": "pf+uma", "variant": []}
    assert not upload(sent | {"evidence": {"image": "303643uma"}}).refiled
    assert refile_by_label_rules() == 0


def test_a_document_may_name_the_variant_itself() -> None:
    checksum = "0123456789abcdef" * 4
    patches = [
        {"kind": "patch", "name": "second", "checksum": checksum},
        {"kind": "patch", "name": "first"},
    ]
    upload(sent := of(variant=patches))
    assert set(filed()) == {("pf", "second=01234567+first")}
    assert upload(sent).known
    with pytest.raises(Conflict):
        upload({**sent, "variant": patches[::-1]})


@pytest.mark.parametrize(
    "parts",
    [
        [{"kind": "patch", "name": "a"}, {"kind": "image", "name": "a"}],
        [{"kind": "patch", "name": "a b"}],
        [{"kind": "patch", "name": "a+b"}],
        [{"kind": "option", "name": "a"}],
        [{"kind": "patch", "name": "a", "checksum": "XYZ"}],
        [{"kind": "patch", "name": f"{i}{'x' * 80}"} for i in range(6)],
        [{"kind": "patch", "name": str(i)} for i in range(21)],
    ],
)
def test_a_variant_that_cannot_be_stored_is_refused(parts: list[dict[str, str]]) -> None:
    with pytest.raises(ValueError, match="variant"):
        RunIn.model_validate(of(variant=parts))


def test_an_upload_without_options_asks_nothing_more() -> None:
    upload(of())
    with CaptureQueriesContext(connection) as plain:
        upload(of(revision="r2"))
    assert not [one for one in plain.captured_queries if "labelrule" in one["sql"]]
    assert not [one for one in plain.captured_queries if "results_variant" in one["sql"]]


def test_the_statements_of_an_upload_do_not_grow_with_its_variants() -> None:
    def batch(start: int, patches: int) -> list[dict[str, Any]]:
        return [of(f"D{10_000 + start + i}") for i in range(patches)]

    counts = []
    for start, size in ((0, 1), (1, 2), (10, 40)):
        with CaptureQueriesContext(connection) as queries:
            upload(*batch(start, size))
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_nothing_is_found_in_a_variant_whatever_it_does() -> None:
    runs = [
        measured(f"r{number}", 1000 * (1 if number < 10 else 0.5), mode=mode("pf", "D12685"))
        for number in range(1, 20)
    ]
    upload(*runs)
    analyse()
    assert not Series.objects.dirty().exists()
    assert not Finding.objects.exists()
    assert not make.compared()
    upload(*(run | {"uuid": str(uuid4()), "mode": mode("pf")} for run in runs))
    analyse()
    assert {row.series.variant for row in Finding.objects.select_related("series__variant")} == {
        None
    }


def test_a_revision_measured_as_a_variant_alone_is_not_tested() -> None:
    upload(of("D12685"))
    assert not Revision.objects.tested().exists()
    upload(of())
    assert Revision.objects.tested().count() == 1


def test_a_new_rule_files_stored_runs_and_takes_the_series_along() -> None:
    upload(*(of("mylab", revision=f"r{n}") for n in (1, 2)), of("mylab", "VIMAGE"))
    before = set(Series.objects.values_list("pk", flat=True))
    rule("mylab", "vendor")
    assert refile_by_label_rules() == 3
    assert filed() == {
        ("pf", "mylab"): {"r1": N, "r2": N},
        ("pf+VIMAGE", "mylab"): {"r303643": N},
    }
    assert set(Series.objects.values_list("pk", flat=True)) == before
    assert set(Mode.objects.values_list("name", flat=True)) == {"pf", "pf+VIMAGE"}
    assert refile_by_label_rules() == 0


def test_taking_the_rule_back_brings_the_runs_back() -> None:
    upload(of("mylab"), of("mylab", "13-r354862"))
    first, series = filed(), set(Series.objects.values_list("pk", flat=True))
    made = rule("mylab", "vendor")
    refile_by_label_rules()
    made.delete()
    refile_by_label_rules()
    assert filed() == first == {("pf+mylab", ""): {"r303643": 2 * N}}
    assert set(Series.objects.values_list("pk", flat=True)) == series
    assert not Variant.objects.exists()
    assert {run.as_sent and run.as_sent["mode"] for run in Run.objects.all()} == {
        None,
        "pf+13-r354862+mylab",
    }


def test_series_that_become_one_are_pooled_and_what_points_at_the_one_goes_over() -> None:
    upload(of("4nxq10g"), of("nxq10g=4", revision="r1"))
    one = Series.objects.get(mode__name="pf+4nxq10g")
    other = Series.objects.get(mode__name="pf+nxq10g=4")
    SeriesSettings.objects.create(series=one, margin_pct=3.0)
    rule("*nxq10g", "knob")
    assert refile_by_label_rules() == 1
    assert filed() == {("pf+nxq10g=4", ""): {"r303643": N, "r1": N}}
    assert list(Series.objects.all()) == [other]
    assert SeriesSettings.objects.get().series == other


def test_series_that_go_to_one_free_place_become_one() -> None:
    upload(of("mylab-1"), of("mylab-2", revision="r2"), of("mylab-3", revision="r3"))
    first = Series.objects.get(mode__name="pf+mylab-1")
    last = Series.objects.get(mode__name="pf+mylab-3")
    SeriesSettings.objects.create(series=last, margin_pct=3.0)
    rule("mylab-*", "vendor", name="mylab")
    assert refile_by_label_rules() == 3
    assert filed() == {("pf", "mylab"): {"r303643": N, "r2": N, "r3": N}}
    assert list(Series.objects.all()) == [first]
    assert SeriesSettings.objects.get().series == first


def test_two_series_may_change_places() -> None:
    upload(of("mylab-1"), of("mylab-2", revision="r2"))
    rule("mylab-1", "option", name="mylab-2")
    rule("mylab-2", "option", name="mylab-1")
    assert refile_by_label_rules() == 2
    assert filed() == {
        ("pf+mylab-2", ""): {"r303643": N},
        ("pf+mylab-1", ""): {"r2": N},
    }
    assert refile_by_label_rules() == 0


def test_of_a_series_only_the_runs_move_that_a_rule_of_their_lab_is_about() -> None:
    upload(of("mylab", hardware="a/b"))
    upload(of("mylab", hardware="c/d"), lab="another")
    rule("mylab", "vendor", lab=make.lab("another"))
    assert refile_by_label_rules() == 1
    rows = Run.objects.values_list("hardware__name", "mode__name", "variant__name")
    assert set(rows) == {("a/b", "pf+mylab", None), ("c/d", "pf", "mylab")}


def test_runs_of_one_series_part_where_only_some_are_of_an_image() -> None:
    LabelRule.objects.filter(of_image=True).update(is_active=False)
    upload(of("uma", revision="r1"), of("uma", revision="r2", image="2uma"))
    assert filed() == {("pf+uma", ""): {"r1": N, "r2": N}}
    LabelRule.objects.filter(of_image=True).update(is_active=True)
    assert refile_by_label_rules() == 1
    assert filed() == {("pf+uma", ""): {"r1": N}, ("pf", "uma"): {"r2": N}}


def test_what_was_found_in_a_series_that_becomes_a_variant_is_withdrawn_and_kept() -> None:
    upload(
        *(
            run_document(
                revision=f"r{n}",
                mode=mode("pf", "mylab"),
                samples=[1000 * value * (1 if n < 12 else 0.8) for value in FLAT],
            )
            for n in range(1, 24)
        )
    )
    analyse()
    assert Alert.objects.filter(is_active=True).count() == 1
    rule("mylab", "vendor")
    refile_by_label_rules()
    analyse()
    assert not Finding.objects.live().exists()
    assert not make.compared()
    assert Alert.objects.exists()
    assert not Alert.objects.filter(state=Alert.State.NEW, is_active=True).exists()
    assert Point.objects.of_variants().count() == 23


def test_a_withdrawn_run_is_filed_anew_and_stays_out() -> None:
    upload(of("mylab"))
    withdraw_run(run=Run.objects.get(), by=make.user(), reason="the fan was broken")
    rule("mylab", "vendor")
    refile_by_label_rules()
    assert Run.objects.get().variant == Variant.objects.get(name="mylab")
    assert filed() == {}


def test_the_direction_set_for_a_series_holds_on() -> None:
    upload(of("mylab"))
    Series.objects.update(own_better="less")
    rule("mylab", "vendor")
    refile_by_label_rules()
    assert Series.objects.get().better == "less"


def test_a_run_that_an_earlier_agent_sent_is_known_when_its_mode_has_a_variant_too() -> None:
    former = {"workload": "5", "traffic": None, "options": ["D12685", "hw.cxgbe.nXxq"]}
    upload(sent := run_document(mode=former, facts={}))
    assert set(filed()) == {("5+hw.cxgbe.nXxq", "D12685")}
    present = {
        "workload": "forwarding",
        "traffic": None,
        "options": ["D12685", "hw.cxgbe.nXxq=5"],
    }
    evidence = {"former_mode": "5+D12685+hw.cxgbe.nXxq"}
    recorded = upload(sent | {"mode": present, "evidence": evidence})
    assert recorded.refiled == set(recorded.known)
    assert set(filed()) == {("forwarding+hw.cxgbe.nXxq=5", "D12685")}
    assert upload(sent).known


def test_one_pattern_has_one_rule_of_a_lab_and_a_rule_is_checked() -> None:
    with pytest.raises(ValidationError, match="already exists"):
        LabelRule(pattern="VIMAGE", kind="vendor").full_clean()
    with pytest.raises(ValidationError, match=r"what \* stands for"):
        LabelRule(pattern="rx", kind="knob").full_clean()
