"""Static files: hashed names, cached for good, compressed once."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = (
    (
        r"""(?m)^(?P<matched>import (?P<names>\{[^}]*\}) from "(?P<url>\.[^"]*)";)$""",
        'import %(names)s from "%(url)s";',
    ),
)


class PlotlyFinder(BaseFinder):
    """Offers `vendor/plotly.min.js`: the file that the installed Plotly package was made for."""

    NAME = "vendor/plotly.min.js"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.path = Path(str(files("plotly") / "package_data" / "plotly.min.js"))
        self.storage = FileSystemStorage(location=self.path.parent)
        # `collectstatic` joins prefix and the name in the storage; we give one file, not the folder
        self.storage.prefix = "vendor"  # type: ignore[attr-defined]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The file's place, or an empty list for every other name."""
        if path != self.NAME:
            return []
        return [str(self.path)] if find_all else str(self.path)

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        """The one file."""
        yield self.path.name, self.storage


class SparingCompressor(Compressor):
    """Keeps what an earlier `collectstatic` compressed: a hashed name never changes its content.

    Brotli at its best takes 8 s for plotly.js alone, which every start would pay again.
    """

    def compress(self, path: str) -> list[str]:
        """Compress `path` unless that was done; the names of the compressed files."""
        done = [path + suffix for suffix in (".br", ".gz") if Path(path + suffix).exists()]
        return done or super().compress(path)


class StaticStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage with the sparing compressor.

    Our modules import each other by hashed names. Django's own switch for that
    (`support_js_module_import_aggregation`) would search plotly.js as well.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", IMPORTS))

    def create_compressor(self, **kwargs: Any) -> SparingCompressor:
        """The compressor that `collectstatic` uses; source maps are for nobody's first visit."""
        kwargs["extensions"] = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
        return SparingCompressor(**kwargs)
