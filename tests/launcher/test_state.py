"""The STATE directory and where its sockets are."""

import os
from pathlib import Path

import pytest

from webapp.launcher import StackError, UsageError, state


def test_a_short_path_keeps_its_sockets_inside(tmp_path: Path) -> None:
    assert state.sockets_directory(tmp_path, Path("/nowhere")) == tmp_path / "sockets"


def test_a_long_path_gets_a_private_directory_and_keeps_it(tmp_path: Path) -> None:
    deep = tmp_path / ("long" * 20)
    first = state.sockets_directory(deep, deep / "sockets")
    try:
        assert first.stat().st_mode & 0o777 == 0o700
        assert state.sockets_directory(deep, first) == first
        first.chmod(0o755)
        second = state.sockets_directory(deep, first)
        assert second != first
        second.rmdir()
    finally:
        first.rmdir()


@pytest.mark.parametrize("name", ["a\nb", 'a"b', "a ;b", "a #b"])
def test_a_path_that_no_configuration_can_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="choose a path without"):
        state.prepare(tmp_path / name)


def test_a_state_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StackError, match=r"STATE=.* cannot be used"):
        state.prepare(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_the_state_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, -1)
    with pytest.raises(StackError, match="belongs to another user"):
        state.prepare(tmp_path)


def test_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    with (
        state.locked(tmp_path, "http://one/"),
        pytest.raises(StackError, match="serves http://one/"),
        state.locked(tmp_path, "http://two/"),
    ):
        pass
    with state.locked(tmp_path, "http://two/"):
        pass
