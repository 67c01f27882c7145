"""docs/test-costs.md: what groups of tests cost, what runs when, what holds the promises."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from devtool import tiers
from devtool.groups import GROUPS
from devtool.paths import ROOT

PAGE = ROOT / "docs" / "test-costs.md"
PROMISES = ROOT / "docs" / "trust.md"
HOLDER = re.compile(r"`([\w/-]+\.(?:py|cc)(?:::\w+)?)`")
HEAD = """\
# What the tests cost

    ./dev test --write-costs                     # the usual tests' columns; so --quick, --full
    ./dev test --full --only mpi --write-costs   # the columns of one group
    ./dev test --count-rows                      # only how many rows each test has; runs none

| command | what it runs | is to end within |
| --- | --- | --- |
| `./dev test --quick` | some rows of each test | {quick} minutes, once built |
| `./dev test` | so many rows of each test that each kind of value is in one | {default} |
| `./dev test --minutes {ci}` | CI: the same, then what fits of the rest, by its worth | {ci} |
| `./dev test --full` | everything; before an issue is closed | |

Minutes are those of a fresh machine with 2 cores, installs and builds included. Nothing fails for
being slow: the last line of a run says what it took, beside what is promised. `--minutes` names
what it leaves out. `tests/tiers.toml` says how much of each test runs when, and which values are of
one kind: MPIs of one ABI, where the layer alone is tested.
"""


def write(data: dict) -> None:
    PAGE.write_text(text(data))


def text(data: dict) -> str:
    limits = {name: tiers.minutes(name) for name in ("quick", "default", "ci")}
    parts = [
        HEAD.format(**limits),
        *_runs(data["runs"], data["groups"]),
        *_groups(data),
        *_moved(data["tests"]),
    ]
    return "\n".join([*parts, *_promises(data["tests"])]) + "\n"


def promise_holders() -> list[str]:
    """The tests that docs/trust.md names."""
    rows = [line for line in PROMISES.read_text().splitlines() if line.startswith("| ")]
    return sorted({name for row in rows for name in HOLDER.findall(row.rsplit(" | ", 1)[-1])})


def _runs(runs: dict, groups: dict) -> Iterable[str]:
    yield "## Groups\n"
    for tier in ("quick", "default", "rest"):
        if one := runs.get(tier):
            yield (
                f"- {_title(tier)}: {_when(one)}; installs and builds {one['prepared']} s; "
                f"{_beside(one)}."
            )
    for group in GROUPS:
        for tier, column in groups.get(group.name, {}).items():
            if one := column.get("run"):
                yield f"- {_title(tier)}, {group.name} alone: {_when(one)}; {_beside(one)}."


def _when(run: dict) -> str:
    commit = f" ({run['commit']})" if run.get("commit") else ""
    return f"{run['date']}{commit}, {run['machine']}"


def _beside(run: dict) -> str:
    return (
        f"up to {run['others']:.0%} of the cores' time went to other programs; "
        f"tests that failed: {run['failed']}"
    )


def _title(tier: str) -> str:
    return {"rest": "the rest of --full"}.get(tier, tier)


def _groups(data: dict) -> Iterable[str]:
    names = ("quick", "default", "rest")
    yield "\n| group | what | " + " | ".join(f"{_title(name)}: tests | s" for name in names) + " |"
    yield "| --- | --- |" + " --- |" * 2 * len(names)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for group in GROUPS:
        cells = []
        for name in names:
            one = data["groups"].get(group.name, {}).get(name)
            cells += [str(one["cases"]), str(one["seconds"])] if one else ["", ""]
            sums[name][0] += one["cases"] if one else 0
            sums[name][1] += one["seconds"] if one else 0
        yield f"| {group.name} | {group.what} | " + " | ".join(cells) + " |"
    yield "| all | | " + " | ".join(f"{sums[name][0]} | {sums[name][1]}" for name in names) + " |"


def _moved(tests: dict) -> Iterable[str]:
    yield "\n## What only --full runs\n"
    yield "Rows of each test; the last column has the seconds of those that only --full runs."
    yield "\n| test | quick | default | full | s of the rest |"
    yield "| --- | --- | --- | --- | --- |"
    for test in sorted(tests):
        if "full" in tests[test]:
            yield f"| `{test}` | {_rows(tests[test])} | {tests[test]['full'].get('seconds', '-')} |"


def _promises(tests: dict) -> Iterable[str]:
    yield "\n## What holds the promises\n"
    yield "Tests that [the page of promises](trust.md) names, and the first tier that runs them."
    yield "\n| test | first in | quick | default | full |"
    yield "| --- | --- | --- | --- | --- |"
    for name in promise_holders():
        below = [tests[test] for test in tests if test == name or test.startswith(f"{name}::")]
        rows = {
            tier: {"rows": sum(one.get(tier, {}).get("rows", 0) for one in below)}
            for tier in tiers.TIERS
        }
        counts = _rows(rows) if below else _whole(tiers.of_holder(name))
        yield f"| `{name}` | {tiers.of_holder(name)} | {counts} |"


def _whole(first: str) -> str:
    """Of a source of C++, which runs whole from its first tier on."""
    at = tiers.TIERS.index(first)
    return " | ".join("all" if tier >= at else "0" for tier in range(len(tiers.TIERS)))


def _rows(counts: dict) -> str:
    """How many run in each tier, those of the tiers before it included."""
    steps = [counts.get(tier, {}).get("rows", 0) for tier in tiers.TIERS]
    return " | ".join(str(sum(steps[: number + 1])) for number in range(len(steps)))
