"""Static files: hashed names, cached for good, compressed once."""

from pathlib import Path
from typing import Any

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

    def create_compressor(self, **kwargs: Any) -> SparingCompressor:
        """The compressor that `collectstatic` uses; source maps are for nobody's first visit."""
        kwargs["extensions"] = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
        return SparingCompressor(**kwargs)
