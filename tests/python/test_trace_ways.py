"""How functions of small programs can be traced, as compilers built them, compared with what
binutils tells of them."""

import subprocess
from pathlib import Path

import pytest
from trace_support import NAMES, compiled, entry_of, instructions, ways_of

from headrace.elf.code import Code
from headrace.profile.apa.ways import Modules, choices, files_of

NO_DEBUG = "build it with -g"


def build_id(program: Path) -> str:
    told = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    return told.stdout.split("Build ID: ")[1].split()[0]


def fields(line: str) -> list[str]:
    return line.split(" ")


def test_imports(tmp_path: Path) -> None:
    """Of a library that the program calls: what it exports and the program imports."""
    library = "int given(int a) { return a * 2; }\nint inner(int a) { return given(a) + 1; }\n"
    (tmp_path / "libgiven.c").write_text(library)
    line = ["gcc", "-O2", "-g", "-shared", "-fPIC", "libgiven.c", "-o", "libgiven.so"]
    subprocess.run(line, cwd=tmp_path, check=True)
    source = "int given(int);\nint main(int c, char** v) { return given(c) - 2; }\n"
    flags = (f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-Wl,--no-as-needed", "-lgiven")
    program = compiled(tmp_path, *flags, source=source)
    modules = Modules(files_of(str(program)))
    path = str(tmp_path / "libgiven.so")
    assert path in modules.paths
    own = {one.name: one for one in modules.code(path).functions}
    found = choices(modules, path, [own["given"], own["inner"]], prologues=False)
    ways = {one.name: {way.way: way for way in all_ways} for one, all_ways in found.items()}
    assert ways["given"]["import"].line == "import given"
    assert "no other file" in ways["inner"]["import"].refusal
    assert "--prologues" in ways["inner"]["prologue"].refusal


@pytest.mark.parametrize("flags", [(), ("-fno-plt",), ("-no-pie",), ("-s",)])
def test_hooks(tmp_path: Path, flags: tuple[str, ...]) -> None:
    source = """
    int called(int a) { return a + 3; }
    __attribute__((no_instrument_function, noinline)) int left(int a) { return a * a + 5; }
    int main(int c, char** v) { return called(c) + left(c); }
    """
    program = compiled(tmp_path, "-finstrument-functions", *flags, source=source)
    code = Code(program)
    if "-s" in flags:  # nothing has a name
        assert not {"called", "left"} & set(code.by_name)
        return
    called, left = code.by_name["called"][0], code.by_name["left"][0]
    assert code.calls_hooks(called)
    assert not code.calls_hooks(left)
    modules = Modules([str(program)])
    line = choices(modules, str(program), [called], prologues=False)[called][0].line
    assert line == f"hooks {build_id(program)} {entry_of(program, 'called'):x} called"


def test_hooks_by_short_stubs(tmp_path: Path) -> None:
    """Where their addresses are taken, too, linkers write stubs of 8 bytes."""
    source = """
    void __cyg_profile_func_exit(void*, void*);
    void __cyg_profile_func_enter(void*, void*);
    __attribute__((no_instrument_function)) void* taken(int a) {
      return a ? (void*)__cyg_profile_func_exit : (void*)__cyg_profile_func_enter;
    }
    __attribute__((noinline)) int called(int a) { return a + 3; }
    int main(int c, char** v) { return called(c) + (taken(c) == 0); }
    """
    code = Code(compiled(tmp_path, "-fPIC", "-finstrument-functions", source=source))
    assert code.calls_hooks(code.by_name["called"][0])


@pytest.mark.parametrize(
    ("flags", "before", "length"),
    [
        (("-fpatchable-function-entry=5",), 0, 5),
        (("-fpatchable-function-entry=16,2",), 0, 14),
        (("-fpatchable-function-entry=16,2", "-fcf-protection=full"), 4, 14),
        (("-fpatchable-function-entry=5", "-no-pie"), 0, 5),
        (("-pg", "-mfentry", "-mrecord-mcount", "-mnop-mcount", "-fno-pie", "-no-pie"), 0, 5),
    ],
)
def test_nops(tmp_path: Path, flags: tuple[str, ...], before: int, length: int) -> None:
    program = compiled(tmp_path, "-g", *flags)
    found = ways_of(program, prologues=False)
    for name in set(NAMES) - {"variadic"}:
        way, module, offset, told, stack, shown = fields(found[name]["nops"].line)
        assert (way, module, shown) == ("nops", build_id(program), name)
        assert int(offset, 16) == entry_of(program, name) + before
        assert int(told) == length
        assert int(stack) % 8 == 0
        of_room = range(int(offset, 16), int(offset, 16) + length)
        room = [text for at, text in instructions(program, name).items() if at in of_room]
        assert room and all(text.startswith(("nop", "xchg")) for text in room)
    # Two integers, a structure of 80 bytes and a long double lie on the stack.
    assert int(fields(found["many"]["nops"].line)[4]) >= 16 + 80 + 16
    assert "variadic" in found["variadic"]["nops"].refusal


def test_nops_that_are_too_few_or_untold(tmp_path: Path) -> None:
    few = ways_of(compiled(tmp_path, "-g", "-fpatchable-function-entry=3"), prologues=False)
    assert "left 3 bytes" in few["looped"]["nops"].refusal  # nops of its loop lie behind them
    assert "left 3 bytes" in few["plain"]["nops"].refusal
    for flag in ("-g0", "-g1"):
        untold = ways_of(compiled(tmp_path, flag, "-fpatchable-function-entry=5"), prologues=False)
        assert all(NO_DEBUG in untold[name]["nops"].refusal for name in NAMES), flag


def test_prologues(tmp_path: Path) -> None:
    pytest.importorskip("capstone")
    program = compiled(tmp_path, "-g")
    found = ways_of(program)
    for name in ("plain", "many"):
        way, module, offset, stack, moved, shown = fields(found[name]["prologue"].line)
        assert (way, module, shown) == ("prologue", build_id(program), name)
        at = int(offset, 16)
        assert at == entry_of(program, name)
        assert 5 <= len(moved) // 2 <= 32 and int(stack) % 8 == 0
        # What is moved ends where an instruction ends.
        assert at + len(moved) // 2 in instructions(program, name)
        assert Code(program).bytes_of(at, len(moved) // 2).hex() == moved
    assert int(fields(found["many"]["prologue"].line)[3]) >= 16 + 80 + 16
    for name, reason in {
        "variadic": "variadic",
        "tiny": "needs 16",
        "looped": "loop",
    }.items():
        refusal = found[name]["prologue"].refusal
        assert reason in refusal, (name, refusal)


def test_prologues_behind_a_mark(tmp_path: Path) -> None:
    """endbr64 stays where it is: indirect calls must find it."""
    pytest.importorskip("capstone")
    program = compiled(tmp_path, "-g", "-fcf-protection=full")
    found = ways_of(program)
    _, _, offset, _, moved, _ = fields(found["plain"]["prologue"].line)
    assert instructions(program, "plain")[entry_of(program, "plain")] == "endbr64"
    assert int(offset, 16) == entry_of(program, "plain") + 4
    assert not moved.startswith("f30f1efa")
    assert "jumps back" in found["looped"]["prologue"].refusal or (
        "loop" in found["looped"]["prologue"].refusal
    )


ASSEMBLY = r"""
asm(".text\n.globl into\n.type into,@function\ninto:\n"
    "  push %rbx\n  sub $8,%rsp\n1: add $1,%rdi\n  cmp $100,%rdi\n  jl into+1\n"
    "  mov %rdi,%rax\n  add $8,%rsp\n  pop %rbx\n  ret\n.size into,.-into\n"
    ".globl calls\n.type calls,@function\ncalls:\n"
    "  call into\n  add $1,%rax\n  add $1,%rax\n  add $1,%rax\n  ret\n.size calls,.-calls\n"
    ".globl relative\n.type relative,@function\nrelative:\n"
    "  mov into(%rip),%rax\n  add $1,%rax\n  add $1,%rax\n  add $1,%rax\n  ret\n"
    ".size relative,.-relative\n"
    ".globl outer\n.type outer,@function\nouter:\n  push %rbx\n  sub $8,%rsp\n"
    ".globl within\n.type within,@function\nwithin:\n  mov %rdi,%rax\n  add $8,%rsp\n  pop %rbx\n"
    "  add $1,%rax\n  ret\n.size outer,.-outer\n.size within,.-within\n"
    ".globl table\n.type table,@function\ntable:\n  push %rbx\n"
    "  sub $8,%rsp\n  add $1,%rax\n  add $1,%rax\n"
    "  add $8,%rsp\n  pop %rbx\n  jmp *%rdi\n.size table,.-table\n"
    ".globl picked\n.type picked,@gnu_indirect_function\npicked:\n"
    "  lea 1f(%rip),%rax\n  add $0,%rax\n  add $0,%rax\n  add $0,%rax\n1: ret\n"
    ".size picked,.-picked\n");
int main(void) { return 0; }
"""


def test_assembly_is_left_alone(tmp_path: Path) -> None:
    """Each with the reason that it was written for."""
    pytest.importorskip("capstone")
    program = compiled(tmp_path, "-g", source=ASSEMBLY)
    modules = Modules([str(program)])
    code = modules.code(str(program))
    reasons = {
        "into": "jumps back",
        "calls": "branches",
        "relative": "depend on where they lie",
        "outer": "another function begins within",
        "table": "target is not known",
        "picked": "IFUNC",
    }
    own = [code.by_name[name][0] for name in reasons]
    for one, ways in choices(modules, str(program), own, prologues=True).items():
        assert reasons[one.name] in ways[-1].refusal, ways[-1]


def test_what_is_never_traced(tmp_path: Path) -> None:
    source = """
    __attribute__((noinline)) int backtrace_own(int a) { return a * 3 + 1; }
    int main(int c, char** v) { return backtrace_own(c); }
    """
    program = compiled(tmp_path, "-g", "-fpatchable-function-entry=5", source=source)
    modules = Modules([str(program)])
    one = modules.code(str(program)).by_name["backtrace_own"][0]
    for way in choices(modules, str(program), [one], prologues=True)[one]:
        assert "looks at its caller" in way.refusal


@pytest.mark.parametrize("name", ["libmpi.so.12", "libc.so.6", "libheadrace.so"])
def test_libraries_that_are_left_alone(tmp_path: Path, name: str) -> None:
    program = compiled(tmp_path, "-g", "-fpatchable-function-entry=5")
    path = str(program.rename(tmp_path / name))
    modules = Modules([path])
    one = modules.code(path).by_name["plain"][0]
    ways = {way.way: way for way in choices(modules, path, [one], prologues=True)[one]}
    assert all("by slots only" in ways[way].refusal for way in ("hooks", "nops", "prologue"))


def test_arguments_of_other_languages(tmp_path: Path) -> None:
    """Fortran's texts have hidden lengths; C++ passes members and references."""
    (tmp_path / "f.f90").write_text(
        "subroutine texts(a, b, n)\n  character(*), intent(in) :: a, b\n  integer :: n\n"
        "  print *, a, b, n\nend subroutine\nprogram p\n  call texts('x', 'yy', 3)\nend program\n"
    )
    (tmp_path / "c.cc").write_text(
        "struct S { double d[4]; void f(int) {} };\n"
        "__attribute__((noinline)) double g(S s, void (S::*p)(int), const S& r, bool b) {\n"
        "  (s.*p)(b); return s.d[0] + r.d[1]; }\n"
        "int main() { S s{}; return g(s, &S::f, s, true) != 0; }\n"
    )
    flags = ["-O2", "-g", "-fpatchable-function-entry=5"]
    for tool, file, name, least in (
        ("gfortran", "f.f90", "texts_", 0),
        ("g++", "c.cc", "_Z1g1SMS_FviERKS_b", 32),
    ):
        program = tmp_path / file.replace(".", "-")
        subprocess.run([tool, *flags, tmp_path / file, "-o", program], check=True)
        modules = Modules([str(program)])
        one = modules.code(str(program)).by_name[name][0]
        ways = {w.way: w for w in choices(modules, str(program), [one], prologues=False)[one]}
        assert int(fields(ways["nops"].line)[4]) >= least, ways["nops"]


def test_broken_files_have_no_functions(tmp_path: Path) -> None:
    program = compiled(tmp_path, "-g")
    data = program.read_bytes()
    for place, text in (("cut", data[: len(data) // 2]), ("empty", b""), ("other", b"x" * 999)):
        path = tmp_path / place
        path.write_bytes(text)
        assert Code(path).functions == ()
    assert Code(tmp_path / "absent").machine == ""
    assert Code(tmp_path).machine == ""
