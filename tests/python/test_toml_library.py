"""The library reads settings files as Python's tomllib does, as far as it reads them at all."""

import os
import random
import subprocess
import tomllib
from pathlib import Path

import pytest
from cli_support import ROOT

TEXTS = 3000
END = "\x1e"  # of a text, on the way to the reader and back

# Prints what it finds in each text: names and value with \x1f between them, a line each; or
# "refused" if it leaves anything out.
READER = r"""
#include <cstdio>
#include <iostream>
#include "base/toml.h"
int main() {
  for (std::string text; std::getline(std::cin, text, '\x1e');) {
    const headrace::TomlText read = headrace::parse_toml(text);
    if (!read.problems.empty()) std::fputs("refused", stdout);
    for (const auto& entry : read.entries) {
      if (!read.problems.empty()) break;
      for (const auto& name : entry.table) std::printf("%s\x1f", name.c_str());
      std::printf("%s\x1f=%s\x1d", entry.key.c_str(), entry.value.c_str());
    }
    std::fputs("\x1e", stdout);
  }
}
"""

HEADERS = ("[hints]", "[settings]", '[hints."*.h5"]', "[ hints . 'a b' ] # x", '[hints."a\\"b"]')
ODD_HEADERS = ("[[hints]]", "[hints", "[]", "[a.]", "[hints.é]")
KEYS = ("a", "b-c", "D_1", '"q k"', "'l'", "a")
VALUES = ("1", "-7", "+3", "1_000", "0", "-0", "true", "false", '""', "'x\\y'", '"a\\tb\\\\"')
MORE_VALUES = ('"\\u00e9 # no comment"', '"\\U0001F600"', "'tab\there'", '"é"')
ODD_VALUES = ("01", "1__0", "_1", "1.5", "[1]", "x", '"a', '"\\q"', '"\\ud800"', "", "True", "0x1f")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("reader") / "reader"
    compiler = os.environ.get("CXX", "c++").split()
    source = str(ROOT / "src" / "base" / "toml.cc")
    line = [*compiler, "-std=c++20", f"-I{ROOT / 'src'}", source, "-x", "c++", "-"]
    subprocess.run([*line, "-o", str(program)], input=READER.encode(), check=True)
    return program


def text_by(chance: random.Random) -> str:
    lines = []
    odd = chance.random() < 0.5
    for _ in range(chance.randrange(1, 7)):
        kind = chance.random()
        if kind < 0.3:
            lines.append(chance.choice(HEADERS + (ODD_HEADERS if odd else ())))
        elif kind < 0.4:
            lines.append(chance.choice(("", "  ", "# comment", "\t# [x]")))
        else:
            value = chance.choice(VALUES + MORE_VALUES + (ODD_VALUES if odd else ()))
            equals = chance.choice(("=", " = ", "\t=\t"))
            lines.append(chance.choice(KEYS) + equals + value + chance.choice(("", " # c", " ")))
    return chance.choice(("\n", "\r\n")).join(lines) + chance.choice(("", "\n"))


def entries(document: dict, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Each value by its names, as the library has it: whole numbers and booleans as texts."""
    found = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= entries(value, (*above, name))
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found[(*above, name)] = text
    return found


def test_texts_of_chance_are_read_alike(reader: Path) -> None:
    chance = random.Random(38)
    texts = [text_by(chance) for _ in range(TEXTS)]
    sent = "".join(text + END for text in texts).encode()
    told = subprocess.run([reader], input=sent, capture_output=True, check=True).stdout
    answers = told.decode().split(END)
    accepted = 0
    for text, answer in zip(texts, answers, strict=False):
        try:
            expected = entries(tomllib.loads(text))
        except ValueError:
            # A table that comes twice is an error of TOML's; here it goes on.
            twice = len(set(heads := headers(text))) < len(heads)
            assert answer == "refused" or twice, f"{text!r}\n{answer!r}"
            continue
        if answer == "refused":
            assert any(odd in text for odd in (*ODD_HEADERS, *ODD_VALUES)), text
            continue
        accepted += 1
        lines = [line.split("\x1f=") for line in answer.split("\x1d") if line]
        found = {tuple(names.split("\x1f")): value for names, value in lines}
        assert found == {key: canonical(value) for key, value in expected.items()} or (
            {key: canonical(value) for key, value in found.items()} == expected
        ), f"{text!r}"
    assert accepted > TEXTS // 10


def headers(text: str) -> list[str]:
    return [line.split("]")[0] for line in text.splitlines() if line.strip().startswith("[")]


def canonical(value: str) -> str:
    return "0" if value == "-0" else value
