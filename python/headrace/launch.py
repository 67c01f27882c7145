"""Turns a launcher line and settings into the line and environment to execute. Pure functions.

The launcher's own way of setting a rank's environment is used, so that the ranks on every node
get the preload and the launcher and its daemons do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headrace.errors import HeadraceError
from headrace.launchers import INHERIT, SLURM, Context, Family, Option, read_contexts
from headrace.library import combine_preload
from headrace.mpi import Mpi, runtime_environment

PRELOAD = "LD_PRELOAD"
SETTING_PREFIX = "HEADRACE_"

# Settings of this command, which ranks do not get: the library would not know them.
COMMAND_SETTINGS = frozenset({"HEADRACE_LIBRARY", "HEADRACE_MPI_PATH", "HEADRACE_BENCH_PATH"})


# Named sets of variables that comparisons give to an MPI, by its kind.
PRESETS: dict[str, dict[str, dict[str, str]]] = {
    # More ranks than cores: waiting ranks let others run. MPICH has no such setting.
    "yield": {
        "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"},
        "intel": {"I_MPI_THREAD_YIELD": "3"},
    },
    # Intel MPI takes its NFS driver for local disks without this.
    "filesystem": {"intel": {"I_MPI_EXTRA_FILESYSTEM": "1"}},
}

# Open MPI refuses root unless both are set, its launcher of today by the second pair.
ROOT_ALLOWANCE = {
    f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1"
    for prefix in ("OMPI", "PRTE")
    for suffix in ("", "_CONFIRM")
}


@dataclass(frozen=True)
class Settings:
    """What every rank must find in its environment; `preload` is a library's path or None."""

    preload: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Launch:
    """What to execute. `executable` is argv[0]'s file where that is a bare name."""

    argv: list[str]
    environ: dict[str, str]
    executable: str = ""


def launch_line(
    mpi: Mpi,
    np: int,
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    settings: Settings = Settings(),
    presets: Sequence[str] = (),
    oversubscribe: bool = False,
    as_root: bool = False,
) -> Launch:
    """The line and environment that start `np` ranks of `command` under `mpi`.

    settings: what ranks get; none gives the plain MPI. presets: names of PRESETS.
    oversubscribe: let Open MPI start more ranks than cores. as_root: let it run as root.
    """
    if mpi.launcher is None:
        raise HeadraceError(
            f"{mpi.title} at {mpi.prefix} cannot start ranks",
            "it has no launcher",
            "install one beside it",
        )
    variables = dict(settings.variables)
    for name in presets:
        variables.update(PRESETS[name].get(mpi.kind, {}))
    environ = {**environ, **runtime_environment(mpi, {**environ, **variables})}
    if "LD_LIBRARY_PATH" in variables and "LD_LIBRARY_PATH" in environ:
        variables["LD_LIBRARY_PATH"] = _merged(variables["LD_LIBRARY_PATH"], environ)
    line = [str(mpi.launcher), "-n", str(np)]
    if mpi.kind == "openmpi":
        if oversubscribe:
            line += ["--map-by", ":OVERSUBSCRIBE"]
        if as_root:
            environ.update(ROOT_ALLOWANCE)
    return wrap([*line, *command], mpi.family, Settings(settings.preload, variables), environ)


def _merged(folders: str, environ: Mapping[str, str]) -> str:
    entries = [*folders.split(":"), *environ["LD_LIBRARY_PATH"].split(":")]
    return ":".join(dict.fromkeys(entry for entry in entries if entry))


def own_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The HEADRACE_* variables that ranks on other nodes need too."""
    return {
        name: value
        for name, value in sorted(environ.items())
        if name.startswith(SETTING_PREFIX) and name not in COMMAND_SETTINGS
    }


def wrap(
    line: Sequence[str], family: Family, settings: Settings, environ: Mapping[str, str]
) -> Launch:
    """`line` (launcher first) such that every rank of every context gets `settings`."""
    line = list(line)
    known = {name: value for name, value in environ.items() if name not in COMMAND_SETTINGS}
    environ = {**known, **settings.variables}
    contexts = read_contexts(family, line)
    if family is INHERIT or not (settings.preload or settings.variables):
        return Launch(line, _inherited(environ, settings))
    if family is SLURM:
        _check_slurm_value(settings)
        return Launch(_wrap_slurm(line, contexts, settings, environ), environ)
    base_list = _openmpi_environment_list(line, contexts)
    if base_list is not None or "OMPI_MCA_mca_base_env_list" in environ:
        # Open MPI accepts this list or -x, never both.
        return _extend_environment_list(line, base_list, settings, environ)
    argv = _wrap_assigning(line, family, contexts, settings, environ)
    if any(option.name in ("-app", "--app") for context in contexts for option in context.options):
        # Open MPI 4 does not apply -x to the programs that an application file lists.
        environ = _inherited(environ, settings)
    return Launch(argv, environ)


def _inherited(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    result = dict(environ)
    if settings.preload:
        result[PRELOAD] = combine_preload(environ.get(PRELOAD), settings.preload)
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
    settings: Settings,
    environ: Mapping[str, str],
) -> list[str]:
    wanted = dict(settings.variables)
    if settings.preload:
        wanted = {PRELOAD: combine_preload(environ.get(PRELOAD), settings.preload), **wanted}
    argv = line[:1]
    for number, context in enumerate(contexts):
        tokens, present = _rewritten(line, family, context, settings, environ, wanted)
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
    settings: Settings,
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
        assigned = _assigned(family, option)
        if assigned and assigned[0] in wanted:
            name, value = assigned
            present.add(name)
            if name == PRELOAD and settings.preload:
                given = environ.get(PRELOAD) if value is None else value
                preload = combine_preload(given, settings.preload)
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


def _wrap_slurm(
    line: list[str], contexts: list[Context], settings: Settings, environ: Mapping[str, str]
) -> list[str]:
    argv = line[:1]
    for number, context in enumerate(contexts):
        exports = [option for option in context.options if option.name == "--export"]
        given = exports[-1].values[0] if exports else environ.get("SLURM_EXPORT_ENV", "ALL")
        drop = {index for option in exports for index in range(option.start, option.end)}
        if number:
            argv.append(":")
        argv.append("--export=" + slurm_export(given, settings, environ))
        argv.extend(line[i] for i in range(context.start, context.end) if i not in drop)
    return argv


def _check_slurm_value(settings: Settings) -> None:
    if settings.preload and "," in settings.preload:
        raise HeadraceError(
            f"'{settings.preload}' cannot be preloaded by srun",
            "its --export list cannot hold a path with a comma",
            "install headrace in a directory without it, or set HEADRACE_LIBRARY to a copy",
        )


def slurm_export(given: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """srun's --export list `given`, extended. NONE and NIL become explicit lists, as srun(1) has
    it: a list without ALL exports Slurm's variables and those named."""
    entries = [entry for entry in given.split(",") if entry and entry not in ("NONE", "NIL")]
    named = {entry.partition("=")[0]: entry for entry in entries}
    if settings.preload:
        entry = named.pop(PRELOAD, PRELOAD)
        _, equals, value = entry.partition("=")
        existing = value if equals else environ.get(PRELOAD)
        if "ALL" not in named and entry == PRELOAD and PRELOAD not in entries:
            existing = None
        named[PRELOAD] = f"{PRELOAD}={combine_preload(existing, settings.preload)}"
    if "ALL" not in named:
        # By name alone srun takes the value from its own environment, commas included.
        for name in settings.variables:
            named.setdefault(name, name)
    return ",".join(named.values())


BASE_LIST = "mca_base_env_list"


def _openmpi_environment_list(line: list[str], contexts: list[Context]) -> int | None:
    """Index of the value of `--mca mca_base_env_list VALUE`, None without it."""
    for context in contexts:
        for option in context.options:
            if len(option.values) == 2 and option.values[0] == BASE_LIST:
                return option.start + 2
    return None


def _extend_environment_list(
    line: list[str], index: int | None, settings: Settings, environ: Mapping[str, str]
) -> Launch:
    result = dict(environ)
    variable = "OMPI_MCA_" + BASE_LIST
    given = line[index] if index is not None else result[variable]
    entries = {entry.partition("=")[0]: entry for entry in given.split(";") if entry}
    if settings.preload:
        _, equals, value = entries.get(PRELOAD, "").partition("=")
        existing = value if equals else environ.get(PRELOAD)
        entries[PRELOAD] = f"{PRELOAD}={combine_preload(existing, settings.preload)}"
    for name in settings.variables:
        entries.setdefault(name, name)
    extended = ";".join(entries.values())
    if index is None:
        result[variable] = extended
        return Launch(line, result)
    return Launch([*line[:index], extended, *line[index + 1 :]], result)
