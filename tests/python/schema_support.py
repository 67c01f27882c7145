"""Checks JSON against a schema of docs/reference."""

from typing import Any

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def check(value: Any, schema: dict[str, Any], place: str = "$") -> None:
    """As much of JSON Schema as the schema uses."""
    known = {"type", "description", "properties", "required", "additionalProperties", "items"}
    assert not schema.keys() - known - {"$schema", "title", "const", "minItems", "maxItems"}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    right = any(isinstance(value, TYPES[kind]) for kind in kinds)
    assert right and (not isinstance(value, bool) or "boolean" in kinds), (place, value)
    assert schema.get("const", value) == value
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        for number, one in enumerate(value):
            check(one, schema["items"], f"{place}[{number}]")
    elif isinstance(value, dict):
        assert not set(schema.get("required", ())) - value.keys(), place
        for name, one in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            assert inner, f"{place}.{name} is not described"
            check(one, inner, f"{place}.{name}")
