"""Names with words that were given up are refused."""

from pathlib import Path

import pytest

from tools.dropped_words import ALLOWED, DROPPED, TESTS, main, offences

BAD = '''
class Letter:
    """A class."""

    standing: bool = True

    def __init__(self, *, told: bool) -> None:
        self.held = told


def take_in_runs(first: int, *words: str) -> None:
    """A function."""
    held = first
    print(held, "a parcel", words)
'''


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "parcels.py").write_text(BAD)
    return tmp_path


def test_modules_classes_functions_parameters_and_fields_are_read(room: Path) -> None:
    lines = offences([room], {})
    assert [line.removeprefix(f"{room}/").split(": ")[:2] for line in lines] == [
        ["parcels.py:1", "parcels"],
        ["parcels.py:2", "Letter"],
        ["parcels.py:5", "Letter.standing"],
        ["parcels.py:7", "__init__.told"],
        ["parcels.py:8", "Letter.held"],
        ["parcels.py:11", "take_in_runs"],
        ["parcels.py:11", "take_in_runs.words"],
    ]


def test_a_module_named_for_several_jobs_is_refused_and_a_function_is_not(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text("def asking() -> None: ...")
    lines = offences([tmp_path], {})
    assert lines == [
        f"{tmp_path}/asking.py:1: asking: say job_requests, or poll_requests, not “asking”"
    ]


def test_an_offence_names_what_to_use_instead(room: Path) -> None:
    line = offences([room], {})[2]
    assert line.endswith(f"Letter.standing: {DROPPED['standing']}, not “standing”")


def test_a_made_up_bad_file_fails_the_check(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(room)]) == 1
    assert f"{room}/parcels.py:2: Letter: say message, not “letter”" in capsys.readouterr().out


def test_in_tests_words_of_speech_alone_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in map(Path, TESTS):
        folder.mkdir(parents=True)
        (folder / "asking.py").write_text("def test_a_parcel_is_told(held, said): ...\n")
        lines = offences([folder], {})
        assert [line.split(": ")[1] for line in lines] == [
            "test_a_parcel_is_told",
            "test_a_parcel_is_told.said",
        ]


def test_what_is_allowed_at_a_path_is_allowed_there_alone(room: Path) -> None:
    here = f"{room}/parcels.py"
    allowed = {(here, "Letter"): "a reason", (here, "told"): "a reason"}
    found = {line.split(": ")[1] for line in offences([room], allowed)}
    assert found == {"parcels", "Letter.standing", "Letter.held", "take_in_runs"} | {
        "take_in_runs.words"
    }
    elsewhere = {("webapp/", "Letter"): "a reason"}
    lines = offences([room], elsewhere)
    assert any(": Letter: " in line for line in lines)
    assert lines[-1] == "webapp/: Letter is allowed, but gone"


def test_what_is_allowed_has_a_reason() -> None:
    """That the repository keeps to it, `make check` finds."""
    assert all(ALLOWED.values())
