"""What files of suggestions and rules may name: nothing that decides which code is loaded."""

import re

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
    *("PROLOG", "EPILOG", "PREFIX", "TOOL", "ENV", "BIN", "DUMP", "DEST", "TOPO"),
)
# It names a file, which the words of MPICH_MPIIO_HINTS do not.
_NAMES_A_FILE = "ROMIO_HINTS"
# Networks as "10.0.0.0/8" are no files.
_NETWORKS = re.compile(r"[0-9A-Fa-f.:]+/[0-9]{1,3}(?:,[0-9A-Fa-f.:]+/[0-9]{1,3})*")


def may_suggest_variable(name: str) -> bool:
    """Whether a variable of another program only tunes it, as far as its name tells."""
    words = name.upper().split("_")
    is_code = "MCA_BASE" in name.upper() or any(word.endswith(_ENDS) for word in words)
    return name.startswith(PREFIXES) and not is_code and name != _NAMES_A_FILE


def may_suggest_value(text: str) -> bool:
    """Whether a value names no file: none that tunes does."""
    return "/" not in text or _NETWORKS.fullmatch(text) is not None
