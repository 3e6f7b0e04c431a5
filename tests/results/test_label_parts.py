"""What a part of a label is: the rules that come with the program, and rules of one's own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.results.spellings import (
    BUILTIN_RULES,
    ModeName,
    PartRule,
    VariantPart,
    is_of_image,
    read_options,
    wrong_with_rule,
)

PARTS = st.text("aDr0123456789.-_=*[x", min_size=1, max_size=12)
RULES = st.builds(
    PartRule,
    PARTS,
    st.sampled_from(
        ["option", "knob", "workload", "traffic", "patch", "image", "vendor", "release"]
    ),
    st.just("") | PARTS,
    st.booleans(),
)


def read(mode: str, *rules: PartRule, image: str = "") -> tuple[str, str]:
    found = read_options(ModeName.parse(mode), rules or BUILTIN_RULES, image=image)
    return str(found.mode), found.variant


@pytest.mark.parametrize(
    ("sent", "image", "mode", "variant"),
    [
        ("pf+VIMAGE", "317849VIMAGE", "pf+VIMAGE", ""),
        ("pf+D12439", "HEAD120D12439", "pf", "D12439"),
        ("f@inet4+D12685+yandex", "325006yandexD12685", "f@inet4", "yandex+D12685"),
        ("f+Yandex", "", "f", "Yandex"),
        ("f+BSDRP.1.80.5k", "", "f", "BSDRP.1.80.5k"),
        ("f+D27401v4", "r368606D27401v4", "f", "D27401v4"),
        ("pf+ntxq10g+mbuf", "295150mbuf", "pf+ntxq10g", "mbuf"),
        ("pf+mbuf_cleanup", "", "pf", "mbuf_cleanup"),
        ("pf+uma", "295150uma", "pf", "uma"),
        ("pf+uma", "", "pf+uma", ""),
        ("pf+uma", "295150umas", "pf+uma", ""),
        ("pf+HEAD120", "HEAD120", "pf", "HEAD120"),
        ("pf+GENERIC+yandex", "GENERIC111yandex", "pf+GENERIC", "yandex"),
        ("pf+option-RSS.net.isr", "", "pf+option-RSS.net.isr", ""),
        ("pf+13-r354862", "", "pf", ""),
        ("pf+2016+20160802+2016-08-02", "", "pf", ""),
        ("pf+20000+2048", "", "pf+20000+2048", ""),
        ("pf+2-10+2M_leg-0to12M_dos+vti", "", "pf+2-10+2M_leg-0to12M_dos+vti", ""),
        ("forwarding+hw.igb.num_queues=4", "", "forwarding+hw.igb.num_queues=4", ""),
        ("forwarding", "295150mbuf", "forwarding", ""),
    ],
)
def test_the_rules_that_come_with_the_program(
    sent: str, image: str, mode: str, variant: str
) -> None:
    assert read(sent, image=image) == (mode, variant)


def test_the_first_rule_that_fits_decides() -> None:
    option, vendor = PartRule("yandex", "option"), PartRule("yandex", "vendor")
    assert read("pf+yandex", option, vendor) == ("pf+yandex", "")
    assert read("pf+yandex", vendor, option) == ("pf", "yandex")


def test_a_rule_may_call_a_part_otherwise() -> None:
    rule = PartRule("[Yy]andex*", "vendor", "yandex")
    assert read("pf+Yandex-2017", rule) == read("pf+yandex", rule) == ("pf", "yandex")


@pytest.mark.parametrize(
    ("pattern", "name", "part", "knob"),
    [
        ("*nxq10g", "", "4nxq10g", "nxq10g=4"),
        ("*nxq10g", "hw.cxgbe.nXxq", "4nxq10g", "hw.cxgbe.nXxq=4"),
        ("queues-*", "", "queues-8", "queues=8"),
        ("RAW.*rx", "rx", "RAW.16rx", "rx=16"),
        ("*nxq10g", "", "nxq10g", "nxq10g"),
        ("*", "queues", "queues=8", "queues=8"),
    ],
)
def test_a_knob_and_its_value(pattern: str, name: str, part: str, knob: str) -> None:
    assert read(f"pf+{part}", PartRule(pattern, "knob", name)) == (f"pf+{knob}", "")


def test_a_workload_takes_the_place_of_the_usual_one_and_leaves_any_other() -> None:
    rule = PartRule("ipsec", "workload")
    assert read("forwarding+ipsec", rule) == ("ipsec", "")
    assert read("null+ipsec", rule) == ("ipsec+null", "")


def test_traffic_does_not_take_the_place_of_traffic() -> None:
    rule = PartRule("inet?", "traffic")
    assert read("pf+inet6", rule) == ("pf@inet6", "")
    assert read("pf@inet4+inet6", rule) == ("pf@inet4+inet6", "")


def test_parts_that_a_document_names_come_first_in_their_order_and_once() -> None:
    parts = [VariantPart("patch", "D2", "ab" * 32), VariantPart("patch", "D1")]
    found = read_options(ModeName.parse("pf+D1111+D2"), [PartRule("D*", "patch")], parts=parts)
    assert found.variant == "D2=abababab+D1+D1111"


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        (PartRule("*", "image"), ""),
        (PartRule("*rx", "knob"), ""),
        (PartRule("rx", "knob"), "what \\* stands for"),
        (PartRule("r*x*", "knob"), "what \\* stands for"),
        (PartRule("[0-9]*rx", "knob"), "what \\* stands for"),
        (PartRule(" ", "option"), "write a pattern"),
        (PartRule("x", "option", "a b"), "no part of a mode"),
    ],
)
def test_a_rule_that_could_not_be_asked_is_reported(rule: PartRule, wrong: str) -> None:
    found = wrong_with_rule(rule)
    assert re.search(wrong, found) if wrong else found == ""


@pytest.mark.fuzz
@given(st.lists(PARTS, max_size=6), st.lists(RULES, max_size=6), PARTS)
def test_whatever_the_rules_are_a_mode_is_a_mode_and_each_part_is_of_one_side(
    parts: list[str], rules: list[PartRule], image: str
) -> None:
    sent = ModeName.of("pf", None, parts)
    found = read_options(sent, rules, image=image)
    assert ModeName.parse(str(found.mode)) == found.mode
    assert read_options(sent, rules, image=image) == found
    if not rules:
        assert (found.mode, found.parts) == (sent, ())


@pytest.mark.fuzz
@given(PARTS, PARTS)
def test_only_what_the_image_holds_is_of_the_image(part: str, image: str) -> None:
    assert not is_of_image(part, "")
    if is_of_image(part, image):
        assert part in image
