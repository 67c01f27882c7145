"""Rules, as TOML files have them. docs/advice.md#rules-of-your-own describes their form."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.advice.expression import BadExpression, Expression, parse
from headrace.errors import HeadraceError
from headrace.settings.suggested import SUGGESTED, may_suggest_value, may_suggest_variable

OWN = tuple(sorted(Path(__file__).with_name("own").glob("*.toml")))
BY = ("headrace", "library", "system", "code")
SECTIONS = ("headrace", "environment", "launcher", "hints")
LARGEST = 1 << 20
_TEXTS = ("title", "action")


@dataclass(frozen=True)
class Rule:
    """bound: the most the run would gain, in seconds, and lower: the lower end of that bound, where
    it is an interval. None: the rule has no bound, it only says something. own: the time that is
    shown beside the bound. cost: of whose calls it speaks. proof: "program" if the rule tells a
    program that has the flaw from one that has not, "gain" if the measured gain lay within the
    bound, too. settings: what the next run may set."""

    id: str
    title: str
    when: Expression
    bound: Expression | None
    lower: Expression | None
    own: Expression | None
    evidence: tuple[str, ...]
    action: str
    by: tuple[str, ...]
    cost: str
    is_hint: bool
    proof: str
    suppressed_by: tuple[str, ...]
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def load(path: Path) -> list[Rule]:
    """The rules of a file. Raises HeadraceError."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise _bad(path, f"it has more than {LARGEST} bytes")
        tables = tomllib.loads(data.decode())
    except OSError as error:
        raise HeadraceError(
            f"the rules '{path}' cannot be read", error.strerror or str(error), "check its name", 1
        ) from error
    except (ValueError, RecursionError) as error:
        raise _bad(path, str(error)) from error
    rows = tables.get("rules")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _bad(path, "it has no [[rules]]")
    return [_rule(path, row) for row in rows]


def collect(paths: Iterable[Path]) -> list[Rule]:
    """The package's own rules, then those of `paths`. A later one replaces an earlier one of its
    id."""
    found: dict[str, Rule] = {}
    for path in (*OWN, *paths):
        found.update((rule.id, rule) for rule in load(path))
    return list(found.values())


def _bad(path: Path, why: str) -> HeadraceError:
    return HeadraceError(
        f"the rules '{path}' are not used", why, "write them as docs/advice.md says", 1
    )


def _rule(path: Path, row: dict[str, Any]) -> Rule:
    name = row.get("id")
    if not isinstance(name, str) or not name:
        raise _bad(path, "a rule has no id")

    def expression(key: str) -> Expression | None:
        try:
            return parse(str(row[key])) if key in row else None
        except BadExpression as error:
            raise _bad(path, f"rule {name}, {key}: {error}") from error

    def texts(key: str) -> tuple[str, ...]:
        value = row.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise _bad(path, f"rule {name}, {key}: it is no list of texts")
        return tuple(value)

    for key in _TEXTS:
        if not isinstance(row.get(key), str):
            raise _bad(path, f"rule {name} has no {key}")
    when = expression("when")
    unknown = row.keys() - _KEYS
    if when is None or unknown:
        raise _bad(path, f"rule {name} has {f'the key {min(unknown)}' if unknown else 'no when'}")
    by = texts("by")
    if not set(by) <= set(BY):
        raise _bad(path, f"rule {name}, by: one of {', '.join(BY)} is meant")
    return Rule(
        id=name,
        title=row["title"],
        when=when,
        bound=expression("bound"),
        lower=expression("lower"),
        own=expression("own"),
        evidence=texts("evidence"),
        action=row["action"],
        by=by,
        cost=str(row.get("cost", "")),
        is_hint=row.get("hint") is True,
        proof=str(row.get("proof", "")),
        suppressed_by=texts("suppressed_by"),
        settings=_settings(path, name, row.get("settings", {})),
    )


_KEYS = {
    *("id", "title", "when", "bound", "lower", "own", "evidence", "action", "by", "cost", "hint"),
    *("proof", "suppressed_by", "settings"),
}


def _settings(path: Path, name: str, value: Any) -> dict[str, dict[str, Any]]:
    good = isinstance(value, dict) and all(
        section in SECTIONS and isinstance(keys, dict) for section, keys in value.items()
    )
    if not good:
        raise _bad(path, f"rule {name}, settings: sections are {', '.join(SECTIONS)}")
    for section, keys in value.items():
        for key, one in keys.items():
            if not _may_set(section, key):
                raise _bad(
                    path, f"rule {name}, settings: {section} has {key!r}, which no rule may set"
                )
            if not isinstance(one, str | int):
                why = (
                    f"rule {name}, settings: {key!r} is neither text nor a whole number nor a truth"
                )
                raise _bad(path, why)
            if section == "environment" and not may_suggest_value(str(one)):
                raise _bad(path, f"rule {name}, settings: {key} has the name of a file")
    return value


def _may_set(section: str, key: str) -> bool:
    """Rules say nothing of which code is loaded, whoever reads what is made of them."""
    if section == "headrace":
        return key in SUGGESTED
    return section != "environment" or may_suggest_variable(key)
