"""Typed reading of environment variables."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.variables import VARIABLES
from webapp.config import settings
from webapp.config.environment import Environment


def test_an_empty_variable_counts_as_unset() -> None:
    assert Environment({"DRIFTLINE_X": ""}).text("DRIFTLINE_X", "default") == "default"


def test_a_file_may_hold_the_value(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    assert Environment({"KEY_FILE": str(tmp_path / "key")}).text("KEY") == "secret"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE=/nowhere/key: the file cannot be"):
        Environment({"KEY_FILE": "/nowhere/key"}).text("KEY")


@pytest.mark.parametrize("written", ["1", "true", "Yes", "ON"])
def test_a_flag_has_several_spellings(written: str) -> None:
    assert Environment({"X": written}).flag("X", default=False)


@pytest.mark.parametrize("written", ["zero", "-1", "1.5", "11"])
def test_a_number_out_of_range_is_refused_with_the_range(written: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"X={written}: a whole number from 0 to 10"):
        Environment({"X": written}).number("X", default=1, least=0, most=10)


def test_a_choice_is_refused_with_the_choices() -> None:
    with pytest.raises(ImproperlyConfigured, match="X=c: one of a, b is needed"):
        Environment({"X": "c"}).choice("X", default="a", choices=("a", "b"))


def test_a_refused_url_keeps_its_password_to_itself() -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        Environment({"DATABASE_URL": "mysql://me:hunter2@host/db"}).database(
            "DATABASE_URL", default=""
        )
    assert "postgresql://" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_a_database_url_needs_a_name() -> None:
    with pytest.raises(ImproperlyConfigured, match="names no database"):
        Environment({"URL": "postgresql://host/"}).database("URL", default="")


def test_the_case_of_a_socket_directory_survives() -> None:
    database = Environment({}).database("URL", default="postgresql://me@//Tmp/A%20b/driftline")
    assert (database["HOST"], database["NAME"]) == ("/Tmp/A b", "driftline")


def test_a_misspelt_variable_is_refused_with_the_nearest_name() -> None:
    environment = Environment({"DRIFTLINE_WEB_THREAD": "8"})
    environment.number("DRIFTLINE_WEB_THREADS", default=4, least=1, most=64)
    with pytest.raises(ImproperlyConfigured, match="Did you mean DRIFTLINE_WEB_THREADS"):
        environment.refuse_unknown(others=())


def test_variables_of_other_programs_are_let_alone() -> None:
    Environment({"PATH": "/bin", "DRIFTLINE_TOKEN": "x"}).refuse_unknown(others=["DRIFTLINE_TOKEN"])


def test_every_variable_is_documented() -> None:
    only_in_compose = {"DRIFTLINE_TLS"}
    assert {*settings._env.defaults, *only_in_compose} == set(VARIABLES)
