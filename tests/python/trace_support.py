"""Small programs whose functions are to be traced, and what is asked of them."""

import subprocess
from functools import cache
from pathlib import Path

from headrace.elf.code import Function
from headrace.profile.apa.ways import Choice, Modules, choices, files_of

SOURCE = r"""
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#define OUT __attribute__((noinline, noclone))
struct large { double part[10]; };
OUT double plain(double x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += sin(x * i) / n;
  return sum;
}
OUT double many(int a, int b, int c, int d, int e, int f, int g, int h, struct large s,
                long double z) {
  printf("%d", a);
  return a + b + c + d + e + f + g + h + s.part[9] + (double)z;
}
OUT int variadic(int n, ...) {
  va_list all;
  va_start(all, n);
  int sum = 0;
  while (n--) sum += va_arg(all, int);
  va_end(all);
  return sum;
}
OUT int tiny(int a) { return a + 1; }
OUT int chosen(int a) {
  puts("switch");
  switch (a) {
    case 0: return printf("a");
    case 1: return printf("bb") * 2;
    case 2: puts("d"); return 4;
    case 3: return printf("ccc") + 7;
    case 4: return puts("x");
    case 5: return 77;
    default: return printf("z");
  }
}
OUT void looped(volatile int* p) {
  do {
    *p += 3;
  } while (*p < 1000);
  *p = 7;
  *p = 9;
  *p = 10;
}
OUT int again(int n) { return n < 2 ? n : again(n - 1) + again(n - 2) + printf("-"); }
int main(int argc, char** argv) {
  struct large s = {{0}};
  volatile int q = argc;
  looped((int*)&q);
  printf("%f %f %d %d %d %d\n", plain(argc, 3), many(1, 2, 3, 4, 5, 6, 7, 8, s, 3),
         variadic(2, 3, 4), tiny(argc), chosen(argc), again(argc));
  return 0;
}
"""
NAMES = ("plain", "many", "variadic", "tiny", "chosen", "looped", "again")


def compiled(folder: Path, *flags: str, source: str = SOURCE, name: str = "app") -> Path:
    (folder / f"{name}.c").write_text(source)
    program = folder / name
    line = ["gcc", "-O2", "-fcf-protection=none", "-Wl,--build-id", *flags, f"{name}.c"]
    subprocess.run([*line, "-lm", "-o", name], cwd=folder, check=True)
    return program


def ways_of(program: Path, prologues: bool = True) -> dict[str, dict[str, Choice]]:
    """By function, then by way."""
    modules = Modules(files_of(str(program)))
    code = modules.code(str(program))
    own = [code.by_name[name][0] for name in NAMES if name in code.by_name]
    found = choices(modules, str(program), own, prologues)
    return {one.name: {way.way: way for way in ways} for one, ways in found.items()}


@cache
def disassembled(program: Path) -> str:
    """By binutils, which the engine does not use."""
    done = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    )
    return done.stdout


def instructions(program: Path, function: str) -> dict[int, str]:
    """By address."""
    part = disassembled(program).split(f"<{function}>:\n", 1)[1].split("\n\n", 1)[0]
    rows = (line.split("\t", 1) for line in part.splitlines() if "\t" in line)
    return {int(place.strip().rstrip(":"), 16): text.strip() for place, text in rows}


def entry_of(program: Path, function: str) -> int:
    """By nm."""
    told = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in told.splitlines())
    return next(int(row[0], 16) for row in rows if row[-1] == function and len(row) == 3)


__all__ = ["NAMES", "Function", "compiled", "entry_of", "instructions", "ways_of"]
