"""What tells one series of measurements from another: machine, build and settings."""

import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace import __version__, machine
from headrace.bench.programs import NAMES, SUFFIXES, folders
from headrace.bench.workspace import file_system
from headrace.launch.preload import find_library
from headrace.settings.resolver import resolve_run

MEMORY_FILE_SYSTEM = Path("/dev/shm")
DISK_FOLDERS = ("/tmp", "/var/tmp")
# Of the environment: whatever steers Headrace or an MPI, but for what only says where things are.
SETTING_PREFIXES = (
    *("HEADRACE_", "MPIR_CVAR_", "MPICH_", "OMPI_MCA_", "PRTE_MCA_", "I_MPI_"),
    *("FI_", "UCX_", "ROMIO_HINTS", "IOR_HINT__", "LD_PRELOAD"),
)
PLACES = ("HEADRACE_LIBRARY", "HEADRACE_MPI_PATH", "HEADRACE_BENCH_PATH", "I_MPI_ROOT")


def identity(size: int, environ: Mapping[str, str]) -> dict[str, Any]:
    """As results.SAME names it."""
    return {
        "machine": describe_machine(),
        "headrace": __version__,
        "library": _build(environ),
        "size": size,
        "settings": _settings(environ),
    }


def _build(environ: Mapping[str, str]) -> str:
    """Of the library and the benchmark programs."""
    names = [f"{name}-{suffix}" for name in NAMES for suffix in sorted({*SUFFIXES.values()})]
    found = (folder / name for name in names for folder in folders(environ)[:1])
    digest = hashlib.sha256(Path(find_library(environ)).read_bytes())
    for program in found:
        if program.is_file():
            digest.update(program.read_bytes())
    return digest.hexdigest()[:16]


def _settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Those of the environment, and of Headrace's by files."""
    settings = {key: text for key, text in environ.items() if key.startswith(SETTING_PREFIXES)}
    resolution = resolve_run(environ)
    settings |= {one.setting.name: one.text for one in resolution.changed()}
    settings |= resolution.variables
    return {key: settings[key] for key in sorted(settings) if key not in PLACES}


def describe_machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "name": platform.node(),
        "processor": _processor(),
        "cores": machine.available_cores(),
        "GiB": round(memory / 2**30),
        "kernel": platform.release(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def usual_directories(temporary: Path) -> list[Path]:
    """Where files are made by default: on a disk and in memory, as far as there are both."""
    folders = [temporary, *map(Path, DISK_FOLDERS)]
    usable = [folder for folder in folders if os.access(folder, os.W_OK)]
    disk = [folder for folder in usable if file_system(folder) != "tmpfs"][:1]
    memory = [MEMORY_FILE_SYSTEM] if os.access(MEMORY_FILE_SYSTEM, os.W_OK) else []
    return [*disk, *memory] or [temporary]
