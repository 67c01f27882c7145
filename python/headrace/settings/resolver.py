"""What each setting is in a run, and who says so. Pure but for reading settings files.

A setting has the value of the first of these that gives one:

1. the command line: `--verify`, then `--set NAME=VALUE`
2. settings files (`--settings FILE`), the last one named first
3. the environment: HEADRACE_NAME, then another toolkit's variable that means the same
4. what settings files suggest below [headrace], the last one named first
5. the default

Files may suggest other programs' variables, too, below [environment]: one that the environment has
is left as it is.

An empty value stands for the default: on the command line and in files it hides what comes after
it; in the environment it is as if it were not there, as the library has it.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.settings.generated.table import SETTINGS
from headrace.settings.layers import Layer, command_line, environment, settings_file
from headrace.settings.reading import BadValue, Value, read
from headrace.settings.setting import Setting

DEFAULT = "the default"
MOST_SHOWN = 200  # characters of a value in a line

# Ranks do not get these: the library would not read them.
COMMAND_SETTINGS = frozenset(setting.name for setting in SETTINGS if setting.of_command)


@dataclass(frozen=True)
class Resolved:
    """One setting: the text that counts, what it means, and the place that says so."""

    setting: Setting
    text: str
    value: Value
    origin: str

    @property
    def is_default(self) -> bool:
        """Whether the value is the default's, whoever gives it and however it is written."""
        return self.value == read(self.setting, self.setting.default)


@dataclass(frozen=True)
class Resolution:
    """All settings of a run.

    settings: by the variable's name. given: variables as they are given, what cannot be used
    included, for the library to tell. problems: a line on each of those. variables: other
    programs', as files suggest them. kept: a line on each suggestion that gives way.
    """

    settings: Mapping[str, Resolved]
    given: Mapping[str, str]
    problems: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()

    def value(self, name: str) -> Value:
        return self.settings[name].value

    def for_ranks(self) -> dict[str, str]:
        """The variables that ranks need, sorted."""
        every = sorted({**self.variables, **self.given}.items())
        return {name: text for name, text in every if name not in COMMAND_SETTINGS}

    def changed(self) -> list[Resolved]:
        """The settings that are not at their defaults, in the order of the reference page."""
        return [one for one in self.settings.values() if not one.is_default]

    def told(self) -> list[str]:
        """A line on each setting that is not at its default, and on what cannot be used."""
        changed = (
            f"{one.setting.name}={_shown(one.text)} from {one.origin}" for one in self.changed()
        )
        variables = (f"{name}={_shown(text)} by a file" for name, text in self.variables.items())
        return [*changed, *variables, *self.problems]


def resolve_run(
    environ: Mapping[str, str],
    assignments: Sequence[str] = (),
    verify: bool = False,
    files: Sequence[Path] = (),
) -> Resolution:
    """The settings of a run, by the order above. Raises HeadraceError."""
    said = [settings_file(path) for path in reversed(files)]
    found = resolve(
        [
            *command_line(assignments, verify),
            *(one.settings for one in said),
            *environment(environ, SETTINGS),
            *(one.suggestions for one in said),
        ]
    )
    variables: dict[str, str] = {}
    kept = []
    for layer in (one.variables for one in said):
        for name, text in layer.values.items():
            own = environ.get(name)
            if own is None:
                variables.setdefault(name, text)
            elif own != text:
                kept.append(_kept(name, own, "the environment", text, layer.origin))
    return replace(found, variables=variables, kept=[*found.kept, *kept])


def resolve(layers: Sequence[Layer], table: Iterable[Setting] = SETTINGS) -> Resolution:
    """The settings by `layers`, of which the first counts most. Raises HeadraceError for an
    unknown name or a bad value in a strict layer, even where another one hides it."""
    table = {setting.name: setting for setting in table}
    found: dict[str, Resolved] = {}
    problems = []
    for layer in layers:
        for name, text in layer.values.items():
            try:
                one = _resolved(table, name, text, layer)
            except HeadraceError as error:
                if layer.strict:
                    raise
                problems.append(str(error))
                continue
            if text or layer.strict:
                found.setdefault(name, one)
    settings = {name: found.get(name) or _at_default(one) for name, one in table.items()}
    given: dict[str, str] = {}
    for layer in reversed(layers):
        given |= layer.values if layer.forwarded else {}
    kept = []
    for layer in layers:
        for name, text in layer.values.items() if layer.suggested else ():
            one = settings[name]
            if one.origin == layer.origin:
                given[name] = text
            elif one.text != text:
                kept.append(_kept(name, one.text, one.origin, text, layer.origin))
    return Resolution(settings, given, problems, kept=kept)


def _kept(name: str, own: str, origin: str, text: str, suggested_by: str) -> str:
    return (
        f"{name}={_shown(own)} from {origin} is kept; {suggested_by} suggests {name}={_shown(text)}"
    )


def _at_default(setting: Setting) -> Resolved:
    return Resolved(setting, setting.default, read(setting, setting.default), DEFAULT)


def _resolved(table: Mapping[str, Setting], name: str, text: str, layer: Layer) -> Resolved:
    setting = table.get(name)
    if setting is None:
        raise HeadraceError(
            f"{_shown(name)} from {layer.origin} is unknown",
            "no setting has this name",
            _nearest(name, table),
        )
    try:
        return Resolved(setting, text, read(setting, text), layer.origin)
    except BadValue as error:
        problem = f"{name}={_shown(text)} from {layer.origin} cannot be used"
        raise HeadraceError(problem, error.why, error.remedy) from error


def _nearest(name: str, table: Mapping[str, Setting]) -> str:
    near = difflib.get_close_matches(name[:MOST_SHOWN], table, n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else "docs/reference/settings.md lists them"


def _shown(text: str) -> str:
    """A value as part of one line."""
    shown = "".join(char if char.isprintable() else "?" for char in text[:MOST_SHOWN])
    return shown + ("..." if len(text) > MOST_SHOWN else "")
