"""The command and the library accept the same values, and take them from the same places: both read
texts that chance makes."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_support import ROOT

from headrace.settings.generated.table import SETTINGS
from headrace.settings.reading import BadValue, read
from headrace.settings.resolver import resolve_run
from headrace.settings.setting import Setting

TEXTS = 400  # for each setting

# Reads NAME=VALUE from each line of its input as an environment, and says what is wrong with it.
READER = r"""
#include <cstdio>
#include <iostream>
#include "base/settings.h"
int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const char* environment[] = {line.c_str(), nullptr};
    std::vector<std::string> problems;
    headrace::read_settings(environment, problems);
    std::puts(problems.empty() ? "" : problems[0].c_str());
  }
}
"""
# Says what counts in its own environment, and on how many lines something is wrong.
IN_FORCE = r"""
#include <cstdio>
#include "base/settings.h"
int main() {
  for (const auto& one : headrace::settings_in_force(headrace::settings())) {
    std::printf("%s\x1f%s\x1f%s\x1e", one.name.c_str(), one.value.c_str(), one.origin.c_str());
  }
  std::printf("%zu", headrace::settings_problems().size());
}
"""
# The library leaves the command's own settings alone.
OF_THE_LIBRARY = [one for one in SETTINGS if not one.of_command]
SOURCES = ("settings.cc", "setting_rule.cc", "spelling.cc")
OF_FILES = (
    "process_settings.cc",
    "settings_file.cc",
    "toml.cc",
    "trusted_file.cc",
    "small_file.cc",
)


def compiled(folder: Path, text: str, names: Sequence[str]) -> Path:
    program = folder / "reader"
    compiler = os.environ.get("CXX", "c++").split()
    sources = [str(ROOT / "src" / "base" / name) for name in names]
    line = [*compiler, "-std=c++20", f"-I{ROOT / 'src'}", *sources, "-x", "c++", "-"]
    subprocess.run([*line, "-o", str(program)], input=text.encode(), check=True)
    return program


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("reader"), READER, SOURCES)


@pytest.fixture(scope="module")
def reader_in_force(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader_in_force")
    return compiled(folder, IN_FORCE, (*SOURCES, *OF_FILES))


def random_texts(setting: Setting) -> list[str]:
    """Texts near what the setting accepts, and others."""
    chance = random.Random(setting.name)
    words = [*setting.values, setting.default, "yes", "No", "TRUE", "oN", "0", "1", "2", "65", "x"]
    words += ["none", "nfs", ",", "k", "M", "gb", "KiB", "ib", "b", "t", "-", "+", " ", ".", "é"]
    words += [
        "4096",
        "5000",
        "64k",
        "256m",
        "257m",
        "1g",
        "1025m",
        "65535",
        "65536",
        "9223372036854775807",
    ]
    words += ["9223372036854775808", "9" * 30, "0" * 30 + "4", "4x1m", "4x2g", "0x10", "1000000"]
    texts = ["".join(chance.choices(words, k=chance.randrange(1, 4))) for _ in range(TEXTS)]
    return ["", *words, *texts]


def is_accepted(setting: Setting, text: str) -> bool:
    try:
        read(setting, text)
    except BadValue:
        return False
    return True


@pytest.mark.parametrize("setting", OF_THE_LIBRARY, ids=lambda one: one.name)
def test_the_library_accepts_what_the_command_does(reader: Path, setting: Setting) -> None:
    texts = random_texts(setting)
    lines = "".join(f"{setting.name}={text}\n" for text in texts)
    done = subprocess.run([reader], input=lines.encode(), capture_output=True, check=True)
    problems = done.stdout.decode().split("\n")[:-1]
    assert len(problems) == len(texts)
    for text, problem in zip(texts, problems, strict=True):
        assert is_accepted(setting, text) == (not problem), (text, problem)
    if setting.type != "text":
        assert {bool(problem) for problem in problems} == {False, True}


WORDS = ("buffer_count", "BUFFER_COUNT", "headrace_buffer_count", "cb_align", "quiet", "iobuf")
WORDS += (
    "disable_for",
    "verify",
    "buffer_size",
    "library",
    "collectives",
    "zzz",
    '"q x"',
    "quiet.a",
    '"qu\xc4\xb1et"',  # with a letter, in UTF-8, whose capital letter is the I of ASCII
)
VALUES = (
    '""',
    "''",
    "1",
    "0",
    "-0",
    "+2",
    "1_0",
    "01",
    "1__0",
    "0x1",
    "65",
    "9" * 5000,
    "true",
    "false",
    "True",
)
VALUES += (
    "1.5",
    '"1m"',
    "'2'",
    '"\\u0031"',
    '"\\u0000"',
    '"\\q"',
    '"a, b\\t"',
    "'*.out'",
    "[1]",
    "",
)
SEVERAL_LINES = ("[", '"""', "{")
HEADERS = (
    "[settings]",
    "[ settings ] # x",
    "[hints]",
    "[hints.'*.h5']",
    "[headrace]",
    "[environment]",
)
ODD_HEADERS = ("[other]", "[settings.a]", "[[settings]]", "[settings", "settings = 1", "[]")
NOTHING = ("", "  # comment", "# caf\xe9", "\0")
VARIABLES = (
    *("HEADRACE_BUFFER_COUNT", "HEADRACE_CB_ALIGN", "MPICH_MPIIO_CB_ALIGN", "HEADRACE_IOBUF"),
    *("IOBUF_PARAMS", "HEADRACE_QUIET", "HEADRACE_DISABLE_FOR", "HEADRACE_VERIFY"),
)
CASES = 400


def random_file(chance: random.Random) -> bytes:
    """Lines of which some cannot be used; the first is a header as a rule."""
    lines = [chance.choice(HEADERS[:2])] if chance.random() < 0.9 else []
    for _ in range(chance.randrange(9)):
        kind = chance.random()
        if kind < 0.7:
            lines.append(chance.choice(WORDS) + chance.choice((" = ", "=")) + chance.choice(VALUES))
        elif kind < 0.8:
            lines.append(chance.choice(NOTHING[: 4 if chance.random() < 0.1 else 3]))
        elif kind < 0.95:
            lines.append(chance.choice(HEADERS + ODD_HEADERS))
        else:
            lines.append("iobuf = " + chance.choice(SEVERAL_LINES))
    return chance.choice(("\n", "\r\n")).join(lines).encode("latin-1")


def random_environment(chance: random.Random) -> dict[str, str]:
    names = chance.sample(VARIABLES, chance.randrange(4))
    return {name: chance.choice(("", "", "1", "0", "x")) for name in names}


def in_force_by_command(environ: dict[str, str]) -> tuple[dict[str, tuple[str, str]], int]:
    """As the library tells it: an empty value stands for the default, which nobody has given."""
    found = resolve_run(environ)
    told = {}
    for name, one in found.settings.items():
        origin = one.origin.removesuffix(" in the environment").removeprefix("the ")
        is_given = one.text != "" and origin != "default"
        who = origin.partition("'s '")[0] if is_given else "default"
        told[name] = (one.text if is_given else one.setting.default, who)
    return told, len(found.problems)


def test_the_library_takes_values_from_where_the_command_does(
    reader_in_force: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    chance = random.Random(41)
    origins = set()
    for _ in range(CASES):
        environ = random_environment(chance)
        for name, file in (("HEADRACE_USER", "user.toml"), ("HEADRACE_SITE", "site.toml")):
            environ[name] = str(tmp_path / file)
            (tmp_path / file).write_bytes(random_file(chance))
            (tmp_path / file).chmod(0o644)
        of_compiler = {one: os.environ[one] for one in ("LD_LIBRARY_PATH",) if one in os.environ}
        done = subprocess.run(
            [reader_in_force], env=environ | of_compiler, capture_output=True, check=True
        )
        *settings, problems = done.stdout.decode("utf-8", "surrogateescape").split("\x1e")
        by_library = {
            name: (value, origin) for name, value, origin in (one.split("\x1f") for one in settings)
        }
        by_command, faults = in_force_by_command(environ)
        files = [(tmp_path / file).read_bytes() for file in ("user.toml", "site.toml")]
        for name, (value, origin) in by_library.items():
            assert by_command[name] == (value, origin), (name, environ, files)
        assert faults == int(problems), (environ, files, done)
        origins |= {origin for _, origin in by_library.values()}
    assert {"default", "environment", "user", "site", "IOBUF_PARAMS"} <= origins
