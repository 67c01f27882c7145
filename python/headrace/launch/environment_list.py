"""Open MPI's list of variables, mca_base_env_list, which excludes -x. Pure functions."""

from collections.abc import Mapping

from headrace.launch.preload import combine_preload
from headrace.launch.values import PRELOAD, Launch, RankEnvironment
from headrace.launchers.line import Context

BASE_LIST = "mca_base_env_list"
VARIABLE = "OMPI_MCA_" + BASE_LIST


def position(line: list[str], contexts: list[Context]) -> int | None:
    """Index of the value of `--mca mca_base_env_list VALUE`, None without it."""
    for context in contexts:
        for option in context.options:
            if len(option.values) == 2 and option.values[0] == BASE_LIST:
                return option.start + 2
    return None


def extended(
    line: list[str], index: int | None, ranks: RankEnvironment, environ: Mapping[str, str]
) -> Launch:
    """`line` with the list at `index`, or the variable that holds it, extended by `ranks`."""
    result = dict(environ)
    given = line[index] if index is not None else result[VARIABLE]
    entries = {entry.partition("=")[0]: entry for entry in given.split(";") if entry}
    if ranks.preload:
        _, equals, value = entries.get(PRELOAD, "").partition("=")
        existing = value if equals else environ.get(PRELOAD)
        entries[PRELOAD] = f"{PRELOAD}={combine_preload(existing, ranks.preload)}"
    for name in ranks.variables:
        entries.setdefault(name, name)
    text = ";".join(entries.values())
    if index is None:
        result[VARIABLE] = text
        return Launch(line, result)
    return Launch([*line[:index], text, *line[index + 1 :]], result)
