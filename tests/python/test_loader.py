"""The search for shared objects, against ld.so's own answers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import compile_c

from headrace.elf import loader
from headrace.elf.facts import contains_static, defines, definitions, read_facts
from headrace.elf.loader import Loader, read_cache

LDD = shutil.which("ldd")


def ldd(program: Path, environ: dict[str, str]) -> dict[str, Path]:
    """soname -> file as ld.so has it."""
    answer = subprocess.run([LDD, program], env=environ, capture_output=True, text=True, check=True)
    found = re.findall(r"^\s*(\S+) => (\S+) \(", answer.stdout, re.MULTILINE)
    return {soname: Path(path) for soname, path in found}


def closure(program: Path, environ: dict[str, str]) -> dict[str, Path | None]:
    found = Loader(environ).closure(read_facts(program))
    return {dependency.soname: dependency.path for dependency in found}


def assert_same(program: Path, environ: dict[str, str]) -> None:
    ours, theirs = closure(program, environ), ldd(program, environ)
    assert theirs
    for soname, path in theirs.items():
        assert ours[soname] is not None and ours[soname].samefile(path), soname


@pytest.mark.skipif(LDD is None, reason="ldd is not installed")
@pytest.mark.parametrize("program", [sys.executable, shutil.which("bash"), shutil.which("ls")])
def test_same_objects_as_the_loader(program):
    assert_same(Path(program), {"PATH": os.environ["PATH"]})


def chain(folder: Path, tag: str) -> Path:
    """A program that needs libouter, which needs libinner, each in a directory of its own.

    tag: "runpath" or "rpath", given to the program (for both libraries) and to no other object.
    """
    inner, outer = folder / "inner", folder / "outer"
    compile_c("int inner(void){return 1;}", inner / "libinner.so", "-shared", "-fPIC")
    compile_c(
        "int inner(void); int outer(void){return inner();}",
        outer / "libouter.so",
        "-shared",
        "-fPIC",
        f"-L{inner}",
        "-linner",
    )
    dtags = "--enable-new-dtags" if tag == "runpath" else "--disable-new-dtags"
    return compile_c(
        "int outer(void); int main(void){return outer();}",
        folder / f"program-{tag}",
        f"-L{outer}",
        "-louter",
        f"-Wl,--allow-shlib-undefined,{dtags},-rpath,$ORIGIN/outer:{inner}",
    )


@pytest.mark.skipif(LDD is None, reason="ldd is not installed")
def test_rpath_serves_dependencies_of_dependencies_and_runpath_does_not(tmp_path):
    rpath, runpath = chain(tmp_path, "rpath"), chain(tmp_path, "runpath")
    assert_same(rpath, {})
    assert closure(rpath, {})["libinner.so"] == tmp_path / "inner" / "libinner.so"
    assert closure(runpath, {})["libouter.so"].samefile(tmp_path / "outer" / "libouter.so")
    assert closure(runpath, {})["libinner.so"] is None
    assert "libinner.so" not in ldd(runpath, {})


@pytest.mark.skipif(LDD is None, reason="ldd is not installed")
@pytest.mark.parametrize("tag", ["rpath", "runpath"])
def test_library_path_comes_between_rpath_and_runpath(tmp_path, tag):
    program = chain(tmp_path, tag)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("inner", "outer"):
        shutil.copy(tmp_path / name / f"lib{name}.so", other)
    environ = {"LD_LIBRARY_PATH": str(other)}
    assert_same(program, environ)
    expected = other if tag == "runpath" else tmp_path / "outer"
    assert closure(program, environ)["libouter.so"].parent.samefile(expected)


@pytest.mark.skipif(LDD is None, reason="ldd is not installed")
def test_the_origin_of_a_library_is_the_folder_of_its_link(tmp_path):
    """As trees of links have it: views of Spack, stow."""
    compile_c("int b(void){return 1;}", tmp_path / "view" / "libb.so", "-shared", "-fPIC")
    compile_c(
        "int b(void); int a(void){return b();}",
        tmp_path / "real" / "liba.so",
        *("-shared", "-fPIC", f"-L{tmp_path / 'view'}", "-lb", "-Wl,-rpath,$ORIGIN"),
    )
    (tmp_path / "view" / "liba.so").symlink_to("../real/liba.so")
    program = compile_c(
        "int a(void); int main(void){return a();}",
        tmp_path / "real" / "program",
        *(f"-L{tmp_path / 'view'}", "-la", "-Wl,--allow-shlib-undefined"),
        "-Wl,-rpath,$ORIGIN/../view",
    )
    link = tmp_path / "program"
    link.symlink_to("real/program")
    for path in (program, link):
        assert closure(path, {})["libb.so"].samefile(tmp_path / "view" / "libb.so")
        assert_same(path, {})


@pytest.mark.skipif(LDD is None, reason="ldd is not installed")
def test_tokens_in_the_library_path_and_the_folder_of_libraries(tmp_path):
    program = chain(tmp_path, "runpath")
    environ = {"LD_LIBRARY_PATH": "$ORIGIN/inner"}
    assert closure(program, environ)["libinner.so"].samefile(tmp_path / "inner" / "libinner.so")
    assert_same(program, environ)
    debugging = {"LD_DEBUG": "libs", "LD_LIBRARY_PATH": f"{tmp_path}/$LIB"}
    told = subprocess.run([program], env=debugging, capture_output=True, text=True, check=False)
    library_folder = next(loader._expand(["$LIB"], tmp_path))
    assert f"{tmp_path}/{library_folder}/" in told.stderr


def test_objects_for_another_machine_are_passed_over(tmp_path):
    program = chain(tmp_path, "runpath")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    data = bytearray((tmp_path / "outer" / "libouter.so").read_bytes())
    data[18:20] = (243).to_bytes(2, sys.byteorder)  # e_machine: RISC-V
    (foreign / "libouter.so").write_bytes(data)
    found = closure(program, {"LD_LIBRARY_PATH": str(foreign)})
    assert found["libouter.so"].samefile(tmp_path / "outer" / "libouter.so")


def test_cache_has_the_c_library():
    assert any(path.is_file() for path in read_cache().get("libc.so.6", ()))


def test_a_broken_cache_is_no_cache(tmp_path):
    broken = tmp_path / "cache"
    broken.write_bytes(b"glibc-ld.so.cache1.1" + b"\xff" * 60)
    assert read_cache(broken) == {}


def test_defined_and_undefined_symbols_are_told_apart(tmp_path):
    chain(tmp_path, "runpath")
    outer = tmp_path / "outer" / "libouter.so"
    assert defines(outer, "outer")
    assert not defines(outer, "inner")
    assert not defines(outer, "absent")
    assert not defines(tmp_path / "missing", "outer")


def test_a_file_that_is_not_what_it_seems_has_no_facts(tmp_path):
    """Bytes of its tables are other ones: nothing but an answer comes of it."""
    chain(tmp_path, "runpath")
    whole = (tmp_path / "outer" / "libouter.so").read_bytes()
    for at in range(0, min(len(whole), 4096), 16):
        data = bytearray(whole)
        data[at : at + 4] = b"\xff\xff\xff\x7f"
        broken = tmp_path / f"broken{at}"
        broken.write_bytes(data)
        read_facts(broken)
        definitions(broken)
        defines(broken, "outer")
        contains_static(broken, "outer")
        broken.unlink()
