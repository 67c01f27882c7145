"""Features compose, in C and Fortran, whatever their procedures' values: the chain and what the
generator makes of two features, with a library that is made up. No MPI is needed, so that it takes
seconds; tests/mpi/test_features.py does the same with the whole layer under every MPI."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import source_tree
from test_procedures import compile_it

from tools.generate.mpi import Model, read_spec
from tools.generate.standard import Standard

COUNTING = source_tree.ROOT / "tests" / "mpi" / "counting"
SOURCE = source_tree.ROOT / "tests" / "repository" / "composed_features.cc"
FEATURES = ("outer", "inner")
PROCEDURES = ["MPI_(Wtime|Pcontrol|Sendrecv|File_open|Barrier)"]
# What the library gets and returns, call by call; Fortran's have no name of their own for PMPI.
CALLS = (
    ("", "library -> 1234.062500"),
    ("-pmpi", "library -> 1234.062500"),
    (
        "",
        "library 3 1 1.500000 2 2.500000 3 3.500000 4 4.500000 5 5.500000 6 6.500000 "
        "7.500000 8.500000 9.500000 10.500000 -> 3",
    ),
    ("", "library 1 2 3 4 5 6 7 8 9 10 11 12 -> 42"),
    ("", "library 5 name 6 -1 -> 7 8"),
    ("", "fortran -> 0.015625"),
    ("", "f08 3 -> 9"),
)


def of_counting(name: str, feature: str) -> str:
    """A file of the feature that counts, for one of another name."""
    return source_tree.text(COUNTING / name).replace("counting", feature)


def including(sources: Sequence[object]) -> str:
    return "".join(f'#include "{source}"\n' for source in sources)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composed")
    spec = read_spec(source_tree.ROOT / "spec")
    spec["shown"] = {"functions": []}
    spec["features"] = [
        {
            "name": name,
            "procedures": PROCEDURES,
            "linkages": ["c", "mpif", "f08", "f08ts"],
            "typed": False,
        }
        for name in FEATURES
    ]
    for name in FEATURES:
        template = of_counting("counting_wrappers.cc.j2", name)
        (folder / f"{name}_wrappers.cc.j2").write_text(template)
        (folder / f"{name}.h").write_text(of_counting("counting.h", name))
    for output in Model(spec, Standard()).outputs("abi/generated", (folder,)):
        path = folder / output.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(output.text)
    flags = ["-O1", "-DHEADRACE_FLAVOUR=abi_composed"]
    made = str(folder / "entries.o")
    # Two units: more headers take longer.
    entries = ["abi/generated/exports.cc", "abi/generated/inner_wrappers.cc"]
    compile_it(including(entries), folder / "entries.cc", *flags, "-c", "-o", made)
    rest = [SOURCE, "abi/front/chain.cc", "abi/generated/outer_wrappers.cc"]
    target = str(folder / "composed")
    compile_it(including(rest), folder / "composed.cc", *flags, made, "-o", target)
    return folder / "composed"


def test_features_compose(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    parts = {
        "before any has joined": (),
        "outer": ("outer",),
        "both": FEATURES,
        "inner": ("inner",),
    }
    expected = []
    for title, features in parts.items():
        expected.append(title)
        for name, rest in CALLS:
            expected.append("".join(f"{feature}{name} " for feature in features) + rest)
        expected += ["outer inner library -7000 -> -7000"] if title == "both" else []
    assert done.stdout.splitlines() == expected
