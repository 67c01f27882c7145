"""Turns a launcher line, and what ranks get, into what is executed. Pure functions.

The launcher's own way of setting a rank's environment is used, so that the ranks on every node
get the preload and the launcher and its daemons do not.
"""

from collections.abc import Mapping, Sequence

from headrace.launch import environment_list
from headrace.launch.preload import combine_preload
from headrace.launch.slurm import check_slurm_value, wrap_slurm
from headrace.launch.values import PRELOAD, Launch, RankEnvironment
from headrace.launchers.families import INHERIT, SLURM, Family
from headrace.launchers.line import Context, Option, read_contexts
from headrace.settings.resolver import COMMAND_SETTINGS


def wrap(
    line: Sequence[str], family: Family, ranks: RankEnvironment, environ: Mapping[str, str]
) -> Launch:
    """`line` (launcher first) such that every rank of every context gets `ranks`."""
    line = list(line)
    known = {name: value for name, value in environ.items() if name not in COMMAND_SETTINGS}
    environ = {**known, **ranks.variables}
    contexts = read_contexts(family, line)
    if family is INHERIT or not (ranks.preload or ranks.variables):
        return Launch(line, _inherited(environ, ranks))
    if family is SLURM:
        check_slurm_value(ranks)
        return Launch(wrap_slurm(line, contexts, ranks, environ), environ)
    base_list = environment_list.position(line, contexts)
    if base_list is not None or environment_list.VARIABLE in environ:
        # Open MPI accepts this list or -x, never both.
        return environment_list.extended(line, base_list, ranks, environ)
    argv = _wrap_assigning(line, family, contexts, ranks, environ)
    if any(option.name in ("-app", "--app") for context in contexts for option in context.options):
        # Open MPI 4 does not apply -x to the programs that an application file lists.
        environ = _inherited(environ, ranks)
    return Launch(argv, environ)


def _inherited(environ: Mapping[str, str], ranks: RankEnvironment) -> dict[str, str]:
    result = dict(environ)
    if ranks.preload:
        result[PRELOAD] = combine_preload(environ.get(PRELOAD), ranks.preload)
    return result


def _assigned(family: Family, option: Option) -> tuple[str, str | None] | None:
    """Variable and value that an option sets; the value is None where it is the launcher's own."""
    if option.name not in family.assign_options or not option.values:
        return None
    if len(option.values) == 2:
        return option.values[0], option.values[1]
    name, equals, value = option.values[0].partition("=")
    return name, value if equals else None


def _assign(family: Family, variables: Mapping[str, str]) -> list[str]:
    return [
        token.format(name=name, value=value)
        for name, value in variables.items()
        for token in family.assign
    ]


def _wrap_assigning(
    line: list[str],
    family: Family,
    contexts: list[Context],
    ranks: RankEnvironment,
    environ: Mapping[str, str],
) -> list[str]:
    wanted = dict(ranks.variables)
    if ranks.preload:
        wanted = {PRELOAD: combine_preload(environ.get(PRELOAD), ranks.preload), **wanted}
    every = [option for context in contexts for option in context.options]
    argv = [*line[:1], *(option.name for option in every if option.name in family.leading)]
    for number, context in enumerate(contexts):
        tokens, present = _rewritten(line, family, context, ranks, environ, wanted)
        if number:
            argv.append(":")
        if family.per_context:
            missing = {name: value for name, value in wanted.items() if name not in present}
            argv.extend(_assign(family, missing))
        elif number == 0:
            # First on the line: what the user sets there, for all or for one context, prevails.
            argv.extend(_assign(family, wanted))
        argv.extend(tokens)
    return argv


def _rewritten(
    line: list[str],
    family: Family,
    context: Context,
    ranks: RankEnvironment,
    environ: Mapping[str, str],
    wanted: Mapping[str, str],
) -> tuple[list[str], set[str]]:
    """A context's tokens with our library in the user's own LD_PRELOAD, and the names it sets."""
    tokens: list[str] = []
    present: set[str] = set()
    position = context.start
    for option in context.options:
        tokens.extend(line[position : option.start])
        position = option.end
        if option.name in family.leading:
            continue
        assigned = _assigned(family, option)
        if assigned and assigned[0] in wanted:
            name, value = assigned
            present.add(name)
            if name == PRELOAD and ranks.preload:
                given = environ.get(PRELOAD) if value is None else value
                preload = combine_preload(given, ranks.preload)
                tokens.extend(_replaced(option, name, preload))
                continue
        tokens.extend(line[option.start : option.end])
        if option.name in family.drop_options:
            tokens.extend(
                token for item in wanted.items() for token in (_local_name(option), *item)
            )
    tokens.extend(line[position : context.end])
    return tokens, present


def _replaced(option: Option, name: str, value: str) -> list[str]:
    if len(option.values) == 2:
        return [option.name, name, value]
    if option.end - option.start == 1:
        return [f"{option.name}={name}={value}"]
    return [option.name, f"{name}={value}"]


def _local_name(option: Option) -> str:
    """Hydra's option that sets a variable in one context, after one that drops the others."""
    return "--env" if option.name.startswith("--") else "-env"
