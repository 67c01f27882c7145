"""The file that `headrace apply` writes: TOML for `headrace run --settings`, with the reasons as
comments. What only a launcher or the program can set stands there as a comment, too."""

import json
from collections.abc import Iterable

from headrace.advice.applying import OWN, TAKEN, Change
from headrace.report.actions import gain
from headrace.texts import shown

FIRST_WORDS = "# Made by headrace apply"
_TABLES = {OWN: "settings", "environment": "environment"}


def settings_text(made: Iterable[Change], record: str) -> str:
    every = list(made)
    lines = [f"{FIRST_WORDS} from the record {shown(record)}."]
    for section in TAKEN:
        own = [one for one in every if one.section == section]
        if own:
            lines += [f"[{_TABLES[section]}]", *(line for one in own for line in _lines(one)), ""]
    others = [one for one in every if one.section not in TAKEN]
    if others:
        lines.append("# Not Headrace's to set. Give these to the launcher or the program yourself:")
        lines += [f"# {told(one)}" for one in others]
    return "\n".join(lines).rstrip("\n") + "\n"


def _lines(one: Change) -> list[str]:
    line = f"{one.name} = {_value(one.value)}"
    return [f"# {_reason(one)}", line if one.kept is None else f"# {line}  # {_kept(one)}"]


def told(one: Change) -> str:
    """One line for people."""
    kept = "" if one.kept is None else f" ({_kept(one)})"
    where = "" if one.section == OWN else f"{one.section}: "
    return f"{where}{shown(one.name)} = {shown(_value(one.value))}{kept}  {_reason(one)}"


def _reason(one: Change) -> str:
    return f"[{shown(one.advice.rule.id)}] {shown(one.advice.rule.title)}: {gain(one.advice)}"


def _kept(one: Change) -> str:
    return f"left as you set it: {shown(one.kept or '')}"


def _value(value: object) -> str:
    """TOML's: as JSON's, but without surrogates and without a raw DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
