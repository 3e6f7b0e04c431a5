"""The command as a shell runs it: its bytes, its messages and its exit codes."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.commands import run
from webapp.stats.ministat.__main__ import main

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "webapp.stats.ministat"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

A = "1\n2\n3\n"
B = "101\n102\n103\n"


def ministat(*arguments: str, stdin: bytes | str = b"", cwd: Path = ROOT):
    text = stdin.encode() if isinstance(stdin, str) else stdin
    return run(main, *arguments, stdin=text, cwd=cwd)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "a").write_text(A)
    (tmp_path / "b").write_text(B)
    (tmp_path / "columns.csv").write_text("# n,pps\nx,1\nx,2\nx,3\n")
    return tmp_path


def refused(result, *reasons: str) -> None:
    assert result.returncode == 2
    assert result.stdout == b""
    for reason in reasons:
        assert reason in result.stderr.decode()


def test_two_files_are_compared(lab: Path) -> None:
    result = ministat("-w", "20", "a", "b", cwd=lab)
    assert result.returncode == 0
    assert result.stderr == b""
    assert result.stdout.decode() == (
        "x a\n"
        "+ b\n"
        "+--------------------+\n"
        "|x                  +|\n"
        "|x                  +|\n"
        "|x                  +|\n"
        "|A                  A|\n"
        "+--------------------+\n"
        "    N           Min           Max        Median           Avg        Stddev\n"
        "x   3             1             3             2             2             1\n"
        "+   3           101           103           102           102             1\n"
        "Difference at 95.0% confidence\n"
        "\t100 +/- 2.26659\n"
        "\t5000% +/- 4087.73%\n"
        "\t(Student's t, pooled s = 1)\n"
    )


def test_without_files_standard_input_is_read_by_its_name() -> None:
    assert ministat("-A", stdin=A).stdout.startswith(b"x <stdin>\n    N")


def test_a_dash_is_standard_input(lab: Path) -> None:
    assert ministat("-A", "a", "-", stdin=B, cwd=lab).stdout.startswith(b"x a\n+ -\n    N")


def test_options_can_be_joined_and_carry_their_argument(lab: Path) -> None:
    apart = ministat("-A", "-q", "-c", "80", "a", "b", cwd=lab)
    joined = ministat("-Aqc80", "--", "a", "b", cwd=lab)
    assert apart.stdout == joined.stdout
    assert b"at 80.0% confidence" in joined.stdout


def test_columns_and_delimiters_choose_what_is_read(lab: Path) -> None:
    result = ministat("-qn", "-C2", "-d,", "columns.csv", cwd=lab)
    assert result.stdout.split() == [b"x", b"3", b"1", b"3", b"2", b"2", b"1"]


def test_line_ends_of_other_systems_and_comments_are_read() -> None:
    assert ministat("-qn", stdin="# pps\r\n1 # first\r\n2\r\n3\r\n").stdout.startswith(b"x   3")


def test_bars_can_have_a_row_each(lab: Path) -> None:
    shared, apart = ministat("a", "b", cwd=lab), ministat("-s", "a", "b", cwd=lab)
    assert len(apart.stdout.splitlines()) == len(shared.stdout.splitlines()) + 1


def test_bytes_of_a_file_name_are_printed_as_they_are(lab: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (lab / name).write_text(A)
    assert ministat("-A", name, cwd=lab).stdout.startswith(b"x caf\xe9\n")


def test_a_bad_line_is_named() -> None:
    result = ministat(stdin="1\n2\nthree\n")
    refused(result)
    assert result.stderr == b"ministat: Invalid data on line 3 in <stdin>\n"


@pytest.mark.parametrize("value", ["nan", "inf", "-INFINITY", "1e999"])
def test_values_that_are_not_finite_are_bad_data(value: str) -> None:
    refused(ministat(stdin=f"1\n{value}\n3\n"), "Invalid data on line 2 in <stdin>")


def test_two_points_are_too_few(lab: Path) -> None:
    result = ministat("-", "a", stdin="1\n2\n", cwd=lab)
    refused(result)
    assert result.stderr == b"Dataset - must contain at least 3 data points\n"


def test_a_missing_file_is_named_before_any_file_is_read(lab: Path) -> None:
    (lab / "bad").write_text("bad\n")
    refused(ministat("bad", "gone", cwd=lab), "ministat: Cannot open gone: No such file")


def test_a_directory_is_not_a_file(lab: Path) -> None:
    refused(ministat(".", cwd=lab), "ministat: Cannot open .: Is a directory")


def test_seven_files_are_compared_and_eight_refused(lab: Path) -> None:
    assert ministat("-A", *["a"] * 7, cwd=lab).stdout.count(b"No difference proven") == 6
    refused(ministat(*["a"] * 8, cwd=lab), "8 files: at most 7", "usage: ministat")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-C", "0"], ["-C", "-1"], ["-C", "1.5"], ["-C", "two"], ["-C", ""],
        ["-c", "97"], ["-c", "95x"], ["-c", ""], ["-c", "0.95"],
        ["-w", "1"], ["-w", "0"], ["-w", "-5"], ["-w", "wide"], ["-w", "1e2"],
        ["-d", ""], ["-z"], ["-C"], ["--help"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_misuse_is_refused_with_a_reason_and_the_usage(arguments: list[str]) -> None:
    result = ministat(*arguments, stdin=A)
    refused(result, "usage: ministat")
    assert result.stderr.startswith(b"ministat: ")


def test_the_level_may_be_written_as_any_number() -> None:
    assert ministat("-A", "-c", "99.50", stdin=A).returncode == 0


def test_on_a_terminal_the_plot_is_as_wide_as_columns(lab: Path) -> None:
    assert plot_width_on_a_terminal(lab, {"COLUMNS": "33"}) == 33
    assert plot_width_on_a_terminal(lab, {}) == 50 - 2
    assert plot_width_on_a_terminal(lab, {"COLUMNS": "wide"}) == 50 - 2


def plot_width_on_a_terminal(lab: Path, extra: dict[str, str]) -> int:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 50, 0, 0))
    environment = {name: v for name, v in ENVIRONMENT.items() if name != "COLUMNS"} | extra
    subprocess.run([*COMMAND, "a"], stdout=theirs, cwd=lab, env=environment, check=True)
    os.close(theirs)
    printed = os.read(ours, 65536).decode()
    os.close(ours)
    return printed.splitlines()[1].count("-")


def test_a_reader_that_leaves_early_causes_no_complaint(lab: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        result = subprocess.run(
            [*COMMAND, "a"],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=lab,
            env=ENVIRONMENT,
            check=False,
        )
    assert result.stderr == b""


def test_the_command_loads_neither_django_nor_celery_nor_numpy() -> None:
    code = (
        "import sys, webapp.stats.ministat as m; m.render([('a', [1, 2, 3]), ('b', [2, 3, 4])]);"
        "print({'django', 'celery', 'numpy', 'scipy'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=ROOT, env=ENVIRONMENT, check=True
    )
    assert result.stdout.decode().strip() == "set()"
