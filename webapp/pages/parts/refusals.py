"""Acts that were refused: what somebody typed comes back with the refusal."""

import json
from collections import defaultdict
from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpRequest

MOST = 100_000
"""Characters of all fields; of more none comes back."""


NOT_TYPED = ("csrfmiddlewaretoken", "version", "act")
"""What the form or the pressed button fills in."""


def refuse(request: HttpRequest, why: str) -> None:
    """A message for the next page, which takes the fields of the form there."""
    given = request.POST.dict().items()
    typed = {name: text.replace("\0", "") for name, text in given if text and name not in NOT_TYPED}
    packed = json.dumps(typed)
    messages.error(request, why, extra_tags=packed if len(packed) <= MOST else "")


def typed_before(request: HttpRequest) -> Mapping[str, str]:
    """The fields of an act whose refusal this page shows, by name; every other one is empty."""
    shown = messages.get_messages(request)
    packed = [one.extra_tags for one in shown if one.level == messages.ERROR and one.extra_tags]
    return defaultdict(str, json.loads(packed[0]) if packed else {})
