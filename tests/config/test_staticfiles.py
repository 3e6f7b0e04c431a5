"""Static files: hashed names, compression once."""

import gzip
import re
from pathlib import Path
from urllib.parse import urljoin

import brotli
import plotly
import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from webapp.config.staticfiles import SparingCompressor


def test_a_script_is_served_compressed_and_cached_for_good() -> None:
    url = staticfiles_storage.url("js/trends.js")
    response = Client().get(url, headers={"accept-encoding": "br, gzip"})
    assert response.status_code == 200
    assert response["Content-Encoding"] == "br"
    assert "immutable" in response["Cache-Control"]
    body = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    assert b"import" in brotli.decompress(body)


def test_the_chart_library_is_served_from_its_package_and_nothing_else_of_it() -> None:
    response = Client().get(
        staticfiles_storage.url("plotly.min.js"), headers={"accept-encoding": "br"}
    )
    assert response["Content-Encoding"] == "br"
    assert "immutable" in response["Cache-Control"]
    served = brotli.decompress(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    package = Path(plotly.__file__).with_name("package_data")
    assert served == (package / "plotly.min.js").read_bytes()
    assert finders.find("plotly.min.js") == str(package / "plotly.min.js")
    assert finders.find("widgetbundle.js") is None


@pytest.mark.parametrize(
    ("page", "imported"),
    [("trends", {"keys", "explorer", "plot", "address"}), ("base", {"keys", "typed"})],
)
def test_modules_import_each_other_by_their_hashed_names(page: str, imported: set[str]) -> None:
    wanted, seen = [staticfiles_storage.url(f"js/{page}.js")], set()
    while wanted:
        url = wanted.pop()
        response = Client().get(url)
        assert response.status_code == 200, url
        assert "immutable" in response["Cache-Control"], url
        body = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
        seen.add(url)
        found = {
            urljoin(url, name) for name in re.findall(r'(?:^import | from )"(.+)";', body, re.M)
        }
        wanted += found - seen
    names = {re.sub(r"\.[0-9a-f]{12}\.js$", "", url).rpartition("/")[2] for url in seen}
    assert names >= {page} | imported


def test_what_was_compressed_is_not_compressed_again(tmp_path: Path) -> None:
    script = tmp_path / "a.js"
    script.write_text("x" * 1000)
    compressor = SparingCompressor(quiet=True)
    assert len(compressor.compress(str(script))) == 2
    assert gzip.decompress((tmp_path / "a.js.gz").read_bytes()) == script.read_bytes()
    (tmp_path / "a.js.br").write_bytes(b"kept")
    compressor.compress(str(script))
    assert (tmp_path / "a.js.br").read_bytes() == b"kept"
