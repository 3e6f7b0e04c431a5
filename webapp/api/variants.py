"""Variants of kernels: what was measured of patches, images and vendors' branches."""

from typing import Any, Literal

from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import BaseModel

from webapp.api.requests import Page, csv_response, newest
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.results.models import Series, Variant


class VariantPartOut(BaseModel):
    """A patch, an image or a vendor's branch; `checksum` is empty where it is not known."""

    kind: Literal["patch", "image", "vendor"]
    name: str
    checksum: str


class VariantOut(BaseModel):
    """What a kernel was built from besides its revision, in the order in which it was put on;
    `series` is the number of series that have points."""

    number: int
    name: str
    parts: list[VariantPartOut]
    series: int


class VariantList(BaseModel):
    """One page of variants."""

    variants: list[VariantOut]
    next: int | None


router = Router(tags=["variants"])
COLUMNS = ("variant", "tree", "hardware", "mode", "metric", "unit", "revisions", "last_position")
MOST_LINES = 10_000


class Named(Schema):
    """Which variants; what is left out means all."""

    part: Asked = ""
    tree: Asked = ""


class Wanted(Page, Named):
    """One page of them."""


@router.get(
    "/variants",
    response={200: VariantList, 422: ErrorOut},
    summary="Variants of kernels, the last one measured for the first time first",
)
def list_variants(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last. `part` is the
    name of a patch, an image or a branch; what was measured is at `/series?variant=NAME`."""
    found = Variant.objects.having(wanted.part) if wanted.part else Variant.objects.all()
    if wanted.tree:
        found = found.filter(series__tree__name=wanted.tree).distinct()
    shown, following = newest(found, wanted)
    counts = dict(
        Series.objects.with_points()
        .filter(variant__in=shown)
        .order_by()
        .values_list("variant")
        .annotate(count=Count("pk"))
    )
    return {
        "variants": [
            {
                "number": row.pk,
                "name": row.name,
                "parts": row.parts,
                "series": counts.get(row.pk, 0),
            }
            for row in shown
        ],
        "next": following,
    }


@router.get(
    "/variants.csv", response={200: None, 422: ErrorOut}, summary="The series of variants, as CSV"
)
def variants_csv(request: HttpRequest, wanted: Query[Named]) -> HttpResponse:
    """A row a series, by its parts; at most 10,000."""
    rows = Series.objects.of_variants().with_points()
    if wanted.part:
        rows = rows.filter(variant__in=Variant.objects.having(wanted.part))
    if wanted.tree:
        rows = rows.filter(tree__name=wanted.tree)
    parts = ("variant__name", "tree__name", "hardware__name", "mode__name", "metric__name")
    counted = rows.order_by(*parts).annotate(
        revisions=Count("points__position"), last_position=Max("points__position")
    )
    columns = (*parts, "metric__unit", "revisions", "last_position")
    return csv_response("variants.csv", COLUMNS, counted.values_list(*columns)[:MOST_LINES])
