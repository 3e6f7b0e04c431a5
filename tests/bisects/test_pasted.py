"""Numbers that people paste."""

from datetime import timedelta

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Counts
from webapp.bisects import services
from webapp.bisects.draft import BisectError
from webapp.bisects.services.bisect_acts import read_boots


def test_a_line_is_a_boot_and_its_words_are_runs() -> None:
    assert read_boots("1148692.5 1.1e6\n\n# a remark\n990 # odd\n") == [[1148692.5, 1.1e6], [990.0]]


@pytest.mark.parametrize(
    "word", ["-", "-5", "nan", "inf", "0", "1,000", "12kpps", "1_000", "٣", "0x10"]
)
def test_what_is_no_number_above_0_is_refused_with_its_line(word: str) -> None:
    with pytest.raises(BisectError, match="Line 2: “"):
        read_boots(f"100\n{word}\n")


def test_nothing_is_refused() -> None:
    with pytest.raises(BisectError, match="Nothing was pasted"):
        read_boots(" \n# nothing\n")


def test_too_much_is_refused() -> None:
    with pytest.raises(BisectError, match="at most 50"):
        read_boots("1\n" * 51)


@pytest.mark.parametrize("word", ["1e308", "5e-324"])
def test_what_no_machine_measures_is_refused(word: str) -> None:
    with pytest.raises(BisectError, match=r"Line 1: .* is not in"):
        read_boots(word)


@pytest.mark.django_db
def test_a_count_of_zero_may_be_measured_again_but_not_pressed_twice() -> None:
    bisect = lab.start(Counts(), manual=True)
    pasted = {"revision": lab.revision(0), "actor": make.user("bob"), "text": "0 0 0"}

    assert services.paste_boots(bisect=bisect.pk, **pasted) == 1
    with pytest.raises(BisectError, match="taken in already"):
        services.paste_boots(bisect=bisect.pk, **pasted)
    for row in bisect.boots.filter(source="pasted"):
        row.at -= timedelta(minutes=2)
        row.save()
    assert services.paste_boots(bisect=bisect.pk, **pasted) == 1
    assert [row.values for row in bisect.boots.filter(source="pasted")] == [[0.0] * 3] * 2
