"""spec/counters.toml -> the core's table of events, and the command's of what is worked out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tools.generate.rendering import Output, SpecError, render


def outputs(spec: Path) -> list[Output]:
    data = tomllib.loads((spec / "counters.toml").read_text())
    sampling = tomllib.loads((spec / "settings" / "25_sampling.toml").read_text())
    _check(data, sampling["setting"])
    data["models"] = [part for model in data["models"] for part in _ranges(model)]
    return [
        render("counter_table.h.j2", "src/profile/generated/counter_table.h", **data),
        render("counters.py.j2", "python/headrace/counters/generated/table.py", **data),
    ]


def _check(data: dict[str, Any], settings: list[dict[str, Any]]) -> None:
    groups = [group["name"] for group in data["groups"]]
    for setting in settings:
        if setting["name"] == "HEADRACE_COUNTERS" and setting["values"] != ["off", *groups]:
            raise SpecError("counters.toml: HEADRACE_COUNTERS has other values than the groups")
    events = {event["name"] for event in data["events"]}
    for group in data["groups"]:
        for name in set(group["events"]) - events:
            raise SpecError(f"counters.toml: {group['name']} has {name}, which is no event")
    sets = {own["name"] for own in data["sets"]}
    for model in data["models"]:
        if model["set"] not in sets:
            raise SpecError(f"counters.toml: there is no set {model['set']}")


def _ranges(model: dict[str, Any]) -> list[dict[str, Any]]:
    """A model's numbers as ranges."""
    numbers = model.pop("numbers", None)
    if numbers is None:
        return [model]
    return [{**model, "from": one, "to": one} for one in numbers]
