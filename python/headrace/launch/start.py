"""The line that starts a program under an MPI. Pure functions."""

from collections.abc import Mapping, Sequence

from headrace.errors import HeadraceError
from headrace.launch.values import NOTHING, Launch, RankEnvironment
from headrace.launch.wrap import wrap
from headrace.mpi.environment import runtime_environment
from headrace.mpi.installed import Mpi

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

# One core for each rank. Intel MPI does that by itself; MPICH leaves it to the system, which may
# put two ranks that wait for each other on one core.
ONE_CORE_EACH = {"mpich": ("-bind-to", "core"), "openmpi": ("--bind-to", "core")}

# Open MPI refuses root unless both are set, its launcher of today by the second pair.
ROOT_ALLOWANCE = {
    f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1"
    for prefix in ("OMPI", "PRTE")
    for suffix in ("", "_CONFIRM")
}


def launch_line(
    mpi: Mpi,
    np: int,
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    ranks: RankEnvironment = NOTHING,
    presets: Sequence[str] = (),
    oversubscribe: bool = False,
    bind: bool = False,
    as_root: bool = False,
) -> Launch:
    """The line and environment that start `np` ranks of `command` under `mpi`.

    ranks: what they get; nothing gives the plain MPI. presets: names of PRESETS.
    oversubscribe: let Open MPI start more ranks than cores. bind: give each rank a core of its
    own, of which there must be enough. as_root: let it run as root.
    """
    if mpi.launcher is None:
        raise HeadraceError(
            f"{mpi.title} at {mpi.prefix} cannot start ranks",
            "it has no launcher",
            "install one beside it",
        )
    variables = dict(ranks.variables)
    for name in presets:
        variables.update(PRESETS[name].get(mpi.kind, {}))
    environ = {**environ, **runtime_environment(mpi, {**environ, **variables})}
    if "LD_LIBRARY_PATH" in variables and "LD_LIBRARY_PATH" in environ:
        variables["LD_LIBRARY_PATH"] = _merged(variables["LD_LIBRARY_PATH"], environ)
    line = [str(mpi.launcher), "-n", str(np)]
    if bind:
        line += ONE_CORE_EACH.get(mpi.kind, ())
    if mpi.kind == "openmpi":
        if oversubscribe:
            line += ["--map-by", ":OVERSUBSCRIBE"]
        if as_root:
            environ.update(ROOT_ALLOWANCE)
    return wrap([*line, *command], mpi.family, RankEnvironment(ranks.preload, variables), environ)


def _merged(folders: str, environ: Mapping[str, str]) -> str:
    entries = [*folders.split(":"), *environ["LD_LIBRARY_PATH"].split(":")]
    return ":".join(dict.fromkeys(entry for entry in entries if entry))
