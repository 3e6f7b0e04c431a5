"""Columns of numbers as text: exact, and nothing else is read."""

import json
import math

import pytest

from webapp.stats.changes.online_state import pack, pack_data, unpack, unpack_data


def test_numbers_come_back_bit_by_bit():
    numbers = [0.1, -0.0, 1 / 3, 5e-324, 1.7e308, -1.0]

    read = unpack(json.loads(json.dumps(pack(numbers))))

    assert [one.hex() for one in read] == [one.hex() for one in numbers]
    assert math.copysign(1.0, read[1]) == -1.0
    assert unpack(pack([])) == []


@pytest.mark.parametrize("text", ["AAAA", "not base64!", "[1.0, 2.0]"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        unpack(text)


def test_data_comes_back_as_json_would_return_it():
    data = [[0.1, "é", None, {"a": [1, 2**60]}], []]

    text = pack_data(data)

    assert unpack_data(json.loads(json.dumps(text))) == data
    assert json.dumps(text) == f'"{text}"'


@pytest.mark.parametrize("text", ["AAAA", "not base64!", pack([1.0])])
def test_other_data_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        unpack_data(text)
