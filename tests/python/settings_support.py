"""What the tests of settings have in common."""

import re
from pathlib import Path

import pytest

from headrace.errors import HeadraceError
from headrace.settings.resolver import Resolution, resolve_run

COUNT = "HEADRACE_BUFFER_COUNT"
ALIGN = "HEADRACE_CB_ALIGN"


def write(folder: Path, text: str, name: str = "a.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def told(resolution: Resolution, name: str = COUNT) -> tuple[object, str]:
    return resolution.settings[name].value, resolution.settings[name].origin


def refusal(*arguments: object, **options: object) -> str:
    with pytest.raises(HeadraceError) as caught:
        resolve_run(*arguments, **options)
    assert re.fullmatch(r".+ \(.+\), .+", str(caught.value))
    assert caught.value.exit_code == 2
    return str(caught.value)
