"""./dev package: what is published of a version, in dist.

    headrace-VERSION-py3-none-manylinux_X_Y_MACHINE.whl   for pip: command, library, programs
    headrace-VERSION-MACHINE.tar.gz                       library and programs, without Python
    headrace-VERSION-sources.tar.gz                       with the MPI headers: builds offline
    recipes                                               that build these sources: RPM, Spack, ...

The first two run with every glibc from `glibc-minimum-portable` of pyproject.toml on.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import platform
import re
import shutil
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from devtool import debian, old_glibc, provision, stub_names, symbol_versions
from devtool.building import remove_if_moved, tool_environment
from devtool.failure import Failure
from devtool.lock import exclusive
from devtool.paths import BUILD, MPI, ROOT, VENV
from devtool.steps import Step, fresh_log, run_logged, run_steps

DIST = ROOT / "dist"
PORTABLE = BUILD / "portable"
# Of an MPI, which the user's launcher brings.
FROM_THE_MPI = ("libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1")
# What one needs to compile against an MPI; its licence goes with them.
HEADERS = {"mpich": ("*.h",), "openmpi": ("*.h", "openmpi/mpiext/*.h")}
LAYER = provision.Layer("headers of old glibc versions, and auditwheel", VENV, ("package",))


def build() -> list[Path]:
    """Makes all anew, and returns the files' paths. Errors: Failure."""
    if re.search(r"\s", str(ROOT)):
        raise Failure(
            f"no packages can be made in '{ROOT}'",
            "tools that make them cut names at blanks",
            "move the checkout to a folder without any in its name",
        )
    minimum = str(_project()["tool"]["headrace"]["glibc-minimum-portable"])
    with exclusive(), tempfile.TemporaryDirectory(prefix="headrace-package-") as name:
        remove_if_moved(PORTABLE)
        installing = provision.pending([*provision.BUILD, provision.TEST_TOOLS, LAYER])
        if installing:
            debian.ensure(debian.BUILD)
        made = Path(name) / "made"
        made.mkdir()
        run_steps([*installing, *_steps(Path(name), made, minimum, fresh_log("package"))])
        return publish(made)


def publish(made: Path) -> list[Path]:
    """Moves all of `made` to dist, in place of what was made of this version before."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"headrace-{version()}*"):
        if old.is_file():  # archives may have been unpacked there
            old.unlink()
    recipes = DIST / "recipes"
    shutil.rmtree(recipes, ignore_errors=True)
    packages = [shutil.move(path, DIST) for path in sorted(made.glob("headrace-*"))]
    shutil.move(made / "recipes", recipes)
    return [*map(Path, packages), *sorted(recipes.iterdir())]


def _steps(folder: Path, made: Path, minimum: str, log: Path) -> list[Step]:
    """Of building in `folder` what is to be published in `made`, once the tools are there."""
    platform_tag = f"manylinux_{minimum.replace('.', '_')}_{platform.machine()}"
    return [
        Step(
            f"making headers and stub libraries of glibc {minimum}",
            lambda: _make_sysroot(minimum, log),
        ),
        Step("building the wheel", lambda: _wheel(folder, minimum, log), log),
        Step(f"checking what it needs of glibc {minimum}", lambda: _check(folder, minimum)),
        Step(f"naming it for {platform_tag}", lambda: _repair(folder, made, platform_tag, log)),
        Step("packing the library and its programs", lambda: _pack_binaries(made)),
        Step("packing the sources", functools.partial(_pack_sources, folder, made, log)),
        Step("writing recipes for the sources", lambda: _write_recipes(made)),
    ]


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def version() -> str:
    found = re.search(r"project\(headrace VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found
    return found[1]


def _sysroot(minimum: str) -> Path:
    return BUILD / f"glibc-{minimum}"


def _make_sysroot(minimum: str, log: Path) -> None:
    """What was linked with other stubs is linked anew: the build does not look at these."""
    sysroot = _sysroot(minimum)
    if not old_glibc.is_made(sysroot, minimum):
        shutil.rmtree(PORTABLE, ignore_errors=True)
        old_glibc.make_sysroot(sysroot, minimum, log)


def _wheel(folder: Path, minimum: str, log: Path) -> None:
    settings = {
        "build-dir": str(PORTABLE),
        "cmake.define.CMAKE_TOOLCHAIN_FILE": str(ROOT / "cmake" / "portable.cmake"),
        "cmake.define.HEADRACE_SYSROOT": str(_sysroot(minimum)),
        "cmake.define.HEADRACE_GLIBC": minimum,
        "cmake.define.HEADRACE_PRECOMPILE": "ON",
        "cmake.define.HEADRACE_WERROR": "ON" if os.environ.get("CI") else "OFF",
    }
    words = [f"-C{name}={value}" for name, value in settings.items()]
    python = VENV / "bin" / "python"
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-w", folder]
    action = "fix the first error above it"
    run_logged(
        [python, "-m", "pip", "wheel", *options, *words, ROOT], log, action, tool_environment()
    )


def _check(folder: Path, minimum: str) -> None:
    unpacked = folder / "unpacked"
    with zipfile.ZipFile(_built(folder)) as wheel:
        wheel.extractall(unpacked)
    binaries = symbol_versions.check(unpacked, minimum, FROM_THE_MPI)
    _require_all_names([unpacked / name for name in binaries])


def _require_all_names(binaries: Iterable[Path]) -> None:
    """Of the C library's variables that programs have copies of."""
    libc = old_glibc.found_by_compiler("libc.so.6")
    for path in binaries:
        if lacking := stub_names.lacking_names(path, libc):
            raise Failure(
                f"{path.name} of the package would not see what the C library keeps",
                f"it has a copy of a variable without its other names {', '.join(lacking)}",
                "see what tools/devtool/old_glibc.py made",
            )


def _repair(folder: Path, made: Path, platform_tag: str, log: Path) -> None:
    """auditwheel also refuses what needs more than the platform has, and names the wheel for it."""
    excluded = [word for name in FROM_THE_MPI for word in ("--exclude", name)]
    command = [VENV / "bin" / "auditwheel", "repair", "--plat", platform_tag, "--only-plat"]
    action = "see what the platform lacks, and do without it"
    run_logged([*command, *excluded, "-w", made, _built(folder)], log, action, tool_environment())


def _built(folder: Path) -> Path:
    (wheel,) = folder.glob(f"headrace-{version()}-py3-none-*.whl")
    return wheel


def _pack_binaries(made: Path) -> None:
    """For machines without Python: LD_PRELOAD names lib/libheadrace.so."""
    top = f"headrace-{version()}"
    archive = made / f"{top}-{platform.machine()}.tar.gz"
    with zipfile.ZipFile(_built(made)) as source, tarfile.open(archive, "w:gz") as target:
        for name in sorted(one for one in source.namelist() if not one.endswith("/")):
            if name.startswith(("headrace/lib/", "headrace/bin/", "headrace/include/")):
                mode = 0o644 if "/include/" in name else 0o755
                _add(target, f"{top}/{name.removeprefix('headrace/')}", source.read(name), mode)
        for name in ("LICENSE", "README.md", "CHANGELOG.md"):
            _add(target, f"{top}/{name}", (ROOT / name).read_bytes(), 0o644)


def _pack_sources(folder: Path, made: Path, log: Path) -> None:
    """The sources as the wheel's backend packs them, and the headers of MPIs."""
    code = f"import backend; backend.build_sdist({str(folder)!r})"
    environment = {**tool_environment(), "PYTHONPATH": str(ROOT / "tools" / "wheel")}
    run_logged([VENV / "bin" / "python", "-c", code], log, "see the lines above", environment)
    top = f"headrace-{version()}"
    archive = made / f"{top}-sources.tar.gz"
    with (
        tarfile.open(folder / f"{top}.tar.gz") as source,
        tarfile.open(archive, "w:gz") as target,
    ):
        for member in source:
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
        for path, name in _vendored():
            _add(target, f"{top}/vendor/mpi/{name}", path.read_bytes(), 0o644)


def _write_recipes(made: Path) -> None:
    archive = made / f"headrace-{version()}-sources.tar.gz"
    facts = {
        "@VERSION@": version(),
        "@SHA256@": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    folder = made / "recipes"
    folder.mkdir()
    for template in sorted((ROOT / "packaging").glob("*.in")):
        text = template.read_text()
        for name, value in facts.items():
            text = text.replace(name, value)
        (folder / template.stem.replace("VERSION", version())).write_text(text)


def _vendored() -> Iterator[tuple[Path, str]]:
    for mpi, patterns in HEADERS.items():
        include = MPI / mpi / "include"
        for path in sorted(path for pattern in patterns for path in include.glob(pattern)):
            yield path, f"{mpi}/include/{path.relative_to(include)}"
        for path in sorted((MPI / mpi).glob(f"lib/python*/site-packages/{mpi}-*/licenses/*")):
            if path.name.upper() in ("LICENSE", "COPYRIGHT", "COPYRIGHT.TXT"):
                yield path, f"{mpi}/{path.name}"


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = mode
    archive.addfile(member, io.BytesIO(content))
