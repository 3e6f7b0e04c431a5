"""Upload runs."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.analysis import services
from webapp.api.prometheus import count_runs
from webapp.api.schemas.runs import BatchIn, RecordedOut, recorded_out
from webapp.api.schemas.types import REFUSALS, ErrorOut
from webapp.labs.models import Token

router = Router(tags=["runs"])


class Flags(Schema):
    """How an upload is to be taken."""

    register_hardware: bool = Field(
        False, alias="register", description="Add hardware that is not known."
    )
    history: bool = Field(False, description="Nobody is to be mailed about these runs.")
    replace: bool = Field(False, description="Other content takes the place of a stored run.")


@router.post(
    "",
    response={200: RecordedOut, 201: RecordedOut, 400: ErrorOut, **REFUSALS},
    summary="Store one run or a batch of up to 500, whole or not at all",
    openapi_extra={
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/BatchIn"},
                            {"$ref": "#/components/schemas/RunIn"},
                        ]
                    }
                }
            }
        }
    },
)
def upload(request: HttpRequest, batch: BatchIn, flags: Query[Flags]) -> Any:
    """Send `{"runs": […]}`, or a lone run. Sending a run twice stores it once.

    201: something new was stored. 200: everything was there already.
    """
    token: Token = request.auth  # type: ignore[attr-defined]
    runs = [run.document() for run in batch.runs]
    recorded = services.store_runs(
        agent=token.agent,
        runs=runs,
        register=flags.register_hardware,
        history=flags.history,
        replace=flags.replace,
    )
    count_runs(batch.runs, recorded)
    status = 201 if recorded.stored or recorded.replaced else 200
    return Status(status, recorded_out(batch.runs, recorded))
