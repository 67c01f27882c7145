"""Asks a Python interpreter which libmpi its mpi4py would load. MPI is not initialised."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

PYTHON_PROBE_SECONDS = 60

PYTHON_PROBE = r"""
import glob, json, os, sys
answer = {"mpi4py": None, "extension": None, "library": None, "problem": None}
try:
    import mpi4py
    answer["mpi4py"] = mpi4py.__version__
    folder = os.path.dirname(mpi4py.__file__)
    names = glob.glob(os.path.join(folder, "MPI.*.so"))
    tagged = [n for n in names if os.path.basename(n).count(".") == 2]
    abi = getattr(mpi4py, "_mpiabi", None)
    if tagged or abi is None:
        answer["extension"] = (tagged or names or [None])[0]
    else:
        library = abi._dlopen_libmpi(abi.LIBMPI or os.environ.get("MPI4PY_LIBMPI"))
        import ctypes
        class Symbol(ctypes.Structure):
            _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                        ("name", ctypes.c_char_p), ("value", ctypes.c_void_p)]
        found = Symbol()
        # A front library finds MPI_Init in ours; this one only an MPI library has.
        address = ctypes.cast(library.PMPI_Type_get_contents, ctypes.c_void_p)
        if ctypes.CDLL(None).dladdr(address, ctypes.byref(found)):
            answer["library"] = os.fsdecode(found.file)
except ImportError as error:
    answer["problem"] = str(error)
except Exception as error:
    answer["problem"] = str(error).splitlines()[0]
print("\n" + json.dumps(answer))
"""


def ask_python(interpreter: Path, environ: Mapping[str, str]) -> dict:
    """What mpi4py of that interpreter would load: keys mpi4py, extension, library, problem."""
    clean = {name: value for name, value in environ.items() if name != "LD_PRELOAD"}
    try:
        answer = subprocess.run(
            [interpreter, "-c", PYTHON_PROBE],
            env=clean,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PYTHON_PROBE_SECONDS,
            check=False,
        )
        return json.loads(answer.stdout.decode("utf-8", "replace").splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
        return {"mpi4py": None, "extension": None, "library": None, "problem": "it does not run"}
