"""Static files: hashed names, cached for good, compressed once."""

from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = (
    (
        r"""(?m)^(?P<matched>import (?P<names>\{[^}]*\}) from "(?P<url>\.[^"]*)";)$""",
        'import %(names)s from "%(url)s";',
    ),
)


class SparingCompressor(Compressor):
    """Keeps what an earlier `collectstatic` compressed: a hashed name never changes its content,
    and every start would pay for Brotli at its best again.
    """

    def compress(self, path: str) -> list[str]:
        """Compress `path` unless that was done; the names of the compressed files."""
        done = [path + suffix for suffix in (".br", ".gz") if Path(path + suffix).exists()]
        return done or super().compress(path)


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
