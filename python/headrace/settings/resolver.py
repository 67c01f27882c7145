"""What each setting is in a run, and who says so. Pure but for reading settings files.

A setting has the value of the first of these that gives one:

1. the command line: `--verify`, then `--set NAME=VALUE`
2. settings files (`--settings FILE`), the last one named first
3. the environment: HEADRACE_NAME, then another toolkit's variable that means the same
4. the user's file, HEADRACE_USER
5. the site's file, HEADRACE_SITE
6. what settings files (`--settings FILE`) suggest below [headrace], the last one named first
7. the default

Files may suggest other programs' variables, too, below [environment]: one that the environment has
is left as it is.

An empty value stands for the default and hides what comes after it. Only an empty variable of
another toolkit is as if it were not there.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.settings.generated.table import SETTINGS
from headrace.settings.layers import (
    RUN_HINTS,
    Layer,
    command_line,
    environment,
    settings_file,
)
from headrace.settings.reading import BadValue, Value, read
from headrace.settings.setting import MOST_UNKNOWN, Setting
from headrace.settings.standing import standing_layers
from headrace.texts import LONGEST, shown

DEFAULT = "the default"

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
    untold: those of the problems that the library does not tell, as only the command reads them.
    """

    settings: Mapping[str, Resolved]
    given: Mapping[str, str]
    problems: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()
    untold: Sequence[str] = ()

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
            f"{one.setting.name}={shown(one.text)} from {one.origin}" for one in self.changed()
        )
        variables = (f"{name}={shown(text)} by a file" for name, text in self.variables.items())
        return [*changed, *variables, *self.problems]


def resolve_run(
    environ: Mapping[str, str],
    assignments: Sequence[str] = (),
    verify: bool = False,
    files: Sequence[Path] = (),
) -> Resolution:
    """The settings of a run, by the order above. Raises HeadraceError."""
    said = [settings_file(path) for path in reversed(files)]
    layers = [
        *command_line(assignments, verify),
        *(one.settings for one in said),
        *environment(environ, SETTINGS),
    ]
    _require_one_file_of_hints(layers, files)
    suggestions = [one.suggestions for one in said]
    found = resolve([*layers, *_standing([*layers, *suggestions], environ), *suggestions])
    variables, kept = _suggested_variables([one.variables for one in said], environ)
    return replace(found, variables=variables, kept=[*found.kept, *kept])


def _standing(layers: Sequence[Layer], environ: Mapping[str, str]) -> list[Layer]:
    """The files of the user and the site, which `layers` name."""
    named = resolve(layers).settings
    standing: list[Layer] = []
    for name, whose in (("HEADRACE_USER", "the user's"), ("HEADRACE_SITE", "the site's")):
        one = named[name]
        is_named = one.origin != DEFAULT and one.text != ""
        standing += standing_layers(str(one.value), is_named, whose, environ)
    return standing


def _suggested_variables(
    layers: Sequence[Layer], environ: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Other programs' variables by `layers`, of which the first counts most, and a line on each
    that gives way to the environment."""
    variables: dict[str, str] = {}
    kept = []
    for layer in layers:
        for name, text in layer.values.items():
            own = environ.get(name)
            if own is None:
                variables.setdefault(name, text)
            elif own != text:
                kept.append(_kept(name, own, "the environment", text, layer.origin))
    return variables, kept


def _require_one_file_of_hints(layers: Sequence[Layer], files: Sequence[Path]) -> None:
    origins = {f"'{file}'" for file in files}
    giving = [layer for layer in layers if layer.origin in origins and RUN_HINTS in layer.values]
    if len(giving) > 1:
        raise HeadraceError(
            f"{giving[0].origin} and {giving[1].origin} cannot be used together",
            "both give hints",
            "write all hints to one file",
        )


def resolve(layers: Sequence[Layer], table: Iterable[Setting] = SETTINGS) -> Resolution:
    """The settings by `layers`, of which the first counts most. Raises HeadraceError for an
    unknown name or a bad value in a strict layer, even where another one hides it. Of unknown names
    in other layers it tells the first MOST_UNKNOWN, as the library does."""
    table = {setting.name: setting for setting in table}
    found: dict[str, Resolved] = {}
    problems: list[str] = []
    untold: list[str] = []
    unknown = 0
    for layer in layers:
        problems += layer.problems
        for name, text in layer.values.items():
            if name not in table and not layer.strict:
                unknown += 1
                if unknown > MOST_UNKNOWN:
                    continue
            try:
                one = _resolved(table, name, text, layer)
            except HeadraceError as error:
                if layer.strict:
                    raise
                problems.append(str(error))
                untold += [str(error)] if name in COMMAND_SETTINGS else []
                continue
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
    return Resolution(settings, given, problems, kept=kept, untold=untold)


def _kept(name: str, own: str, origin: str, text: str, suggested_by: str) -> str:
    return (
        f"{name}={shown(own)} from {origin} is kept; {suggested_by} suggests {name}={shown(text)}"
    )


def _at_default(setting: Setting) -> Resolved:
    return Resolved(setting, setting.default, read(setting, setting.default), DEFAULT)


def _resolved(table: Mapping[str, Setting], name: str, text: str, layer: Layer) -> Resolved:
    setting = table.get(name)
    if setting is None:
        raise HeadraceError(
            f"{shown(name)} from {layer.origin} is unknown",
            "no setting has this name",
            _nearest(name, table),
        )
    try:
        return Resolved(setting, text, read(setting, text), layer.origin)
    except BadValue as error:
        problem = f"{name}={shown(text)} from {layer.origin} cannot be used"
        raise HeadraceError(problem, error.why, error.remedy) from error


def _nearest(name: str, table: Mapping[str, Setting]) -> str:
    near = difflib.get_close_matches(name[:LONGEST], table, n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else "docs/reference/settings.md lists them"
