"""The `.info` file, its times, and the README.md of a directory."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.limits import FACTS_BYTES
from labagent.readers.benchlab import LONGEST_BULLET, MOST_BULLETS, read_readme, typed_facts
from labagent.readers.benchlab.drafts import Info, parse_info, parse_time

from agents.tests.make import HEAD_12, info_text, old_info_text


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Thu Sep 10 08:11:48 CEST 2015", "2015-09-10T08:11:48+02:00"),
        ("Tue Feb  2 17:25:28 CET 2016", "2016-02-02T17:25:28+01:00"),
        ("May  8, 2016 at 06:43:48 PM CEST", "2016-05-08T18:43:48+02:00"),
        ("February  3, 2016 at 12:33:24 AM CET", "2016-02-03T00:33:24+01:00"),
    ],
)
def test_a_time_becomes_aware(text, iso):
    assert parse_time(text).isoformat() == iso


@pytest.mark.parametrize(
    "text", ["", "Thu Sep 10 08:11:48 IST 2015", "Thu Sep 31 08:11:48 CET 2015"]
)
def test_a_time_that_could_be_wrong_is_unknown(text):
    assert parse_time(text) is None


def test_the_newer_notation_is_read_without_its_final_newline():
    text = info_text(image="317849VIMAGE", cfg="forwarding", pktgen="inet4")
    assert parse_info(text) == Info("317849VIMAGE", "forwarding", "inet4", HEAD_12)


def test_the_older_notation_names_its_files_by_paths():
    path = "/root/benchs/images.mbuf_cleanup//BSDRP-295150-upgrade-amd64-vga.img.xz"
    info = parse_info(old_info_text("pf-statefull", image=path))
    assert (info.image, info.cfg, info.uname, info.old) == ("295150", "pf-statefull", HEAD_12, True)
    assert info.started == "Thu Sep 10 08:11:48 CEST 2015"


def test_an_older_info_may_lack_an_image_and_its_times():
    info = parse_info(f"Image: none\nCFG: topic/config//8\n{HEAD_12}\n")
    assert info == Info(cfg="8", uname=HEAD_12, old=True)


def test_an_empty_info_gives_nothing_but_what_it_lacks():
    info = parse_info("")
    assert info == Info(old=True, doubts=info.doubts)
    assert info.doubts == (".info: no Image", ".info: no CFG")


def test_what_the_script_prints_behind_a_value_is_no_damage():
    command = 'DURING_CMD="pmcstat -z 100" (self-triggered on 192.168.1.1)'
    assert parse_info(f"{info_text(cfg='pf')}\n{command}\n").doubts == ()
    cut = parse_info(f"{info_text(cfg='pf')}\n{command[:20]}")
    assert cut.doubts == (".info: line 5 is cut: no closing quote",)


def test_lines_that_the_script_did_not_write_are_named():
    whole = old_info_text("pf")
    assert parse_info(whole.replace("CFG", f"{'x' * 2000}\nCFG")).doubts == (
        ".info: line 2 has more than 1024 characters",
    )
    assert parse_info(whole.replace("\n", "\r\n")).doubts == (
        ".info: line 1 holds a carriage return",
    )


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


def test_no_file_and_an_empty_one_show_nothing(tmp_path: Path) -> None:
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
