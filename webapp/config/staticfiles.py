"""Static files: hashed names, cached for good, compressed once."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = (
    (
        r"""(?m)^(?P<matched>import (?P<names>(?:\{[^}]*\} from )?)"(?P<url>\.[^"]*)";)$""",
        'import %(names)s"%(url)s";',
    ),
)


PLOTLY = "plotly.min.js"
LARGE, LARGE_QUALITY = 2**20, 9
"""Bytes above which Brotli at its best takes ten seconds of a first start; at 9 it takes one, for a
tenth more.
"""


class PlotlyFinder(BaseFinder):
    """Finds the one file that pages load of the package ``plotly``, without importing that."""

    def __init__(self, *_: object, **__: object) -> None:
        spec = find_spec("plotly")
        assert spec is not None
        assert spec.origin is not None
        self.storage = FileSystemStorage(Path(spec.origin).with_name("package_data"))

    def find(self, path: str, find_all: bool = False, **_: object) -> Any:
        """Where the file lies; nothing of any other name."""
        found = [self.storage.path(PLOTLY)] if path == PLOTLY else []
        return found if find_all else next(iter(found), [])

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """The file, for `collectstatic`."""
        yield PLOTLY, self.storage


class SparingCompressor(Compressor):
    """Keeps what an earlier `collectstatic` compressed: a hashed name never changes its content,
    and every start would pay for Brotli at its best again.
    """

    def compress(self, path: str) -> list[str]:
        """Compress `path` unless that was done; the names of the compressed files."""
        done = [path + suffix for suffix in (".br", ".gz") if Path(path + suffix).exists()]
        return done or super().compress(path)

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        """Brotli at its best, but for what is `LARGE`."""
        return bytes(brotli.compress(data, quality=LARGE_QUALITY if len(data) > LARGE else 11))


class StaticStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage with the sparing compressor.

    Our modules import each other by hashed names, each import on a line of its own.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", IMPORTS))

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._urls: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """The address of a file of ours. Found once: a page names fourteen, and what is served does
        not change under a process.
        """
        if settings.DEBUG or force:
            return str(super().url(name, force))
        if name not in self._urls:
            self._urls[name] = str(super().url(name))
        return self._urls[name]

    def create_compressor(self, **kwargs: Any) -> SparingCompressor:
        """The compressor that `collectstatic` uses; source maps are for nobody's first visit."""
        kwargs["extensions"] = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
        return SparingCompressor(**kwargs)
