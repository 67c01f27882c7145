"""Advice -> what the next run may set: values only; report/settings_text.py writes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.advice.judging import Advice, Judgement
from headrace.analysis.settings import Setting

OWN = "headrace"
# The sections that `headrace run --settings` takes: Headrace's settings and variables of the MPI.
TAKEN = (OWN, "environment")


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
                change = Change(section, name, value, one, chosen.get(name))
                found.setdefault((section, name), change)
    return list(found.values())


def taken(made: Iterable[Change]) -> Mapping[str, Any]:
    """What `headrace run --settings` sets."""
    return {one.name: one.value for one in made if one.section in TAKEN and one.kept is None}
