"""A room's doors show what other rooms use, and nothing else; and rooms use nothing but doors."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.db.models import Model
from django.utils.module_loading import import_string

from tests.places import PROJECT

#: The doors that are packages: a door of one module is what it defines. Django finds the admin
#: pages behind theirs, and nobody imports those.
DOORS = ("models", "services", "queries", "tasks")
#: What a room shows: whatever else it consists of is its own.
SHOWN = (*DOORS, "admin")
#: Rooms without doors, whose modules everybody may import: they are pure, or wire the others.
OPEN = {"charts", "config", "encryption", "launcher", "queueing", "search", "stats"}


def module_of(file: Path) -> str:
    parts = file.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """``alerts`` for webapp.alerts.services.analysing, and for the tests in tests/alerts/."""
    return module.split(".")[1] if "." in module else module


@cache
def doors() -> dict[str, list[str]]:
    """What each door exports."""
    found = {}
    for door in DOORS:
        for file in sorted(PROJECT.glob(f"webapp/*/{door}/__init__.py")):
            found[module_of(file)] = list(exported(ast.parse(file.read_text())))
    return found


def exported(door: ast.Module) -> Iterator[str]:
    for node in door.body:
        match node:
            case ast.ImportFrom(names=names):
                yield from (name.asname or name.name for name in names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


@cache
def users() -> dict[str, set[str]]:
    """The rooms that use each name: ``{"webapp.<room>.services.<name>": {"api", "pages"}}``."""
    found = defaultdict(set)
    for top in ("webapp", "tests", "benchmarks"):
        for file in (PROJECT / top).rglob("*.py"):
            for name in names_used(ast.parse(file.read_text())):
                found[name].add(room_of(module_of(file)))
    return found


def names_used(tree: ast.Module) -> Iterator[str]:
    """Dotted names: imported, read from an imported door, or written out as a text."""
    doors_here: dict[str, str] = {}
    attributes: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                for name in names:
                    full = f"{module}.{name.name}"
                    doors_here[name.asname or name.name] = full
                    yield full
            case ast.Constant(value=str(text)):
                yield text
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                attributes.append((name, attribute))
    yield from (f"{doors_here[name]}.{of}" for name, of in attributes if name in doors_here)


def is_a_table(name: str) -> bool:
    """Whether Django, which loads all tables of a room from its ``models``, is the user."""
    found = import_string(name)
    return isinstance(found, type) and issubclass(found, Model) and not found._meta.abstract


@pytest.mark.parametrize("door", doors())
def test_a_door_exports_only_what_another_room_uses(door: str) -> None:
    own = {room_of(door)}
    shown = [f"{door}.{name}" for name in doors()[door]]
    unused = [name for name in shown if users()[name] <= own and not is_a_table(name)]
    assert not unused, "import these from their own modules, and take them out of the door"


def test_uses_are_found_however_a_name_is_reached() -> None:
    source = """
from webapp.room.services import poll
from webapp.room import queries as there
there.read()
TASK = "webapp.room.tasks.send"
"""
    assert set(names_used(ast.parse(source))) >= {
        "webapp.room.services.poll",
        "webapp.room.queries.read",
        "webapp.room.tasks.send",
    }


def reached_into(module: str, tree: ast.Module) -> list[str]:
    """The modules of other rooms that ``module`` imports from behind their doors."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(source), names=names):
                is_room = source.count(".") == 1
                found += [f"{source}.{name.name}" for name in names] if is_room else [source]
            case ast.Import(names=names):
                found += [name.name for name in names]
    rooms = [name.split(".") for name in found if name.startswith("webapp.")]
    return [
        ".".join(parts)
        for parts in rooms
        if parts[1] not in OPEN | {room_of(module)} and parts[2:] not in ([one] for one in SHOWN)
    ]


def test_rooms_are_entered_by_their_doors() -> None:
    """The wiring of ``config`` and the commands may reach inside."""
    reached = {}
    for file in sorted((PROJECT / "webapp").rglob("*.py")):
        module = module_of(file)
        if room_of(module) != "config" and ".management.commands." not in module:
            reached[module] = reached_into(module, ast.parse(file.read_text()))
    assert len(reached) > 300
    assert {module: inside for module, inside in reached.items() if inside} == {}


@pytest.mark.parametrize(
    ("source", "inside"),
    [
        ("from webapp.results.services import poll", []),
        ("from webapp.results import services", []),
        ("import webapp.results.models", []),
        ("from webapp.stats.compare import pool", []),
        ("from webapp.alerts.plan import plan", []),
        ("from webapp.results.models.runs import Run", ["webapp.results.models.runs"]),
        ("from webapp.results import documents", ["webapp.results.documents"]),
        ("def f():\n    import webapp.jobs.leases", ["webapp.jobs.leases"]),
    ],
)
def test_what_reaches_inside_is_found(source: str, inside: list[str]) -> None:
    assert reached_into("webapp.alerts.services.analysing", ast.parse(source)) == inside
