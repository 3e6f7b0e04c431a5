"""What tests of names that stand for others do again and again."""

from typing import Any

from tests import make
from tests.results.steps import measured, mode
from webapp.accounts.models import User
from webapp.merging.services import make_name_alias, undo_name_alias
from webapp.results.models import NameAlias, Point, Run
from webapp.results.services import AliasNames


def names(
    name: str = "fastforwarding", means: str = "forwarding", kind: str = "workload", **scope: str
) -> AliasNames:
    return AliasNames(**{"lab": "netlab", "kind": kind, "name": name, "means": means} | scope)


def ada() -> User:
    return User.objects.filter(username="ada").first() or make.user(role="operator")


def alias(*given: str, **scope: str) -> NameAlias:
    return make_name_alias(names=names(*given, **scope), by=ada())


def undo(row: NameAlias) -> NameAlias:
    return undo_name_alias(number=row.pk, by=ada())


def run(revision: str = "r1", workload: str = "fastforwarding", **fields: Any) -> dict[str, Any]:
    label = fields.pop("label", "seed-000")
    where = {"label": label, "directory": f"bench/nic/{label}"} if label else None
    options = fields.pop("options", [])
    extra = {"evidence": where} if where else {}
    return measured(revision, mode=mode(workload, *options), **extra, **fields)


def points() -> set[str]:
    """``hardware mode revision`` of every point."""
    rows = Point.objects.select_related("series__hardware", "series__mode", "revision")
    return {f"{row.series.hardware.name} {row.series.mode} {row.revision}" for row in rows}


def modes() -> dict[str, str]:
    """Revision → the mode its run is filed under."""
    return dict(Run.objects.current().values_list("revision__name", "mode__name"))
