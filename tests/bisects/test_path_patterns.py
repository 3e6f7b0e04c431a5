"""Patterns of paths that cannot matter."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webapp.bisects.path_patterns import PatternsError, read_patterns


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("share/man/", "share/man/man4/em.4", True),
        ("share/man/", "share/manual", False),
        ("share/man", "share/man", True),
        ("doc/", "sys/doc", False),
        ("*.md", "a/b/README.md", True),
        ("*.md", "a.md/b.c", True),
        ("*.md", "a/b.mdx", False),
        ("sys/**/tests", "sys/a/testsuite/x.c", False),
        ("**/tests/**/data", "a/tests/b/tests/c/data/d", True),
        ("sys/arm[0-9]*/", "sys/arm64/a.c", True),
        ("sys/arm?", "sys/arm64/a.c", False),
        ("Makefile", "makefile", False),
    ],
)
def test_a_pattern_matches_as_gitignore_does(pattern: str, path: str, matches: bool) -> None:
    (one,) = read_patterns(f"# a comment\n\n  {pattern}\n")
    assert one.matches(path) is matches
    assert covers(pattern, path) is matches


PARTS = st.lists(st.sampled_from(["a", "b", "a*", "*", "**"]), min_size=1, max_size=4)
PATHS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5)


@given(st.sampled_from(["", "/"]), PARTS, st.sampled_from(["", "/"]), PATHS)
def test_it_matches_as_a_search_through_all_directories_does(
    first: str, parts: list[str], last: str, path: list[str]
) -> None:
    pattern = f"{first}{'/'.join(parts)}{last}"
    assume(pattern.strip("*/"))
    (one,) = read_patterns(pattern)
    assert one.matches("/".join(path)) is covers(pattern, "/".join(path)), (pattern, path)


def covers(pattern: str, path: str) -> bool:
    """Whether the path or a directory above it is what the pattern names."""
    names, parts = pattern.strip("/").split("/"), path.split("/")
    starts = [0] if "/" in pattern.rstrip("/") else range(len(parts))
    ends = range(1, len(parts) + (not pattern.endswith("/")))
    return any(fits(names, parts[start:end]) for start in starts for end in ends if start < end)


def fits(names: list[str], parts: list[str]) -> bool:
    if not names:
        return not parts
    if names[0] == "**":
        return any(fits(names[1:], parts[at:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], names[0]) and fits(names[1:], parts[1:])


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
