"""The MPI libraries' own algorithms: what variables say, and tables of them."""

import random
import re
import tomllib
from pathlib import Path

import pytest
from cli_support import ROOT

from headrace.algorithms.decision import Job, decide
from headrace.algorithms.generated.table import KNOBS, LIBRARIES
from headrace.algorithms.knob import MOST_BYTES, Choice
from headrace.algorithms.standing import said
from headrace.algorithms.table import Section, Table, lines_of, read_table, table_of
from headrace.algorithms.variables import knob_of, library_named, setting

FOLDER = Path("/somewhere")
NAMES = [one.name for one in LIBRARIES]


def choice(operation: str, algorithm: str, least: int = 0, most: int = 0) -> Choice:
    return Choice(operation, algorithm, least, most, 1.5)


def variables(library: str, *choices: Choice, ranks: int = 2) -> dict[str, str]:
    return dict(setting(library, choices, ranks, FOLDER).variables)


# What variables say.


def test_mpich_has_one_algorithm_and_none_of_the_device() -> None:
    assert variables("mpich", choice("bcast", "binomial")) == {
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
    }


def intel_preset(text: str, size: int) -> str:
    """What Intel MPI takes of a variable, as its reference has the grammar; "" where it says
    nothing."""
    for part in text.split(";"):
        found = re.fullmatch(r"(\d+)(?::(\d+)-(\d+))?", part)
        assert found, text
        preset, least, most = found.groups()
        if least is None or int(least) <= size <= int(most):
            return preset
    return ""


def test_intel_has_ranges_of_bytes_that_cover_all_sizes() -> None:
    bounds = [("preset_3", 0, 8), ("preset_12", 9, 4096), ("preset_1", 4097, MOST_BYTES)]
    for operation, of in {"bcast": 1, "reduce_scatter": 4}.items():
        names = list(knob_of("intel", operation).algorithms)
        chosen = [choice(operation, names[i], *one[1:]) for i, one in enumerate(bounds)]
        (text,) = variables("intel", *chosen, ranks=4).values()
        for size, preset in {0: "1", 8: "1", 9: "2", 4096: "2", 4097: "3", 1 << 28: "3"}.items():
            assert intel_preset(text, size * of) == preset
        assert all(intel_preset(text, size) for size in range(40_000))
    assert variables("intel", choice("gatherv", "preset_2")) == {
        "I_MPI_ADJUST_GATHERV": f"2:0-{MOST_BYTES}"
    }


def openmpi_rule(text: str, operation: int, ranks: int, size: int) -> int:
    """What coll/tuned takes by a file: from a number on to the next one, the first also below. 0 is
    its own choice."""
    numbers = iter([int(word) for word in text.split()])

    def the_last_not_above(number: int, entries: list[tuple[int, object]]) -> object:
        below = [value for least, value in entries if least <= number]
        return below[-1] if below else entries[0][1]

    for _ in range(next(numbers)):
        which = next(numbers)
        communicators = []
        for _ in range(next(numbers)):
            of = next(numbers)
            rules = []
            for _ in range(next(numbers)):
                least, algorithm, fan, segment = (next(numbers) for _ in range(4))
                assert fan == segment == 0
                rules.append((least, algorithm))
            assert rules[0][0] == 0 and rules == sorted(rules)
            communicators.append((of, rules))
        if which == operation:
            return the_last_not_above(size, the_last_not_above(ranks, communicators))
    return 0


@pytest.mark.parametrize("ranks", [2, 3, 64])
def test_openmpi_has_rules_for_one_number_of_ranks(ranks: int) -> None:
    chosen = [
        choice("bcast", "knomial", 1, 8),
        choice("bcast", "chain", 9, 512),
        choice("bcast", "chain", 4096, 8192),
        choice("reduce_scatter", "butterfly", 64, 64),
        choice("barrier", "tree"),
    ]
    made = setting("openmpi", chosen, ranks, FOLDER)
    path, text = made.file
    assert made.variables == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
    }
    assert path.parent == FOLDER
    bcast = {0: 0, 1: 7, 8: 7, 9: 2, 512: 2, 513: 0, 4095: 0, 4096: 2, 8192: 2, 8193: 0}
    for size, algorithm in bcast.items():
        assert openmpi_rule(text, 7, ranks, size) == algorithm
    # Its bytes are of all ranks, and so a block is an average one.
    for size in (0, 64, 64 * ranks - 1, 65 * ranks):
        assert openmpi_rule(text, 12, ranks, size) == 0
    for size in (64 * ranks, 65 * ranks - 1):
        assert openmpi_rule(text, 12, ranks, size) == 4
    assert openmpi_rule(text, 6, ranks, 0) == 6
    for others in (1, ranks - 1, ranks + 1, 1000):
        for operation in (6, 7, 12):
            for size in (0, 8, 64 * others, 5000):
                assert openmpi_rule(text, operation, others, size) == 0


def test_openmpi_has_variables_for_what_rules_cannot_do_safely() -> None:
    assert variables("openmpi", choice("allgather", "ring")) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_allgather_algorithm": "4",
    }


def test_the_same_rules_have_the_same_file() -> None:
    first, again = (setting("openmpi", [choice("barrier", "tree")], 2, FOLDER) for _ in range(2))
    other = setting("openmpi", [choice("barrier", "linear")], 2, FOLDER)
    assert first.file == again.file and first.file[0] != other.file[0]


def test_what_a_library_does_not_have_cannot_be_set() -> None:
    with pytest.raises(KeyError):
        variables("mpich", choice("bcast", "preset_3"))
    with pytest.raises(KeyError):
        variables("mpich", choice("gatherv", "linear"))


def test_every_row_of_the_specification_can_be_set() -> None:
    rows = tomllib.loads((ROOT / "spec" / "library_algorithms.toml").read_text())
    assert len(rows["knob"]) == len(KNOBS) and {one["name"] for one in rows["library"]} == set(
        NAMES
    )
    for knob in KNOBS:
        assert len(set(knob.algorithms.values())) == len(knob.algorithms) > 0
        for algorithm in knob.algorithms:
            found = setting(knob.library, [choice(knob.operation, algorithm)], 3, FOLDER)
            names = [*found.variables]
            assert knob.variable in names
            # What Headrace sets, a user may set: then it must be seen.
            table = Table({(knob.library, 3): Section("1", (choice(knob.operation, algorithm),))})
            for name in names:
                own = said(library_named(knob.library), {name: "1"}, (), {})
                assert not decide(Job(knob.library, "1", 3, True), table, own, False).taken, name


# Tables.

GOOD = """
[origin]
machine = "here"
[mpich.one]
allreduce = "1-512 1.5"
[mpich.one.library.2]
version = "5.0.2"
allgather = "ring 0-0 1.2"
[intel.one.library.4]
version = "2021.18"
bcast = "preset_3 0-511 1.5, preset_8 512-2147483647 0.99"
[openmpi.one.library.2]
version = "5.0.11"
bcast = "chain 1-512 1.5, knomial 4096-65536 1.2"
"""


def test_a_table_has_sections_by_library_and_ranks() -> None:
    found = table_of(tomllib.loads(GOOD))
    assert found.problems == ()
    assert found.sections == {
        ("mpich", 2): Section("5.0.2", (Choice("allgather", "ring", 0, 0, 1.2),)),
        ("intel", 4): Section(
            "2021.18",
            (
                Choice("bcast", "preset_3", 0, 511, 1.5),
                Choice("bcast", "preset_8", 512, MOST_BYTES, 0.99),
            ),
        ),
        ("openmpi", 2): Section(
            "5.0.11",
            (Choice("bcast", "chain", 1, 512, 1.5), Choice("bcast", "knomial", 4096, 65536, 1.2)),
        ),
    }


def test_what_is_written_is_read() -> None:
    chance = random.Random(5)
    for library in NAMES:
        knobs = [knob for knob in KNOBS if knob.library == library]
        choices: list[Choice] = []
        for knob in chance.sample(knobs, 4):
            names = list(knob.algorithms)
            if not knob.sizes:
                choices.append(Choice(knob.operation, chance.choice(names), 0, 0, 1.25))
                continue
            bounds = sorted(chance.sample(range(1, 10_000), 6))
            if knob.covers:
                bounds = [0, 99, 100, 5000, 5001, MOST_BYTES]
            choices += [
                Choice(
                    knob.operation,
                    chance.choice(names),
                    least,
                    most,
                    chance.randint(104, 900) / 100,
                )
                for least, most in zip(bounds[::2], bounds[1::2], strict=True)
            ]
        lines = lines_of(library, 7, Section("1.2.3", tuple(choices)))
        found = table_of(tomllib.loads("\n".join(lines)))
        assert found.problems == ()
        read = found.sections[library, 7]
        assert read.version == "1.2.3"
        assert sorted(read.choices, key=str) == sorted(choices, key=str)
    assert lines_of("mpich", 2, Section("1", ())) == []


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ('[mpich.one.library.2]\nbcast = "binomial 0-0 1.2"', "no version"),
        ('[mpich.one.library.two]\nversion = "1"', "[mpich.one.library.two]"),
        ('[mpich.one.library.1]\nversion = "1"', "[mpich.one.library.1]"),
        ('[mpich.one.library]\nversion = "1"', "[mpich.one.library.version]"),
        ('[mpich.one.library.2]\nversion = "1"\nbcats = "binomial 0-0 1.2"', "bcats"),
        ('[mpich.one.library.2]\nversion = "1"\nbcast = "binomail 0-0 1.2"', "binomail"),
        ('[mpich.one.library.2]\nversion = "1"\nbcast = "binomial 1-8 1.2"', "all sizes"),
        ('[mpich.one.library.2]\nversion = "1"\nbcast = "binomial"', "no algorithm with bytes"),
        ('[mpich.one.library.2]\nversion = "1"\nbcast = ""', "no algorithm with bytes"),
        ('[mpich.one.library.2]\nversion = "1"\nbcast = 3', "no algorithm with bytes"),
        ('[openmpi.one.library.3]\nversion = "1"\nbcast = "chain 8-1 1.2"', "empty range"),
        ('[openmpi.one.library.3]\nversion = "1"\nbcast = "chain 1-8 1"', "gains nothing"),
        ('[intel.one.library.2]\nversion = "1"\nbcast = "preset_1 0-8 0"', "gains nothing"),
        ('[intel.one.library.2]\nversion = "1"\nbcast = "preset_1 0-8 1.2"', "cover 0-2147483647"),
        (
            '[intel.one.library.2]\nversion = "1"\n'
            'bcast = "preset_1 0-8 1.2, preset_2 10-2147483647 1.2"',
            "cover 0-2147483647",
        ),
        ('[intel.one.library.2]\nversion = "1"\nbcast = "preset_1 1-8 nan"', "no algorithm with"),
        (
            '[intel.one.library.2]\nversion = "1"\nbcast = "preset_1 1-8 1.2, preset_2 8-9 1.2"',
            "above the range",
        ),
        (
            '[intel.one.library.2]\nversion = "1"\nbcast = "preset_1 0-0 1.2, preset_2 8-9 1.2"',
            "no other",
        ),
    ],
)
def test_what_cannot_be_used_is_named_and_left_out(lines: str, named: str) -> None:
    rest = '\n[openmpi.one.library.2]\nversion = "5"\nbarrier = "tree 0-0 1.1"\n'
    found = table_of(tomllib.loads(lines + rest))
    (problem,) = found.problems
    assert named in problem and "left out (" in problem
    assert found.sections["openmpi", 2].choices == (Choice("barrier", "tree", 0, 0, 1.1),)
    others = [one for key, one in found.sections.items() if key != ("openmpi", 2)]
    assert not any(one.choices for one in others)


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    files = {"missing": None, "bytes": b"\xff\xfe", "text": b"a = [", "large": b"#" * (2 << 20)}
    for name, data in files.items():
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        found = read_table(path)
        (problem,) = found.problems
        assert name in problem and not found.sections
    assert "it is no file" in read_table(tmp_path).problems[0]
    assert "it is no file" in read_table(Path("/dev/zero")).problems[0]


def test_any_text_is_read_or_named(tmp_path: Path) -> None:
    chance = random.Random(7)
    path = tmp_path / "table.toml"
    for _ in range(300):
        text = list(GOOD)
        for _ in range(3):
            text[chance.randrange(len(text))] = chance.choice('0159.-"[]=, \nax')
        path.write_text("".join(text))
        for section in read_table(path).sections.values():
            for one in section.choices:
                assert one.least <= one.most and one.gain > 0
