"""What files of suggestions and rules may name: nothing that decides which code is loaded."""

from headrace.settings.generated.table import SETTINGS

# These name libraries, programs, and further files of settings.
NEVER_SUGGESTED = frozenset(setting.name for setting in SETTINGS if setting.scope == "start")
SUGGESTED = frozenset(setting.name for setting in SETTINGS) - NEVER_SUGGESTED

# Other programs' variables that tune threads, memory, MPI libraries and networks.
PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "MALLOC_"),
    *("MPICH_", "MPIR_CVAR_", "ROMIO_", "I_MPI_", "OMPI_MCA_", "PRTE_MCA_"),
    *("FI_", "UCX_", "PSM2_", "PSM3_"),
    *("SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_DISTRIBUTION", "SLURM_HINT"),
)
# Words at whose end a variable names code, a file, or a place of such.
_ENDS = (
    *("PATH", "DIR", "DIRS", "DIRECTORY", "FILE", "FILES", "FILENAME", "OUTPUT", "TRACE", "ROOT"),
    *("LIBRARY", "LIBRARIES", "PLUGIN", "PLUGINS", "COMPONENT", "COMPONENTS", "MODULE", "MODULES"),
    *("EXEC", "AGENT", "COMMAND", "CMD", "SCRIPT", "SHELL", "RSH", "SSH", "LAUNCHER", "HYDRA"),
    *("PROLOG", "EPILOG", "PREFIX", "TOOL", "ENV"),
)


def may_suggest_variable(name: str) -> bool:
    """Whether a variable of another program only tunes it, as far as its name tells."""
    words = name.upper().split("_")
    is_code = "MCA_BASE" in name.upper() or any(word.endswith(_ENDS) for word in words)
    return name.startswith(PREFIXES) and not is_code
