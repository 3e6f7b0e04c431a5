"""`uname -a` → release, revision, tree, build."""

import pytest
from labagent.readers.benchlab.kernel import parse_uname, tree_of

from agents.tests.make import HEAD_12, REPRODUCIBLE_16

BUILT = ": Sat May  6 00:18:48 CEST 2017     root@host:/usr/obj/src/sys/amd64  amd64"


def uname(release, version):
    return parse_uname(f"FreeBSD hp {release} FreeBSD {release} {version}")


@pytest.mark.parametrize(
    ("version", "revision"),
    [
        (f"#0 r322489M{BUILT}", "r322489"),
        (" r325458  amd64", "r325458"),
        (f"#0 n257521-97be6fced7d-dirty{BUILT}", "n257521"),
        (f"#0 main-n268154-0123456789ab{BUILT}", "n268154"),
        (f"#3 c255632-0123456789ab{BUILT}", "c255632"),
        (" 342b303(master)-dirty  amd64", "342b303"),
        (f"#1 r299108:299110MS{BUILT}", "r299108"),
        ("BSDRP-AMD64  amd64", None),
        (f"#0{BUILT}", None),
        ("#0: Sat May  6 00:18:48 CEST 2017     root@5e2650a1b2c:/usr/obj  amd64", None),
    ],
)
def test_the_revision_is_read_as_people_write_it(version, revision):
    assert uname("12.0-CURRENT", version).revision == revision


@pytest.mark.parametrize(
    ("release", "tree"),
    [
        ("12.0-CURRENT", "freebsd-head"),
        ("11.0-ALPHA6", "freebsd-head"),
        ("11.1-PRERELEASE", "freebsd-stable-11"),
        ("11.1-BETA1", "freebsd-stable-11"),
        ("11.0-BETA2", "freebsd-stable-11"),
        ("13.2-STABLE", "freebsd-stable-13"),
        ("11.1-RC3", "freebsd-releng-11.1"),
        ("10.3-RELEASE", "freebsd-releng-10.3"),
        ("10.2-RELEASE-p8", "freebsd-releng-10.2"),
    ],
)
def test_the_tree_follows_from_the_kernels_own_name(release, tree):
    assert uname(release, "r322489M  amd64").tree == tree


def test_an_unknown_stage_has_no_tree():
    assert tree_of(12, 0, "VENDOR") is None


def test_a_kernel_of_another_system_has_neither_tree_nor_build():
    kernel = parse_uname("Linux box 6.1.0 #1 SMP x86_64 GNU/Linux")
    assert (kernel.tree, kernel.revision, kernel.build) == (None, None, None)


def test_a_build_is_the_version_string_without_the_machine_it_ran_on():
    other_machine = HEAD_12.replace("netgate", "apu2")
    assert parse_uname(HEAD_12).build == parse_uname(other_machine).build
    assert "Sat May 6 00:18:48 CEST 2017" in parse_uname(HEAD_12).build


def test_a_kernel_without_a_build_date_does_not_identify_its_build():
    assert parse_uname(REPRODUCIBLE_16).build is None
    assert uname("12.0-CURRENT", " r325458  amd64").build is None
