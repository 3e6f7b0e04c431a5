"""Each command that the documentation prints is there, with the options that it is shown with."""

import argparse
import getopt
import importlib.util
import re
import runpy
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from django.core.management import CommandError, get_commands, load_command_class
from labagent.cli import cli

from tests.documented import PAGES, Block, Command, blocks, commands, inline
from tests.places import PROJECT

# What other programs do is theirs to check. A word that is neither here nor one of ours fails.
OTHERS = {
    *("cat", "cd", "curl", "cut", "echo", "for", "printf", "sed", "head", "tr"),
    *("docker", "git", "openssl", "pip", "pkg", "systemctl", "tar"),
    *("supervisorctl", "pre-commit"),
}
OTHER_MODULES = {"pytest", "venv"}
OURS = ("make", "python", "labagent", "manage.py")
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
MINISTAT = "webapp.stats.ministat"  # reads its options by getopt, as the original does


REFUSALS = (
    AssertionError,
    SystemExit,
    CommandError,
    click.ClickException,
    getopt.GetoptError,
)


class Parsed(Exception):
    """The arguments were read; carries the parser. Nothing else of the program is to run."""


def program(command: Command) -> str:
    """The name of the program without its directory or version."""
    return re.sub(r"(?<=python)[\d.]+$", "", command.words[0].rpartition("/")[2])


def shown() -> list[Command]:
    """What a shell would run: all of `sh` blocks, and of other blocks the lines that are ours."""
    found = []
    for page in PAGES:
        for block in blocks(page):
            if block.language == "sh":
                found += list(commands(block))
            elif not block.language:
                found += [one for one in commands(_only_ours(block)) if program(one) in OURS]
    return found


def mentioned() -> list[Command]:
    """Commands of ours within lines: `make up PORT=8001`, `labagent doctor`."""
    found = []
    for page in PAGES:
        for code in inline(page, "code_inline"):
            one = Block(page, 0, "", code.content)
            if re.match(r"(make|labagent|(\S*python )?manage\.py|\S*python -m) [\w.-]+", one.text):
                found += list(commands(one))
    return found


def _only_ours(block: Block) -> Block:
    """Drawings, units and programs in other languages are no shell's."""
    ours = re.compile(rf"(\S*/)?({'|'.join(OURS)})\S* \S")
    lines = [line for line in block.text.splitlines() if ours.match(line)]
    return Block(block.page, block.line, "", "\n".join(lines))


def make(command: Command) -> None:
    """The target is there, and so is each variable."""
    words = command.words[1:]
    for name in (word.partition("=")[0] for word in words if "=" in word):
        assert re.search(rf"^{name} \?=", MAKEFILE, re.MULTILINE), f"no variable {name}"
    for target in (word for word in words if "=" not in word):
        assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.MULTILINE), f"no target {target}"


def manage(arguments: list[str], optional: tuple[str, ...], *, whole: bool) -> None:
    """The command of Django is there and reads these arguments."""
    name, *rest = arguments
    known = get_commands()
    assert name in known, f"no command {name}"
    app = known[name]
    loaded = load_command_class(app, name) if isinstance(app, str) else app
    parser = loaded.create_parser("manage.py", name)
    if whole:
        parser.parse_args(rest)
    has_options(parser, (*rest, *optional))


def has_options(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> None:
    """Each word that looks like an option is one of the parser's."""
    known = set(parser._option_string_actions)
    assert {word.partition("=")[0] for word in words if _is_option(word)} <= known


def _is_option(word: str) -> bool:
    return re.match(r"--?[A-Za-z]", word) is not None


def module(
    name: str,
    arguments: list[str],
    optional: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    *,
    whole: bool,
) -> None:
    """The module can be run, and its parser reads these arguments."""
    if name in OTHER_MODULES:
        return
    assert importlib.util.find_spec(name), f"no module {name}"
    words = (*arguments, *optional)
    if name == MINISTAT:
        getopt.getopt([word for word in words if _is_option(word)], "ACcdnqsw")
    elif any(map(_is_option, words)):
        parser = parser_of(name, arguments if whole else None, monkeypatch)
        has_options(parser, words)


def parser_of(
    name: str, arguments: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> argparse.ArgumentParser:
    """Run the module until it has read `arguments`, if any, and no further."""
    read = argparse.ArgumentParser.parse_args

    def parse_args(self: argparse.ArgumentParser, *given: Any, **named: Any) -> None:
        if arguments is not None:
            read(self, arguments)
        raise Parsed(self)

    kept = {each: signal.getsignal(each) for each in (signal.SIGPIPE, signal.SIGINT)}
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "found in sys.modules", from runpy
        patch.setattr(sys, "argv", [name])
        patch.setattr(argparse.ArgumentParser, "parse_args", parse_args)
        with pytest.raises(Parsed) as stopped:
            runpy.run_module(name, run_name="__main__")
    for number, handler in kept.items():
        signal.signal(number, handler)
    parser: argparse.ArgumentParser = stopped.value.args[0]
    return parser


def labagent(arguments: list[str], optional: tuple[str, ...], *, whole: bool) -> None:
    """The subcommand is there and reads these arguments."""
    context = click.Context(cli, info_name="labagent")
    found: click.Command = cli
    while isinstance(found, click.Group) and arguments:
        _, inner, arguments = found.resolve_command(context, arguments)
        assert inner is not None
        found = inner
    if whole:
        found.make_context(found.name, list(arguments))
    known = {name for one in found.params for name in (*one.opts, *one.secondary_opts)}
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    assert {word for word in (*own, *optional) if _is_option(word)} <= {*known, "--help"}


def without_options_of_run(words: list[str]) -> list[str]:
    """The service and what is run there."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("-T", "--rm", "--no-deps", action="store_true", dest="plain")
    parser.add_argument("--user")
    parser.add_argument("--volume")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    rest: list[str] = parser.parse_args(words).rest
    return rest


def check(command: Command, monkeypatch: pytest.MonkeyPatch, *, whole: bool) -> None:
    """Fail where the command could not run; `whole`: it stands there with all it needs."""
    name, arguments = program(command), list(command.words[1:])
    if name == "docker" and arguments[:2] in (["compose", "exec"], ["compose", "run"]):
        service, *inner = without_options_of_run(arguments[2:])
        compose = yaml.safe_load((PROJECT / "docker-compose.yml").read_text(encoding="utf-8"))
        assert service in compose["services"]
        check(Command(command.where, tuple(inner)), monkeypatch, whole=whole)
    elif name == "make":
        make(command)
    elif name == "labagent":
        labagent(arguments, command.optional, whole=whole)
    elif name == "manage.py":
        manage(arguments, command.optional, whole=whole)
    elif name == "python" and arguments[0] == "manage.py":
        manage(arguments[1:], command.optional, whole=whole)
    elif name == "python" and arguments[0] == "-m":
        module(arguments[1], arguments[2:], command.optional, monkeypatch, whole=whole)
    else:
        assert name in OTHERS, f"{name} is neither a program of ours nor named in OTHERS"


@pytest.mark.parametrize("command", shown(), ids=str)
def test_a_shown_command_and_its_options_are_there(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in command.words[1:]:
        path = Path(word)
        if (
            path.suffix or word == "FILE"
        ) and not path.is_absolute():  # lab.toml; other names are directories
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        elif not path.is_absolute() and not word.startswith("-"):
            path.mkdir(parents=True, exist_ok=True)
    monkeypatch.syspath_prepend(str(PROJECT))
    check(command, monkeypatch, whole=True)


@pytest.mark.parametrize("command", mentioned(), ids=str)
def test_a_command_named_in_a_sentence_and_its_options_are_there(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(command, monkeypatch, whole=False)


@pytest.mark.parametrize(
    "wrong",
    [
        "make demonstrate",
        "make up PORTS=8001",
        "python manage.py create_agents bench1",
        "python manage.py create_agent bench1 --laboratory x",
        "python manage.py create_agent",
        "python -m benchmarks.jobs --agent-count 3",
        "python -m benchmarks.job",
        "python -m webapp.stats.ministat -z",
        "labagent uploads",
        "labagent upload --historic",
        "labagent hardware add",
        "docker compose exec webserver python manage.py createsuperuser",
        "rsync -a x y",
    ],
)
def test_a_command_that_is_not_there_is_noticed(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = commands(Block(PAGES[0], 1, "sh", wrong))
    with pytest.raises(REFUSALS):
        check(command, monkeypatch, whole=True)


def test_every_target_that_make_help_names_is_there() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    for target in re.findall(r"^make (\w+)", done.stdout, re.MULTILINE):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)
