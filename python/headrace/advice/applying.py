"""Advice -> what the next run may set: values only; report/settings_text.py writes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.advice.judging import Advice, Judgement
from headrace.analysis.settings import Setting

OWN = "headrace"  # the section that `headrace run --settings` takes


@dataclass(frozen=True)
class Change:
    """section: one of rules.SECTIONS. kept: what the user set before, which stays, or None."""

    section: str
    name: str
    value: Any
    advice: Advice
    kept: str | None = None


def changes(
    judgement: Judgement, settings: Iterable[Setting], variables: Iterable[Setting]
) -> list[Change]:
    """In the order of the advice; of two for one name the first counts."""
    chosen = {one.name: one.value for one in settings if one.origin != "default"}
    chosen |= {one.name: one.value for one in variables}
    found: dict[tuple[str, str], Change] = {}
    for one in judgement.advice:
        for section, keys in one.rule.settings.items():
            for name, value in keys.items():
                kept = None if _is_recording(name) else chosen.get(name)
                found.setdefault((section, name), Change(section, name, value, one, kept))
    return list(found.values())


def _is_recording(name: str) -> bool:
    """The record is there: whoever asked for it may have no other."""
    return name == "HEADRACE_RECORD"


def taken(made: Iterable[Change]) -> Mapping[str, Any]:
    """What `headrace run --settings` sets."""
    return {one.name: one.value for one in made if one.section == OWN and one.kept is None}
