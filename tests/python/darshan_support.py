"""Logs for tests: those that PyDarshan carries, with what its own tables say of them, and small
ones by hand, as the process that has PyDarshan writes them."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from headrace.analysis.analyse import Findings
from headrace.analysis.darshan.analyse import analyse
from headrace.darshan.log import Log, checked
from headrace.darshan.reader import read

PACKAGE = find_spec("darshan")
FOLDER = Path(PACKAGE.origin).parent if PACKAGE and PACKAGE.origin else Path()
needs_pydarshan = pytest.mark.skipif(PACKAGE is None, reason="needs PyDarshan, not installed")

ONE_SICK_TARGET = "sample-badost.darshan"
FEW_FILES = "sample-goodost.darshan"
AMPLIFIED = "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan"
NOT_AMPLIFIED = "example.darshan"
LOGS = {
    path.name: path
    for path in sorted(FOLDER.glob("**/*.darshan"))
    if not path.name.startswith(("pq_app_read_", "pq_app_write_", "sample.d"))  # alike
}
PREFIX = {"MPI-IO": "MPIIO", "POSIX": "POSIX", "STDIO": "STDIO"}


@cache
def log_of(name: str) -> Log:
    return read(LOGS[name])


@cache
def found_in(name: str) -> Findings:
    return analyse(log_of(name))


@cache
def truth(name: str) -> dict[str, Any]:
    """What PyDarshan itself tells: a table of counters for each interface, without the prefix, with
    the files' names; the stripes of files."""
    import darshan

    report = darshan.DarshanReport(str(LOGS[name]), read_all=False)
    found: dict[str, Any] = {"seconds": report.metadata["job"]["run_time"]}
    for module in report.modules:
        if module in PREFIX:
            report.mod_read_all_records(module)
            tables = report.records[module].to_df()
            both = tables["counters"].join(tables["fcounters"].drop(columns=["id", "rank"]))
            both.columns = [one.removeprefix(f"{PREFIX[module]}_") for one in both.columns]
            both["name"] = [report.name_records.get(int(one), "") for one in both["id"]]
            found[module] = both
        elif module == "LUSTRE":
            report.mod_read_all_lustre_records()
            rows = report.records[module].to_df()["components"]
            found[module] = {
                report.name_records[int(number)]: tuple(map(int, targets))
                for number, targets in zip(rows["id"], rows["LUSTRE_OST_IDS"], strict=True)
            }
    return found


class Made:
    """A log to be."""

    def __init__(self, ranks: int = 4, seconds: float = 100.0):
        self._numbers: dict[str, str] = {}
        self.answer: dict[str, Any] = {
            "job": {
                **{"ranks": ranks, "start": 0, "seconds": seconds, "version": "3.41"},
                "command": "./app -x",
            },
            "names": {},
            "damage": "",
            "modules": {},
        }

    def _number(self, file: str) -> str:
        number = self._numbers.setdefault(file, str(len(self._numbers) + 1))
        self.answer["names"][number] = file
        return number

    def use(self, interface: str, file: str, rank: int, **counters: float) -> "Made":
        """A record: all of one interface have the counters of the first."""
        number = self._number(file)
        module = self.answer["modules"].setdefault(
            interface, {"partial": False, "damage": "", "columns": list(counters), "rows": []}
        )
        module["rows"].append([number, rank, *(counters[name] for name in module["columns"])])
        return self

    def stripes(self, file: str, *targets: int) -> "Made":
        number = self._number(file)
        module = self.answer["modules"].setdefault(
            "LUSTRE", {"partial": False, "damage": "", "rows": []}
        )
        module["rows"].append([number, -1, list(targets)])
        return self

    def log(self) -> Log:
        return checked(Path("app.darshan"), self.answer)

    def found(self) -> Findings:
        return analyse(self.log())


def written(seconds: float, size: int = 1 << 20, **more: float) -> dict[str, float]:
    """Counters of a file that was opened once and written by one call."""
    return {
        **{"OPENS": 1, "READS": 0, "WRITES": 1, "BYTES_READ": 0, "BYTES_WRITTEN": size},
        **{"F_READ_TIME": 0.0, "F_META_TIME": 0.0, "F_WRITE_TIME": seconds},
        **more,
    }
