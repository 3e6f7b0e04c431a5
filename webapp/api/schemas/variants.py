"""Variants of kernels."""

from typing import Literal

from pydantic import BaseModel


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
