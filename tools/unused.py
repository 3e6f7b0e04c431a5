"""Refuse names that nothing uses.

    python -m tools.unused

lets vulture read ``READ`` and prints a line for each name that no code uses, no template and no
text that names a column, and for each template of a page that is named nowhere; ends with 1 where
there is any. What a framework calls by its name is
ignored in ``pyproject.toml``; single names stand in ``ALLOWED`` with their reason.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vulture.config import make_config
from vulture.core import Vulture

READ = ("webapp", "agents/src", "benchmarks", "tools", "manage.py")
"""Who uses names: not the tests, which would keep alive what only they call."""

_HOOKS = "an attribute or hook of a class of the library, which reads or calls it"

ALLOWED: Mapping[str, str] = {
    "agents/src/labagent/client.py: to_pandas": "part of the client's documented interface",
    "webapp/accounts/admin.py: history_view": _HOOKS,
    "webapp/accounts/admin.py: log_addition": _HOOKS,
    "webapp/accounts/admin.py: log_deletions": _HOOKS,
    "webapp/accounts/admin.py: get_deleted_objects": _HOOKS,
    "webapp/accounts/models.py: INSERT": "a choice of the column",
    "webapp/accounts/models.py: UPDATE": "a choice of the column",
    "webapp/analysis/queries/wall.py: analysed_us": "one of the versions that rows are compared by",
    "webapp/bisects/deciding.py: replay": "makes recorded decisions again, for audits and tests",
    "webapp/config/connections.py: _class": _HOOKS,
    "webapp/config/gunicorn.py": "gunicorn reads its settings and hooks from this module",
    "webapp/config/instance.py: postgres_major": "stands in the file of the instance",
    "webapp/config/middleware.py": _HOOKS,
    "webapp/config/logging.py": _HOOKS,
    "webapp/config/staticfiles.py": _HOOKS,
    "webapp/labs/services.py: compress_type": _HOOKS,
    "webapp/labs/services.py: external_attr": _HOOKS,
    "webapp/outbox/channels.py": _HOOKS,
    "webapp/encryption.py: from_db_value": _HOOKS,
    "webapp/encryption.py: get_prep_value": _HOOKS,
    "webapp/outbox/http_post.py: response_class": _HOOKS,
    "webapp/outbox/smtp.py: connection_class": _HOOKS,
    "webapp/pages/account/adapters.py": _HOOKS,
    "webapp/pages/account/account_forms.py: authenticator": _HOOKS,
    "webapp/pages/account/sign_in.py: http_method_names": _HOOKS,
    "webapp/readiness/scheduling.py: SingleScheduler": "Celery loads it by its path",
    "webapp/results/packed.py: from_db_value": _HOOKS,
    "webapp/results/packed.py: get_db_prep_value": _HOOKS,
    "webapp/results/models/variants.py: VENDOR": "a choice of the column",
    "webapp/stats/ministat/block.py: percent_interval": "shown in docs/statistics.md",
    "webapp/stats/intervals.py: true_level": "shown in docs/statistics.md",
}
"""A path with one of its names, or a whole path, and who uses it."""

_OF_QUERIES = {
    "aggregate", "alias", "annotate", "create", "exclude", "filter", "get", "get_or_create",
    "update", "update_or_create", "Prefetch", "Q",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*")
_TAG = re.compile(r"{[{%].*?[%}]}", re.DOTALL)


def unused(paths: Sequence[str], allowed: Mapping[str, str] = ALLOWED) -> list[str]:
    """A line for each name below ``paths`` that nothing uses, and for each entry of ``allowed``
    that allows nothing any more.
    """
    config = make_config(["--config", "pyproject.toml", *paths])
    vulture = Vulture(
        ignore_names=config["ignore_names"], ignore_decorators=config["ignore_decorators"]
    )
    vulture.scavenge(paths)
    elsewhere = set(_named_in_templates()) | set(_named_in_queries(paths))
    found = [one for one in vulture.get_unused_code(60) if one.name not in elsewhere]
    lines, idle = [], set(allowed)
    for one in found:
        path = one.filename.resolve().relative_to(Path.cwd()).as_posix()
        keys = {path, f"{path}: {one.name}"}
        idle -= keys
        if not keys & set(allowed):
            lines.append(f"{path}:{one.first_lineno}: unused {one.typ} {one.name}")
    lines += [f"{path}: unused template" for path in _templates_of_nobody(paths)]
    return lines + [f"{key} is allowed, but used or gone" for key in sorted(idle)]


def _templates_of_nobody(paths: Sequence[str]) -> Iterator[str]:
    """Templates below ``pages`` whose names stand neither in the code nor in another template."""
    templates = sorted(Path("webapp/templates").rglob("*.*"))
    texts = [path.read_text(encoding="utf-8") for path in (*templates, *_modules(paths))]
    for path in templates:
        name = path.relative_to("webapp/templates").as_posix()
        if name.startswith("pages/") and not any(name in text for text in texts):
            yield path.as_posix()


def _named_in_templates() -> Iterator[str]:
    for path in Path("webapp/templates").rglob("*.*"):
        for tag in _TAG.findall(path.read_text(encoding="utf-8")):
            yield from _WORD.findall(tag)


def _named_in_queries(paths: Sequence[str]) -> Iterator[str]:
    """Texts that are a name (of a column, an attribute, a module), and what queries filter by."""
    for file in _modules(paths):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield from _names_of(node)


def _modules(paths: Sequence[str]) -> Iterator[Path]:
    files = (file for path in paths for file in [Path(path), *Path(path).rglob("*.py")])
    return (file for file in files if file.is_file())


def _names_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"-?[\w.]+", text):
            yield from re.split(r"__|[-.]", text)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), keywords=keywords):
            if name in _OF_QUERIES:
                for keyword in keywords:
                    yield from (keyword.arg or "").split("__")


def main() -> int:
    """Print what is unused; returns 1 where there is any, else 0."""
    lines = unused(READ)
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
