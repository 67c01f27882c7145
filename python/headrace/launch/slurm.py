"""srun's way of giving its ranks variables: one list, --export. Pure functions."""

from collections.abc import Mapping

from headrace.errors import HeadraceError
from headrace.launch.preload import combine_preload
from headrace.launch.values import PRELOAD, RankEnvironment
from headrace.launchers.line import Context


def wrap_slurm(
    line: list[str], contexts: list[Context], ranks: RankEnvironment, environ: Mapping[str, str]
) -> list[str]:
    """`line` with one --export for each context, in place of those that it has."""
    argv = line[:1]
    for number, context in enumerate(contexts):
        exports = [option for option in context.options if option.name == "--export"]
        given = exports[-1].values[0] if exports else environ.get("SLURM_EXPORT_ENV", "ALL")
        drop = {index for option in exports for index in range(option.start, option.end)}
        if number:
            argv.append(":")
        argv.append("--export=" + slurm_export(given, ranks, environ))
        argv.extend(line[i] for i in range(context.start, context.end) if i not in drop)
    return argv


def check_slurm_value(ranks: RankEnvironment) -> None:
    """Raises the error for a library whose path the list cannot hold."""
    if ranks.preload and "," in ranks.preload:
        raise HeadraceError(
            f"'{ranks.preload}' cannot be preloaded by srun",
            "its --export list cannot hold a path with a comma",
            "install headrace in a directory without it, or set HEADRACE_LIBRARY to a copy",
        )


def slurm_export(given: str, ranks: RankEnvironment, environ: Mapping[str, str]) -> str:
    """srun's --export list `given`, extended. NONE and NIL become explicit lists, as srun(1) has
    it: a list without ALL exports Slurm's variables and those named."""
    entries = [entry for entry in given.split(",") if entry and entry not in ("NONE", "NIL")]
    named = {entry.partition("=")[0]: entry for entry in entries}
    if ranks.preload:
        entry = named.pop(PRELOAD, PRELOAD)
        _, equals, value = entry.partition("=")
        existing = value if equals else environ.get(PRELOAD)
        if "ALL" not in named and entry == PRELOAD and PRELOAD not in entries:
            existing = None
        named[PRELOAD] = f"{PRELOAD}={combine_preload(existing, ranks.preload)}"
    if "ALL" not in named:
        # By name alone srun takes the value from its own environment, commas included.
        for name in ranks.variables:
            named.setdefault(name, name)
    return ",".join(named.values())
