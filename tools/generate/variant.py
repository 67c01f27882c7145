"""`python -m tools.generate.variant DATA FOLDER`: the entries with features that only tests have.

DATA is a TOML file of `[[features]]` as in spec/mpi.toml, which stand before the product's; their
templates lie beside it. FOLDER gets abi/generated, to be found before that of src.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from tools.generate.mpi import Model, read_spec
from tools.generate.standard import Standard

ROOT = Path(__file__).resolve().parents[2]


def main(data: Path, folder: Path) -> None:
    spec = read_spec(ROOT / "spec")
    spec["features"] = tomllib.loads(data.read_text())["features"] + spec["features"]
    model = Model(spec, Standard())
    for output in model.outputs("abi/generated", (data.parent,)):
        path = folder / output.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != output.text:
            path.write_text(output.text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
