"""Which versions of glibc's and libgcc's symbols, and which libraries, a binary needs; and whether
an older system has them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from devtool.failure import Failure

# The last that GCC 8 has, RHEL 8's.
LIBGCC = "7.0.0"
# A later binutils puts the version into brackets.
UNDEFINED = re.compile(r"\*UND\*\s+\w+[ \t]+\(?([A-Z]+_[\w.]+)\)?[ \t]+(\S+)$", re.M)
SYSTEM = re.compile(r"^(lib(c|m|pthread|dl|rt|gcc_s)\.so\.\d+|ld-linux[\w-]*\.so\.\d+)$")


@dataclass(frozen=True)
class Needs:
    """What a binary takes from others: libraries, and versions with the symbols' names."""

    libraries: tuple[str, ...]
    versions: Mapping[str, tuple[str, ...]]


def check(folder: Path, glibc: str, others: Iterable[str]) -> list[str]:
    """Names the binaries below `folder`, after a look at each: a system with this glibc and GCC 8's
    libgcc_s runs them, if it has `others`, libraries that the user brings. Errors: Failure if not.
    """
    binaries = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_elf(path)]
    found = [
        f"{path.relative_to(folder)} needs {what}"
        for path in binaries
        for what in too_new(needs(_objdump(path)), glibc, others)
    ]
    if found:
        raise Failure(
            "the package would not run on older systems",
            "; ".join(found),
            "do without these where they are missing (packaging/old_glibc, docs/packages.md)",
        )
    if not binaries:
        raise Failure("the package is empty", "it has no binary", "see what was built")
    return [str(path.relative_to(folder)) for path in binaries]


def needs(listing: str) -> Needs:
    """Of a binary, from what `objdump -pT` lists of it."""
    versions: dict[str, list[str]] = {
        version: [] for version in re.findall(r"^\s+0x\w+ 0x\w+ \d+ (\S+)$", listing, re.M)
    }
    for version, name in UNDEFINED.findall(listing):
        versions.setdefault(version, []).append(name)
    libraries = re.findall(r"^\s+NEEDED\s+(\S+)$", listing, re.M)
    return Needs(tuple(libraries), {version: tuple(names) for version, names in versions.items()})


def too_new(needs: Needs, glibc: str, others: Iterable[str]) -> list[str]:
    """What a system with this glibc lacks, each with the names that ask for it."""
    allowed = {"GLIBC": numbers(glibc), "GCC": numbers(LIBGCC)}
    lacking = []
    for version, names in sorted(needs.versions.items()):
        family, _, number = version.rpartition("_")
        is_number = re.fullmatch(r"[\d.]+", number) is not None
        if family in allowed and is_number and numbers(number) <= allowed[family]:
            continue
        lacking.append(f"{version} ({', '.join(names)})" if names else version)
    lacking += [
        name for name in needs.libraries if not SYSTEM.match(name) and name not in set(others)
    ]
    return lacking


def numbers(version: str) -> list[int]:
    """Of a version such as "2.28", to compare it with others."""
    return [int(part) for part in version.split(".")]


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _objdump(path: Path) -> str:
    done = subprocess.run(["objdump", "-pT", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"objdump cannot read {path.name}", done.stderr.strip(), "build it anew")
    return done.stdout
