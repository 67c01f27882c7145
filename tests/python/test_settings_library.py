"""The command and the library accept the same values: both read texts that chance makes."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from cli_support import ROOT

from headrace.settings.generated.table import SETTINGS
from headrace.settings.reading import BadValue, read
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
# The library leaves the command's own settings alone.
OF_THE_LIBRARY = [one for one in SETTINGS if not one.of_command]
SOURCES = ("settings.cc", "setting_rule.cc", "spelling.cc")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("reader") / "reader"
    compiler = os.environ.get("CXX", "c++").split()
    sources = [str(ROOT / "src" / "base" / name) for name in SOURCES]
    line = [*compiler, "-std=c++20", f"-I{ROOT / 'src'}", *sources, "-x", "c++", "-"]
    subprocess.run([*line, "-o", str(program)], input=READER.encode(), check=True)
    return program


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
