"""Aliases that are refused, and what one would move before it is made."""

import pytest

from tests.results.aliasing import ada, alias, modes, names, run
from tests.results.steps import upload
from webapp.merging.services import make_name_alias
from webapp.results.documents import Unprocessable
from webapp.results.models import (
    NameAlias,
    Series,
)
from webapp.results.services import AliasNames, preview_alias

pytestmark = pytest.mark.django_db


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "field"),
        [
            (names("a b", "c"), "name"),
            (names("a", ""), "means"),
            (names("a", "a"), "means"),
            (names("a", "b", "colour"), "kind"),
            (names(lab="nowhere"), "lab"),
            (names(tree="nowhere"), "tree"),
            (names(first="r1"), "tree"),
            (names(tree="freebsd-head", first="r77"), "first"),
            (names(tree="freebsd-head", first="r2", last="r1"), "last"),
            (names("x/y", "bench/nic", "hardware"), "name"),
            (names("bench/nic", "foreign/nic", "hardware"), "means"),
            (names(directory="a\nb"), "directory"),
            (names(directory="x" * 301), "directory"),
        ],
    )
    def test_what_is_wrong_is_named_and_nothing_is_stored(
        self, given: AliasNames, field: str
    ) -> None:
        upload(run("r1"), run("r2"))
        upload(run("r1", hardware="foreign/nic"), lab="another")
        with pytest.raises(Unprocessable) as raised:
            make_name_alias(names=given, by=ada())
        assert field in {one.path for one in raised.value.problems}
        assert not NameAlias.objects.exists()

    @pytest.mark.parametrize(
        ("second", "message"),
        [
            (names("fastforwarding", "other"), "undo it first"),
            (names("forwarding", "fastforwarding"), "in a circle"),
            (names("forwarding", "routing"), "do not go on from one to the next"),
            (names("ff", "fastforwarding"), "name what is meant in the end"),
        ],
    )
    def test_repetitions_chains_and_circles(self, second: AliasNames, message: str) -> None:
        upload(run())
        alias()
        with pytest.raises(Unprocessable, match=message):
            make_name_alias(names=second, by=ada())

    def test_scopes_that_never_meet_make_no_chain(self) -> None:
        upload(run("r1"), run("r5"), run("r2", tree="other"))
        alias(tree="freebsd-head", last="r1")
        alias("forwarding", "routing", tree="other")
        alias("forwarding", "routing", tree="freebsd-head", first="r5")
        assert NameAlias.objects.count() == 3


class TestPreview:
    def test_it_states_how_many_runs_would_move_and_stores_nothing(self) -> None:
        upload(run("r1"), run("r2"), run("r3", label="seed-004"))
        found = preview_alias(names(directory="seed-000"))
        assert found.runs == 2
        (group,) = found.groups
        assert (group.mode, group.into_mode, group.runs) == ("fastforwarding", "forwarding", 2)
        assert not found.contradicted
        assert not NameAlias.objects.exists()
        assert set(modes().values()) == {"fastforwarding"}
        assert not Series.objects.filter(mode__name="forwarding").exists()

    def test_it_warns_where_both_were_measured_at_one_revision(self) -> None:
        upload(run("r1"), run("r1", "forwarding", factor=1.919), run("r2"))
        (group,) = preview_alias(names()).contradicted
        assert group.beside == 1
        assert group.apart == pytest.approx(100 * (1 / 1.919 - 1))

    def test_the_number_is_what_the_alias_moves(self) -> None:
        upload(*(run(f"r{n}") for n in range(1, 8)))
        expected = preview_alias(names()).runs
        assert alias().moved == expected == 7
        assert preview_alias(names("x", "y")).runs == 0
