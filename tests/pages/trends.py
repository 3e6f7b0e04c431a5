"""What tests of the trend page share."""

import json
import re
from typing import Any

from django.test import Client

Json = dict[str, Any]


def whole_figure(client: Client, query: str = "") -> Json:
    response = client.get(f"/trends/figure.json?{query}")
    assert response.status_code == 200
    content: Json = json.loads(response.content)
    return content


def figure(client: Client, query: str = "") -> Json:
    """What the figure means: its table of revisions, each series and each lane of a cost with what
    its traces draw, and the labels above it, each with its place.
    """
    content = whole_figure(client, query)
    layout = content["layout"]
    meta: Json = layout.get("meta", {"series": []})
    listed = [one["id"] for one in meta["series"]]
    drawn = dict.fromkeys(one["meta"] for one in content["data"] if "meta" in one)
    meta["costs"] = [{"id": one} for one in drawn if one not in listed]
    for series in (*meta["series"], *meta["costs"]):
        own = [one for one in content["data"] if one.get("meta") == series["id"]]
        series.update(_points(next((one for one in own if one["mode"] == "markers"), None)))
        heavy = [one for one in own if one["mode"] == "lines" and one["line"]["width"] > 2]
        series["levels"] = [
            list(zip(one["x"], one["y"], strict=True))[at : at + 2]
            for one in heavy
            for at in range(0, len(one["x"]), 3)
        ]
    meta["labels"] = [
        (re.sub("<[^>]+>", "", one["text"]), one["x"])
        for one in layout.get("annotations", ())
        if one["text"].startswith("<a ") and "bgcolor" not in one
    ]
    meta["texts"] = [one["text"] for one in layout.get("annotations", ())]
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
