"""The bullets of a README, sent as typed facts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.limits import FACTS_BYTES
from labagent.readers.benchlab.info import LONGEST_BULLET, MOST_BULLETS, read_readme, typed_facts

SAMPLE = """\
Impact of enabling VIMAGE
  - Netgate RCC-VE 4860 (4 cores Intel Atom C2558E)
  - Quad port Intel i350
  - 2000 flows of smallest UDP packets
  - 2 static routes
  * `net.inet.ip.redirect=0`
  - BIOS: 1.2b of 2015

[graph](bench.svg)
  - [flame graph](x.svg)
```
x pps.1
* pps.3
```
"""


def test_bullets_become_typed_facts() -> None:
    assert typed_facts(SAMPLE) == {
        "cpu": "Netgate RCC-VE 4860 (4 cores Intel Atom C2558E)",
        "nic": "Quad port Intel i350",
        "routes": "2 static routes",
        "bios": "1.2b of 2015",
        "sysctl": {"net.inet.ip.redirect": "0"},
        "bullets": ["2000 flows of smallest UDP packets"],
    }


def test_the_first_bullet_of_a_kind_counts_and_the_others_stay_bullets() -> None:
    text = "- CPU: AMD GX-412TC\n- Xeon E5 of the generator\n- NIC: 3x Intel i210AT (igb)\n"
    assert typed_facts(text) == {
        "cpu": "AMD GX-412TC",
        "nic": "3x Intel i210AT (igb)",
        "bullets": ["Xeon E5 of the generator"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "Dell PowerEdge R630 with 2 Intel E5-2650 v4 2.2GHz (2x12 cores)",
        "Dell PowerEdge R630 with 2 Intel E5-2697A",
        "Intel E5440",
        "Intel i7-6700",
        "Intel X5650",
        "Intel D-1541",
    ],
)
def test_a_processor_is_no_nic(text: str) -> None:
    assert typed_facts(f"- {text}\n- Chelsio T540-CR") == {"cpu": text, "nic": "Chelsio T540-CR"}


@pytest.mark.parametrize(
    "model", ["i210AT", "i350-T4", "82599EB", "82580", "X520-DA2", "XL710", "XXV710", "E810-C"]
)
def test_a_nic_of_a_vendor_of_processors_is_a_nic(model: str) -> None:
    text = f"Dual port Intel {model}"
    assert typed_facts(f"- {text}") == {"nic": text}


def test_a_sentence_with_a_setting_in_it_is_a_bullet() -> None:
    assert typed_facts("- `simple_tx_on`: `dev.igb.0.iflib.simple_tx=1` in loader.conf") == {
        "bullets": ["simple_tx_on: dev.igb.0.iflib.simple_tx=1 in loader.conf"]
    }


def test_no_file_and_an_empty_one_tell_nothing(tmp_path: Path) -> None:
    assert read_readme(tmp_path).typed == {}
    (tmp_path / "README.md").write_text("")
    assert (read_readme(tmp_path).typed, read_readme(tmp_path).problem) == ({}, "")


def test_a_long_file_is_read_in_part(tmp_path: Path) -> None:
    bullets = "".join(f"- {'x' * 1000} {number}\n" for number in range(1000))
    (tmp_path / "README.md").write_text(bullets)
    found = read_readme(tmp_path).typed["bullets"]
    assert len(found) == MOST_BULLETS
    assert {len(one) for one in found} == {LONGEST_BULLET}


@given(st.text(max_size=2000))
def test_any_text_is_read(text: str) -> None:
    found = typed_facts(text)
    assert len(str(found)) < FACTS_BYTES / 2
