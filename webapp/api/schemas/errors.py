"""What a refusal says."""

from ninja import Schema


class ProblemOut(Schema):
    path: str
    message: str


class ErrorBody(Schema):
    code: str
    message: str
    remedy: str
    details: list[ProblemOut] = []


class ErrorOut(Schema):
    error: ErrorBody
