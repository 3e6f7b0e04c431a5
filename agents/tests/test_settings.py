"""Settings: options before the environment before the file."""

from __future__ import annotations

import pytest
from labagent.errors import SettingsError
from labagent.settings import load_settings


@pytest.fixture
def config(tmp_path):
    return tmp_path / "config.toml"


def test_an_option_wins_over_the_environment_and_that_over_the_file(config):
    config.write_text('server = "https://file.test"\ntoken = "filed"\n')
    environ = {"DRIFTLINE_CONFIG": str(config), "DRIFTLINE_SERVER": "https://env.test"}
    settings = load_settings(environ)
    assert (settings.server, settings.token) == ("https://env.test", "filed")
    assert load_settings(environ, server="https://given.test").server == "https://given.test"


def test_nothing_given_is_asked_for_with_all_the_ways_to_give_it(config):
    settings = load_settings({"DRIFTLINE_CONFIG": str(config)})
    with pytest.raises(SettingsError, match=r"--server.*DRIFTLINE_SERVER.*config.toml"):
        settings.need_server()
    with pytest.raises(SettingsError, match=r"--token.*DRIFTLINE_TOKEN.*create_agent"):
        settings.need_token()


@pytest.mark.parametrize("server", ["driftline.test", "ftp://driftline.test", "https://"])
def test_what_is_no_address_is_refused(config, server):
    settings = load_settings({"DRIFTLINE_CONFIG": str(config)}, server=server)
    with pytest.raises(SettingsError, match="https://host/"):
        settings.need_server()


def test_servers_have_spools_of_their_own(config):
    environ = {"DRIFTLINE_CONFIG": str(config), "DRIFTLINE_SPOOL": "/spool"}
    spools = {
        load_settings(environ, server=server).server_spool
        for server in ("https://a.test", "https://a.test/", "http://a.test", "https://a.test:8443")
    }
    assert len(spools) == 3


@pytest.mark.parametrize("text", ["server = ", 'servr = "x"', "token = 5", "\xff"])
def test_a_configuration_that_is_not_understood_is_refused(config, text):
    config.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"config\.toml"):
        load_settings({"DRIFTLINE_CONFIG": str(config)})
