"""The commands `labagent hardware list` and `labagent hardware add`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from labagent.cli_overrides import server_options
from labagent.errors import SettingsError
from labagent.settings import load_settings
from labagent.world import World


@click.group()
def hardware() -> None:
    """The machines a server knows."""


@hardware.command("list")
@server_options
@click.pass_obj
def list_hardware(world: World, *, server: str | None, token: str | None) -> None:
    """Print the hardware that the server knows, one a line."""
    settings = load_settings(world.environ, server=server, token=token)
    with world.connect(settings.need_server(), settings.token or "") as client:
        for one in client.hardware():
            click.echo("  ".join(filter(None, (one.get("name"), one.get("description")))))


@hardware.command("add")
@click.argument("name", metavar="HW/NIC")
@click.option("--description", default="", help="What a person should know about it.")
@click.option("--fact", "facts", metavar="NAME=VALUE", multiple=True, help="Such as cores=8.")
@server_options
@click.pass_obj
def add_hardware(
    world: World,
    name: str,
    *,
    description: str,
    facts: Sequence[str],
    server: str | None,
    token: str | None,
) -> None:
    """Make a machine known to the server."""
    settings = load_settings(world.environ, server=server, token=token)
    with world.connect(settings.need_server(), settings.need_token()) as client:
        client.add_hardware(name, description, dict(map(split_fact, facts)))
    click.echo(f"added {name}")


def split_fact(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``. Raises SettingsError without either."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise SettingsError(f"{text!r} is not a fact", "write NAME=VALUE, such as cores=8")
    return name, value
