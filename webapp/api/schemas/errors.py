"""What a refusal says."""

from ninja import Schema


class ProblemOut(Schema):
    """The path of a field, and what is wrong with it."""

    path: str
    message: str


class ErrorBody(Schema):
    """`code` is for programs, the sentences are for people; `details` lists the fields refused."""

    code: str
    message: str
    remedy: str
    details: list[ProblemOut] = []


class ErrorOut(Schema):
    """The body of every refusal."""

    error: ErrorBody
