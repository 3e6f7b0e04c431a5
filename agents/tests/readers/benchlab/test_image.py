"""What an image's name says."""

import pytest
from labagent.readers.benchlab.label import parse_image


@pytest.mark.parametrize(
    ("name", "revision", "tree", "tokens"),
    [
        ("", None, None, ()),
        ("303643", "r303643", None, ()),
        ("r368606", "r368606", None, ()),
        ("317849VIMAGE", "r317849", None, ("VIMAGE",)),
        ("295150mbuf", "r295150", None, ("mbuf",)),
        ("325006yandexD12685", "r325006", None, ("yandex", "D12685")),
        ("r368606D27401v4", "r368606", None, ("D27401v4",)),
        ("n277567D33658", "n277567", None, ("D33658",)),
        ("c255632", "c255632", None, ()),
        ("n257521-97be6fced7d", "n257521", None, ()),
        ("97be6fced7d", "97be6fced7d", None, ()),
        ("964774cf41c", "964774cf41c", None, ()),
        ("c964774cf41cVIMAGE", "c964774cf41c", None, ("VIMAGE",)),
        ("c255632-97be6fced7d", "c255632", None, ()),
        ("97be6fced7d0VIMAGE", "97be6fced7d0", None, ("VIMAGE",)),
        ("MAIN_n268154", "n268154", "freebsd-head", ()),
        ("STABLE13_n265892", "n265892", "freebsd-stable-13", ()),
        ("RELEASE12", None, None, ()),
        ("HEAD120", None, "freebsd-head", ()),
        ("HEAD120D12439", None, "freebsd-head", ("D12439",)),
        ("11.0", None, None, ()),
        ("11.1BETA1", None, None, ()),
        ("11.1BETA1yandex", None, None, ("yandex",)),
        ("GENERIC111yandex", None, None, ("GENERIC", "yandex")),
        ("tryforward", None, None, ("tryforward",)),
        ("netmap_n268154", "n268154", None, ("netmap",)),
    ],
)
def test_an_image_is_a_revision_and_what_was_changed(name, revision, tree, tokens):
    image = parse_image(name)
    assert (image.revision, image.tree, image.tokens) == (revision, tree, tokens)
