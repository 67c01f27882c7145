"""Random input for what reads launcher lines, settings and results: it is understood or refused,
never a traceback, and what a user wrote is kept."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peers_support import made_attempt, made_results

from headrace.bench.peers import results as storage
from headrace.bench.peers.grid import Point
from headrace.bench.promises.cases import Case
from headrace.bench.promises.findings import Finding, Findings, read_findings, to_document
from headrace.bench.promises.judgement import Verdict
from headrace.errors import HeadraceError
from headrace.launch.values import RankEnvironment
from headrace.launch.wrap import wrap
from headrace.launchers.families import FAMILIES, Family
from headrace.launchers.line import read_contexts
from headrace.settings.resolver import resolve_run

LINES = 400
DOCUMENTS = 400
SETTINGS = RankEnvironment(
    "/opt/lib/libheadrace.so", {"HEADRACE_QUIET": "1", "HEADRACE_VERIFY": "0"}
)
ENVIRONMENTS = [
    {},
    {"LD_PRELOAD": "/usr/lib/other.so"},
    {"SLURM_EXPORT_ENV": "NONE", "OMPI_MCA_mca_base_env_list": "A=1;B"},
]


def random_line(family: Family, seed: int) -> list[str]:
    """Options of the family, good ones and cut ones, programs, colons and nonsense."""
    chance = random.Random(seed)
    known = sorted(family.flags | family.valued | family.paired | family.assign_options)
    words = ["", "-", "--", ":", "=", "-n", "4", "./app", "a b", "LD_PRELOAD=/x.so", "A=", "=1"]
    words += ["-x", "-genv", "--export=NONE", "--export", "ALL,LD_PRELOAD", "é\n", "-" * 50, "%s"]
    words += ["-vv", "-lN2", "-ln", "-IlK", "-lzN", "-KlN"]
    line = ["launcher"]
    for _ in range(chance.randrange(12)):
        word = chance.choice(known) if known and chance.random() < 0.6 else chance.choice(words)
        line.append(word + "=" + chance.choice(words) if chance.random() < 0.15 else word)
    return line


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_launcher_lines_are_read_within_their_bounds(family: Family) -> None:
    for seed in range(LINES):
        line = random_line(family, seed)
        contexts = read_contexts(family, line)
        assert len(contexts) == 1 + line[1:].count(":"), line
        end = 0
        for context in contexts:
            assert context.start == end + 1
            position = context.start
            for option in context.options:
                assert position <= option.start <= option.end <= context.end, line
                assert option.start < option.end or family.clusters, line
                position = option.end
            if context.program is not None:
                assert position <= context.program < context.end, line
            end = context.end
        assert end == len(line)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_programs_and_their_arguments_are_kept(family: Family) -> None:
    for seed in range(LINES):
        line = random_line(family, seed)
        environ = ENVIRONMENTS[seed % len(ENVIRONMENTS)]
        try:
            launch = wrap(line, family, SETTINGS, environ)
        except HeadraceError:
            continue
        assert launch.argv[0] == line[0]
        given = read_contexts(family, line)
        kept = " ".join([*launch.argv, ""])
        for context in given:
            if context.program is not None:
                assert " ".join([*line[context.program : context.end], ""]) in kept, line
        told = [*launch.argv, *(f"{name}={value}" for name, value in launch.environ.items())]
        assert any(SETTINGS.preload in word for word in told), (line, told)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


JUNK = [None, "", "x", -1, 0, 1e308, float("nan"), float("inf"), [], {}, [None], {"a": {}}, True]


def damaged(document: Any, seed: int) -> Any:
    chance = random.Random(seed)
    changed = copy.deepcopy(document)
    for _ in range(chance.randrange(1, 4)):
        container, key = chance.choice(list(places(changed)))
        if chance.random() < 0.3:
            del container[key]
        else:
            container[key] = copy.deepcopy(chance.choice(JUNK))
        if not changed:
            break
    return changed


def damaged_texts(document: Any) -> Iterator[str]:
    text = json.dumps(document)
    for seed in range(DOCUMENTS):
        yield json.dumps(damaged(document, seed))
        chance = random.Random(seed)
        place = chance.randrange(len(text))
        yield text[:place] + chance.choice(["", "\0", "é", "}", "1" * 5000]) + text[place + 1 :]


def refuses_or_reads(document: Any, path: Path, read: Callable[[Path], Any]) -> None:
    refused = 0
    for text in damaged_texts(document):
        path.write_text(text)
        try:
            read(path)
        except HeadraceError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > DOCUMENTS // 2


def test_results_of_peers(tmp_path: Path) -> None:
    tile = Point("tile-1000", 2, "mpich", "/memory")
    document = storage.to_document(made_results((tile, [made_attempt(tile)])))
    refuses_or_reads(document, tmp_path / "out", storage.load)


def test_findings_of_promises(tmp_path: Path) -> None:
    kept = Verdict(True, "kept")
    case = Case("counts", 2, 1, True, "14.4", "counts are true")
    document = to_document([Findings("MPICH", "0.1.0", "2026-11-22", [Finding(case, kept, kept)])])
    refuses_or_reads(document, tmp_path / "out", read_findings)


SETTINGS_FILE = """[settings]
quiet = true
HEADRACE_BUFFER_SIZE = "1m"
buffer_count = 0x10
write_path = 'staged'
mimic_stripes = "4x1m"
coherent_fs = "nfs,beegfs"
"""


def test_settings_files(tmp_path: Path) -> None:
    pieces = [
        "",
        "\0",
        "é",
        "=",
        "[",
        "]",
        "'",
        '"',
        "\n",
        "#",
        ".",
        "-",
        "1" * 5000,
        "[[",
        "\\u0000",
    ]
    path = tmp_path / "file"
    refused = 0
    for seed in range(DOCUMENTS):
        chance = random.Random(seed)
        place = chance.randrange(len(SETTINGS_FILE))
        behind = SETTINGS_FILE[place + chance.randrange(4) :]
        path.write_text(SETTINGS_FILE[:place] + chance.choice(pieces) + behind)
        try:
            given = resolve_run({}, files=[path]).for_ranks()
            assert not any("\0" in text for text in given.values())
        except HeadraceError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert DOCUMENTS // 4 < refused < DOCUMENTS
