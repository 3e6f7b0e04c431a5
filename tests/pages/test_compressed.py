"""Answers of pages, compressed."""

import gzip
from collections.abc import Callable

from django.http import HttpResponse, HttpResponseBase
from django.test import RequestFactory

from webapp.pages.parts.compressed import gzip_page

TEXT = b"one line of a page\n" * 100


def _answer(
    view: Callable[..., HttpResponseBase], accepts: str = "gzip, deflate"
) -> HttpResponseBase:
    return gzip_page(view)(RequestFactory().get("/", headers={"Accept-Encoding": accepts}))


def _of(content: bytes, **headers: str) -> Callable[..., HttpResponse]:
    return lambda _request: HttpResponse(content, headers=headers)


def test_a_reader_that_takes_gzip_gets_the_same_content_in_fewer_bytes() -> None:
    response = _answer(_of(TEXT))
    assert isinstance(response, HttpResponse)
    assert response["Content-Encoding"] == "gzip"
    assert response["Vary"] == "Accept-Encoding"
    assert int(response["Content-Length"]) == len(response.content) < len(TEXT)
    assert gzip.decompress(response.content) == TEXT


def test_others_get_it_plain_and_caches_are_told_that_it_depends() -> None:
    response = _answer(_of(TEXT), accepts="br")
    assert isinstance(response, HttpResponse)
    assert response.content == TEXT
    assert not response.has_header("Content-Encoding")
    assert response["Vary"] == "Accept-Encoding"


def test_the_same_page_has_many_lengths() -> None:
    lengths = {_answer(_of(TEXT))["Content-Length"] for _ in range(50)}
    assert len(lengths) > 10


def test_an_etag_of_the_plain_bytes_becomes_weak() -> None:
    assert _answer(_of(TEXT, ETag='"abc"'))["ETag"] == 'W/"abc"'
    assert _answer(_of(TEXT, ETag='W/"abc"'))["ETag"] == 'W/"abc"'
    assert _answer(_of(TEXT, ETag='"abc"'), accepts="")["ETag"] == '"abc"'


def test_little_and_compressed_answers_stay_as_they_are() -> None:
    short = _answer(_of(b"ok"))
    packed = _answer(_of(TEXT, **{"Content-Encoding": "br"}))
    assert isinstance(short, HttpResponse)
    assert isinstance(packed, HttpResponse)
    assert (short.content, packed.content) == (b"ok", TEXT)
    assert packed["Content-Encoding"] == "br"
