"""HDF5's own parallel tests (testpar in its source), linked with Debian's HDF5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from building import compile_with, write_if_changed
from case import BUILD, Case, Run, whole
from hosts import Host, multiarch

# testphdf5 is many tests in one program; the others are one each, from one source.
PHDF5 = "testphdf5 t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree"
PHDF5 += " t_chunk_alloc t_filter_read t_prop t_coll_md_read"
PROGRAMS = {
    "testphdf5": PHDF5.split(),
    **{name: [name] for name in ("t_mpi", "t_init_term", "t_filters_parallel")},
    "t_shapesame": ["t_shapesame"],
}
HELPERS = ("h5test", "testframe", "cache_common", "genall5")
RANKS = 3


def hdf5_own_cases(host: Host, source: Path) -> Iterator[Case]:
    kind = host.name.removeprefix("debian-")
    made = BUILD / "hdf5"
    write_if_changed(made / "H5srcdir_str.h", f'#define config_srcdir "{source / "test"}"\n')
    folders = [made, source / "src", source / "test", f"/usr/include/hdf5/{kind}"]
    library = f"/usr/lib/{multiarch()}/hdf5/{kind}"
    flags = [*(f"-I{folder}" for folder in folders), f"-L{library}", "-lhdf5", "-lm"]
    helpers = [source / "test" / f"{name}.c" for name in HELPERS]
    for name, parts in PROGRAMS.items():
        paths = [source / "testpar" / f"{part}.c" for part in parts]
        program, missing = compile_with(host, "c", [*paths, *helpers], f"hdf5/{name}", flags)
        yield Case(name, RANKS, [program], whole(_passed), timeout=240, missing=missing)


def _passed(run: Run) -> bool:
    return run.result.code == 0 and "*FAILED*" not in run.text
