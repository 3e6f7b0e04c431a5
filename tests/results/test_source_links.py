"""Links from commits to a source browser."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client

from tests import make
from webapp.results.models import RevisionAlias, Tree
from webapp.results.spellings import PRESETS, check_source_template, source_link

HASH = "9f3ac1e02b11aa5b"


@pytest.mark.parametrize("template", PRESETS.values())
def test_every_preset_is_a_template(template: str) -> None:
    check_source_template(template)


@pytest.mark.parametrize(
    "template",
    [
        "https://example.org/",
        "https://example.org/{commit}",
        "https://example.org/{hash",
        "https://example.org/{{hash}}",
        "https://{revision}.example.org/",
        "javascript:alert({revision})",
        "//example.org/{hash}",
        "ftp://example.org/{hash}",
        "https:///{hash}",
        "https://[/{hash}",
        "https://example.org/ {hash}",
    ],
)
def test_what_is_no_template_of_a_web_address_is_refused(template: str) -> None:
    with pytest.raises(ValidationError):
        check_source_template(template)


@pytest.mark.parametrize(
    ("template", "name", "aliases", "link"),
    [
        ("https://x.org/r/{revision}", "r303643", [], "https://x.org/r/r303643"),
        ("https://x.org/rS{number}", "r303643", [], "https://x.org/rS303643"),
        ("https://x.org/?id={hash}", "n277567", [HASH[:8], HASH], f"https://x.org/?id={HASH}"),
        ("https://x.org/{hash}", HASH, [], f"https://x.org/{HASH}"),
        ("https://x.org/{hash}", "r303643", ["303643"], ""),
        ("https://x.org/{number}", HASH, [], ""),
        ("https://x.org/{revision}", "a/b?<c>", [], "https://x.org/a%2Fb%3F%3Cc%3E"),
        ("", "r303643", [], ""),
    ],
)
def test_a_link_is_made_of_what_is_known(
    template: str, name: str, aliases: list[str], link: str
) -> None:
    assert source_link(template, name=name, aliases=aliases) == link


@pytest.mark.django_db
def test_a_commit_links_to_the_source_browser_of_its_tree(client: Client) -> None:
    at = make.revision("r303643")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name=HASH)
    page = at.get_absolute_url()
    assert "source browser" not in client.get(page).content.decode()
    Tree.objects.update(source_template="https://example.org/?id={hash}&a=<b>")
    html = client.get(page).content.decode()
    assert f'href="https://example.org/?id={HASH}&amp;a=&lt;b&gt;"' in html


@pytest.mark.django_db
def test_the_database_keeps_other_schemes_out() -> None:
    make.tree()
    with pytest.raises(IntegrityError):
        Tree.objects.update(source_template="javascript:{revision}")
