"""Both notations of the `.info` file."""

from labagent.readers.benchlab.info import Info, parse_info

from agents.tests.make import HEAD_12, info_text, old_info_text


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


def test_an_empty_info_says_nothing_but_what_it_lacks():
    info = parse_info("")
    assert info == Info(old=True, doubts=info.doubts)
    assert info.doubts == (".info: no Image", ".info: no CFG")


def test_what_the_script_says_behind_a_value_is_no_damage():
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
