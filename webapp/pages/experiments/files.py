"""An experiment as files: what its zip holds, and what `manage.py export_reports` writes."""

import zipfile
from collections.abc import Mapping
from io import BytesIO

from webapp.pages.experiments.markdown import PICTURE, as_markdown
from webapp.pages.experiments.report import Report, as_text
from webapp.pages.pictures import NoPicture, png_bytes, svg_bytes

README, TEXT, SVG, PNG = "README.md", "report.txt", "graph.svg", PICTURE
DAY_ONE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can say: the same report is the same file, whenever it is made."""


def text_files(report: Report) -> Mapping[str, bytes]:
    """All but the PNG, which takes longer than the others together and follows from the SVG."""
    found = {README: as_markdown(report).encode(), TEXT: as_text(report).encode()}
    return found | ({SVG: svg_bytes(report.picture)} if report.picture else {})


def png_file(report: Report) -> Mapping[str, bytes]:
    """The PNG; nothing where it cannot be drawn here, or there is nothing to draw."""
    if not report.picture:
        return {}
    try:
        return {PNG: png_bytes(report.picture)}
    except NoPicture:
        return {}


def as_zip(report: Report) -> bytes:
    """All files in one folder."""
    packed = BytesIO()
    folder = f"experiment-{report.experiment.pk}"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**text_files(report), **png_file(report)}.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", DAY_ONE), content)
    return packed.getvalue()
