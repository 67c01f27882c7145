"""Names of C++ that would take all memory, beside those that real programs have."""

import os
import shutil
import subprocess
import sys

import pytest
from cli_support import ROOT

from headrace.symbols import demangler
from headrace.symbols.names import demangled

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_MEMORY = 200 << 20
REAL = [
    "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_St6vectorIS5_SaIS5"
    "_EEESt10_Select1stISB_ESt4lessIS5_ESaISB_EE24_M_get_insert_unique_posERS7_",
    "_ZNSt6vectorIS_IS_IS_IiSaIiEESaIS1_EESaIS3_EESaIS5_EE17_M_realloc_insertIJRKS5_EEEvN9__gnu_cxx17_"
    "_normal_iteratorIPS5_S7_EEDpOT_",
    "_ZSt3mapISt4pairIiiES_IS0_S0_ESt4lessIS0_ESaIS_IKS0_S0_EEE",
]


def base36(number: int) -> str:
    text = ""
    while number or not text:
        text, number = DIGITS[number % 36] + text, number // 36
    return text


def doubling(levels: int) -> str:
    """A function whose argument is a pair of pairs of pairs: each the last one, twice."""
    pairs = "".join(f"S{base36(levels + own - 1)}_E" for own in range(levels))
    return "_Z1f" + "1BI" * levels + "1A" + pairs


@pytest.fixture
def child():
    """A new one, which is gone afterwards."""
    demangled.cache_clear()
    demangler._child = one = demangler._Child()
    yield one
    one.end()


def test_a_name_that_doubles_is_what_it_seems() -> None:
    assert demangled(doubling(2)) == "f(B<B<A, A>, B<A, A> >)"
    assert len(demangled(doubling(10))) > 2**10


TOOK = """
import resource, sys
from headrace.symbols import demangler
from headrace.symbols.names import demangled
own = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = own()
assert demangled(sys.argv[1]) == sys.argv[1]
demangler._child.end()
print(own() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def took(name: str) -> list[str]:
    """Memory of the process that asks and of its child, KiB; the name stays as it is."""
    line = [sys.executable, "-c", TOOK, name]
    path = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(line, capture_output=True, text=True, env=path, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("levels", [16, 24, 28, 40, 200])
def test_names_without_bound_stay_as_they_are(levels: int) -> None:
    """In a process of its own, whose children are no others."""
    assert all(int(one) * 1024 < MOST_MEMORY for one in took(doubling(levels)))


@pytest.mark.parametrize("name", ["_ZZdt1BIXdt1BIX1Asr1ADEST0_", "a" + "_mp_" * 20_000 + "!",
                                  "__a" + "_MOD_x" * 15_000 + "\n"])  # fmt: skip
def test_names_without_end_stay_as_they_are(name: str) -> None:
    took(name)


def test_names_behind_such_ones(child, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are asked, until rare ones took too long."""
    expected = demangler.here(REAL[0])
    monkeypatch.setattr(demangler, "MOST_SECONDS", 3.0)
    assert expected is not None and child.ask(REAL[0]) == expected
    for levels in (40, 41):
        assert child.ask(doubling(levels)) is None
        assert child.ask(REAL[0]) == expected
    for levels in range(42, 60):
        child.ask(doubling(levels))
    assert child.ask(REAL[0]) is None


@pytest.mark.parametrize("name", REAL)
def test_names_of_the_library(child, name: str) -> None:
    """As binutils has them, here and in the child."""
    tool = shutil.which("c++filt")
    if tool is None:
        pytest.skip("no c++filt")
    told = subprocess.run([tool, name], capture_output=True, text=True, check=True).stdout.strip()
    assert demangled(name) == told
    assert (child.ask(name) or name) == told


def test_odd_names_do_not_end_it(child) -> None:
    for name in (
        "_Z",
        "_Z\n",
        "_ZS_",
        "_Z" + "S_" * 2000,
        "_Z" + "P" * 4000,
        "_Z\udcff" + "S_" * 20,
    ):
        assert child.ask(name) in (None, name)
    assert child.ask("_Z1fv") == "f()"
