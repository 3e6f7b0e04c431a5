"""What tests of the trend page share."""

import json
from typing import Any

from django.test import Client


def figure(client: Client, query: str = "") -> dict[str, Any]:
    response = client.get(f"/trends/figure.json?{query}")
    assert response.status_code == 200
    content: dict[str, Any] = json.loads(response.content)
    return content
