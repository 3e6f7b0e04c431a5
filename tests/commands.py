"""Commands run in this process as a shell would run them: a process of its own costs a second."""

import io
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from tests.places import PROJECT


def run(
    main: Callable[[list[str]], int], *arguments: str, stdin: bytes = b"", cwd: Path = PROJECT
) -> CompletedProcess[bytes]:
    """Call ``main(arguments)`` with standard streams of its own; what it exits with and prints."""
    read, out, err = (io.TextIOWrapper(io.BytesIO(given), "utf-8") for given in (stdin, b"", b""))
    with patch.multiple(sys, stdin=read, stdout=out, stderr=err), chdir(cwd):
        try:
            code = main(list(arguments))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    printed = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        printed.append(stream.buffer.getvalue())
    return CompletedProcess(arguments, code, *printed)


def run_text(
    main: Callable[[list[str]], int], *arguments: str, stdin: str = ""
) -> CompletedProcess[str]:
    """The same with text."""
    done = run(main, *arguments, stdin=stdin.encode())
    return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
