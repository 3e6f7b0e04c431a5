"""What a run names of its commit is sent as read; its identity does not follow the filing."""

from __future__ import annotations

from dataclasses import replace

from labagent.limits import faults

from agents.tests.make import HEAD_12, bench, label_dir, read

COUNTED = (
    "FreeBSD router 14.0-CURRENT FreeBSD 14.0-CURRENT #0 n257521-97be6fced7d: "
    "Wed Aug 17 2022 olivier@lame4:/usr/obj/usr/src/amd64.amd64/sys/amd64 amd64"
)
HASHED = HEAD_12.replace("r317849", "e30bf1a(master)")


def test_kernel_image_and_label_are_sent_as_they_were_read(tmp_path):
    label = label_dir(tmp_path, "fbsd14-n277567-D33658")
    bench(label, "n277567D33658.pf", image="n277567D33658", cfg="pf", uname=COUNTED)
    (run,) = read(tmp_path)
    assert run.revision == "n277567"
    assert run.document()["evidence"] == {
        "label": "fbsd14-n277567-D33658",
        "image": "n277567D33658",
        "directory": "Atom_C2558_4Cores/Intel_i350/firewalls/fbsd14-n277567-D33658",
        "kernel_hash": "97be6fced7d",
        "kernel_revision": "n257521",
        "image_revision": "n277567",
        "label_revision": "n277567",
    }
    assert faults(run.document()) == []


def test_a_kernel_that_names_only_a_hash_names_no_number(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r309257"), "pf", cfg="pf", uname=HASHED)
    evidence = read(tmp_path)[0].document()["evidence"]
    assert evidence["kernel_hash"] == "e30bf1a"
    assert "kernel_revision" not in evidence
    assert evidence["label_revision"] == "r309257"


def test_without_an_info_the_kernel_is_unknown(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r309257"), "pf", cfg="pf", info=None)
    evidence = read(tmp_path)[0].document()["evidence"]
    assert sorted(evidence) == ["directory", "label", "label_revision"]


def test_without_an_info_the_other_runs_of_the_image_show_which_kernel_ran(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r309257")
    bench(label, "pf", cfg="pf", uname=HEAD_12)
    bench(label, "ipfw", [1.0, 2.0, 3.0], info=None)
    ipfw, pf = read(tmp_path)
    for run in (pf, ipfw):
        assert run.evidence.kernel_revision == "r317849"
        assert run.revision == "r309257"
    assert "no .info: kernel taken from the other runs of the directory" in ipfw.warnings


def test_without_an_info_other_images_and_runs_that_disagree_show_nothing(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r309257")
    bench(label, "317849.pf", image="317849", cfg="pf")
    bench(label, "309257.pf", [1.0, 2.0, 3.0], info=None)
    one, _ = read(label)
    assert (one.facts["image"], one.evidence.kernel_revision) == ("309257", "")
    other = label_dir(tmp_path, "fbsd12-head.r309258")
    bench(other, "pf", cfg="pf")
    bench(other, "ipf", [2.0, 2.0, 3.0], cfg="ipf", uname=HASHED)
    bench(other, "ipfw", [3.0, 2.0, 3.0], info=None)
    assert [run.evidence.kernel_revision for run in read(other)] == ["", "", "r317849"]


def test_a_hash_that_the_kernel_names_beside_its_number_is_no_other_revision(tmp_path):
    label = label_dir(tmp_path, "fbsd14-main.97be6fced7d")
    bench(label, "97be6fced7d.pf", image="97be6fced7d", cfg="pf", uname=COUNTED)
    bench(label, "87be6fced7d.pf", [1.0, 2.0, 3.0], image="87be6fced7d", cfg="pf", uname=COUNTED)
    other, own = read(tmp_path)
    assert own.warnings == ()
    assert other.warnings == ("the kernel names n257521, image or label 87be6fced7d",)


def test_a_revision_that_is_given_is_the_only_one_and_the_identity_stays(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf", cfg="pf")
    (plain,) = read(tmp_path)
    (given,) = read(tmp_path, revision="12.0-RELEASE", position=7)
    document = given.document()
    assert (document["revision"], document["position"]) == ("12.0-RELEASE", 7)
    assert sorted(document["evidence"]) == ["directory", "label"]
    assert given.uuid == plain.uuid


def test_a_directory_without_a_revision_is_read_when_one_is_given(tmp_path):
    bench(label_dir(tmp_path, "fbsd10"), "pf", cfg="pf", uname="")
    assert not read(tmp_path)
    (run,) = read(tmp_path, revision="10.1-RELEASE", tree="freebsd-releng-10.1")
    assert run.revision == "10.1-RELEASE"


def test_whom_to_believe_is_sent(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r300000"), "pf", cfg="pf")
    assert read(tmp_path, trust="kernel")[0].document()["evidence"]["trust"] == "kernel"


def test_evidence_past_the_servers_limits_is_found_before_it_is_sent(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r300000"), "pf", cfg="pf")
    run = read(tmp_path)[0]
    wrong = replace(run.evidence, kernel_hash="XYZ", label="x" * 301)
    found = faults(replace(run, evidence=wrong).document())
    assert [fault.path for fault in found] == ["evidence.label", "evidence.kernel_hash"]
