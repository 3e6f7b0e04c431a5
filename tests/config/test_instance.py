"""What STATE records of its instance."""

from pathlib import Path

import pytest
import redis

from webapp.config import instance


def test_what_is_written_is_read(tmp_path: Path) -> None:
    record = instance.Instance.at(tmp_path / "sockets").with_url("http://127.0.0.1:8001/")
    instance.write(tmp_path, record)
    assert instance.read(tmp_path) == record


def test_nothing_written_reads_as_the_usual_place(tmp_path: Path) -> None:
    assert instance.read(tmp_path).sockets == str(tmp_path / "sockets")


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"layout": 1, "novel": 2}'])
def test_a_damaged_record_is_refused_with_a_remedy(tmp_path: Path, damage: str) -> None:
    (tmp_path / instance.FILE_NAME).write_text(damage)
    with pytest.raises(instance.BadState, match=r"is damaged .* Remove this one file"):
        instance.read(tmp_path)


def test_another_layout_is_refused_even_with_fields_unknown_here(tmp_path: Path) -> None:
    (tmp_path / instance.FILE_NAME).write_text('{"layout": 2, "novel": 2}')
    with pytest.raises(instance.BadState, match="another version of Driftline"):
        instance.read(tmp_path)


def test_the_secret_key_is_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    instance.ensure_secret_key(tmp_path)
    key = instance.read_secret_key(tmp_path)
    instance.ensure_secret_key(tmp_path)
    assert instance.read_secret_key(tmp_path) == key
    assert len(key) >= 50
    assert (tmp_path / instance.KEY_NAME).stat().st_mode & 0o777 == 0o600


def test_celery_gets_the_socket_in_its_own_spelling() -> None:
    assert (
        instance.broker_url("unix:///run/redis.sock?db=3")
        == "redis+socket:///run/redis.sock?virtual_host=3"
    )
    assert instance.broker_url("redis://host/0") == "redis://host/0"


def test_a_redis_url_names_the_socket_even_with_odd_letters(tmp_path: Path) -> None:
    url = instance.Instance.at(tmp_path / "a b%c").redis_url
    client = redis.Redis.from_url(url)
    assert client.connection_pool.connection_kwargs["path"] == f"{tmp_path}/a b%c/redis.sock"


def test_a_rotated_key_leaves_the_former_ones_for_the_owner_only(tmp_path: Path) -> None:
    instance.ensure_secret_key(tmp_path)
    keys = [instance.read_secret_key(tmp_path)]
    for _ in range(instance.FORMER_KEYS_MOST + 1):
        key, former = instance.rotate_secret_key(tmp_path)
        assert instance.read_secret_key(tmp_path) == key
        assert instance.read_former_keys(tmp_path) == former == keys[: instance.FORMER_KEYS_MOST]
        keys.insert(0, key)
    assert (tmp_path / instance.FORMER_KEYS_NAME).stat().st_mode & 0o777 == 0o600
