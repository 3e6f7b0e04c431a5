"""What tests of the trend page share."""

import json
from typing import Any

from django.test import Client

Json = dict[str, Any]


def whole_figure(client: Client, query: str = "") -> Json:
    response = client.get(f"/trends/figure.json?{query}")
    assert response.status_code == 200
    content: Json = json.loads(response.content)
    return content


def figure(client: Client, query: str = "") -> Json:
    """What the figure means: its table of revisions, and each series with what its traces draw."""
    content = whole_figure(client, query)
    meta: Json = content["layout"].get("meta", {"series": []})
    for series in (*meta["series"], *meta.get("costs", ())):
        own = [one for one in content["data"] if one.get("meta") == series["id"]]
        series.update(_points(next((one for one in own if one["mode"] == "markers"), None)))
        heavy = [one for one in own if one["mode"] == "lines" and one["line"]["width"] > 2]
        series["levels"] = [
            list(zip(one["x"], one["y"], strict=True))[at : at + 2]
            for one in heavy
            for at in range(0, len(one["x"]), 3)
        ]
    return meta


def _points(trace: Json | None) -> Json:
    if trace is None:
        return {"value": [], "low": [], "high": []}
    none = [None] * len(trace["y"])
    error = trace.get("error_y", {"array": none, "arrayminus": none})
    rows = list(zip(trace["y"], error["arrayminus"], error["array"], strict=True))
    low = [None if down is None else value - down for value, down, _ in rows]
    high = [None if up is None else value + up for value, _, up in rows]
    return {"value": trace["y"], "low": low, "high": high}
