"""Only regular files, and none larger than any real one."""

from __future__ import annotations

import os
import socket

import pytest
from labagent.files import UnreadFileError, numbered_lines, read_file, read_head


def test_a_file_is_read_up_to_the_limit(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(UnreadFileError, match=r"log: has 5 bytes, more than the 4 bytes"):
        read_file(path, 4)


def test_a_sparse_file_of_gigabytes_is_refused_by_its_size(tmp_path):
    path = tmp_path / "bench.1.receiver"
    with path.open("wb") as file:
        file.truncate(6 * 1024**3)
    with pytest.raises(UnreadFileError, match=r"bench\.1\.receiver: has 6\.0 GiB, more than"):
        read_file(path)
    assert read_head(path, 10) == bytes(10)


def test_what_is_no_file_is_never_opened(tmp_path):
    fifo, server = tmp_path / "fifo", tmp_path / "socket"
    os.mkfifo(fifo)  # to open it would wait for a writer
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(server))
        for path in (fifo, server, tmp_path, tmp_path / "absent"):
            with pytest.raises(UnreadFileError, match=r"no regular file|cannot be read"):
                read_file(path)
    with pytest.raises(UnreadFileError, match="no regular file"):
        read_file(type(tmp_path)("/dev/zero"))


def test_lines_are_numbered_from_one_whatever_ends_them():
    assert list(numbered_lines(b"a\r\n\nb\x0cc\n\xff")) == [
        (1, b"a"),
        (2, b""),
        (3, b"b\x0cc"),
        (4, b"\xff"),
    ]
