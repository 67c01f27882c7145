"""Samples in the form of speedscope, a profile for each thread
(https://www.speedscope.app/file-format-schema.json)."""

import json
from pathlib import Path

from headrace.errors import unwritable
from headrace.profile.export.stacks import Stack, by_rank, stacks_by_thread, title
from headrace.record.export.output import new_file
from headrace.record.tables import Record
from headrace.symbols.tools import Line

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(record: Record, path: Path) -> None:
    document = speedscope(record)
    new_file(path)
    try:
        path.write_text(json.dumps(document), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error


def speedscope(record: Record) -> dict:
    frames: dict[Line, int] = {}
    profiles = [
        _profile(title(thread), stacks, frames)
        for thread, stacks in by_rank(stacks_by_thread(record))
    ]
    return {
        "$schema": SCHEMA,
        "exporter": "headrace",
        "name": record.facts.get("command", "") or record.path.name,
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(line) for line in frames]},
        "profiles": profiles,
    }


def _frame(line: Line) -> dict:
    made = {"name": line.function}
    if line.file:
        made |= {"file": line.file, "line": line.line}
    return made


def _profile(name: str, stacks: list[Stack], frames: dict[Line, int]) -> dict:
    return {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(one.time for one in stacks),
        "samples": [[frames.setdefault(line, len(frames)) for line in one.lines] for one in stacks],
        "weights": [one.time for one in stacks],
    }
