"""Patterns of paths that cannot matter."""

import pytest

from webapp.bisects.path_patterns import PatternsError, read_patterns


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("share/man/", "share/man/man4/em.4", True),
        ("share/man/", "usr/share/man/em.4", False),
        ("share/man/", "share/manual", False),
        ("share/man", "share/man", True),
        ("doc/", "sys/doc/a.txt", True),
        ("doc/", "sys/doc", False),
        ("/doc/", "sys/doc/a.txt", False),
        ("/doc/", "doc/a.txt", True),
        ("*.md", "a/b/README.md", True),
        ("*.md", "a.md/b.c", True),
        ("*.md", "a/b.mdx", False),
        ("sys/*/conf", "sys/amd64/conf/GENERIC", True),
        ("sys/*/conf", "sys/a/b/conf/GENERIC", False),
        ("sys/**/tests", "sys/a/b/tests/x.c", True),
        ("sys/**/tests", "sys/tests/x.c", True),
        ("sys/**/tests", "sys/a/testsuite/x.c", False),
        ("**/tests/**/data", "a/tests/b/tests/c/data/d", True),
        ("sys/arm[0-9]*/", "sys/arm64/a.c", True),
        ("sys/arm?", "sys/arm64/a.c", False),
        ("Makefile", "makefile", False),
    ],
)
def test_a_pattern_matches_as_gitignore_says(pattern: str, path: str, matches: bool) -> None:
    (one,) = read_patterns(f"# a comment\n\n  {pattern}\n")
    assert one.matches(path) is matches


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("!sys/", "list only what cannot matter"),
        ("doc\\man", "separate directories by /"),
        ("*", "matches every path"),
        ("/**/*", "matches every path"),
        ("./doc", "from the top"),
        ("doc//man", "from the top"),
        ("doc/a**", "write * within a name"),
        ("x" * 301, "shorten it"),
    ],
)
def test_a_line_that_is_no_pattern_is_named_by_its_number(line: str, remedy: str) -> None:
    with pytest.raises(PatternsError) as caught:
        read_patterns(f"doc/\n{line}\n# fine\n!x\n")
    first, second = caught.value.problems
    assert first.startswith("Line 2: ")
    assert remedy in first
    assert second.startswith("Line 4: ")


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(PatternsError, match="at most 500"):
        read_patterns("doc\n" * 501)
