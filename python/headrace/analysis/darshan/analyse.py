"""All that a report shows, from a Darshan log."""

from collections.abc import Mapping

from headrace.analysis.accesses import used_files
from headrace.analysis.analyse import Class, Findings, Quality, RankTimes, Source
from headrace.analysis.darshan.accesses import accesses
from headrace.analysis.darshan.costs import Cost, costs
from headrace.analysis.darshan.metrics import absent, metrics
from headrace.analysis.darshan.outer import by_file
from headrace.analysis.darshan.tables import files, placed, procedures
from headrace.analysis.numbers import Balance
from headrace.analysis.run import Run
from headrace.analysis.targets import slowest, targets
from headrace.analysis.waiting import Waits
from headrace.darshan.counters import BIN_NAMES, INTERFACES, LUSTRE
from headrace.darshan.log import Log

NAME = "Darshan log"
_UNMEASURED = frozenset(
    ("paths", "matrix", "regions", "decisions", "placement", "settings", "variables")
)
_USED = (*INTERFACES, LUSTRE)


def analyse(log: Log) -> Findings:
    every = by_file(log)
    by_cost = costs(log, every)
    spread = by_cost["io"].spread
    run = Run(log.ranks, None, "", log.command, log.elapsed, (), log.lacks)
    on_targets = placed(log, every)
    found_targets = targets(on_targets)
    all_files = files(log, every)
    others = accesses(log, every)
    sick = slowest(on_targets, found_targets)
    return Findings(
        run=run,
        classes=(Class("I/O", Balance(log.ranks, round(spread.total), round(spread.greatest))),),
        in_mpi=None,
        outside=None,
        rank_times=RankTimes("in I/O", spread.values()),
        efficiency=None,
        waits=Waits(),
        procedures=procedures(log),
        sites=(),
        matrix=(),
        heaviest=(),
        regions=(),
        files=all_files,
        accesses=others,
        used_files=used_files((one for one in all_files if one.interface == "MPI-IO"), others, ""),
        flows=None,
        decisions=(),
        placement=(),
        settings=(),
        variables=(),
        quality=Quality(),
        metrics=metrics(log, run, every, all_files, by_cost, (on_targets, sick)),
        costs={},
        source=Source(
            NAME, f"Darshan log {log.version}", _UNMEASURED, absent(), _notes(log, by_cost),
            BIN_NAMES,
        ),
        targets=found_targets,
    )  # fmt: skip


def _notes(log: Log, by_cost: Mapping[str, Cost]) -> tuple[str, ...]:
    """What its reader must know of the numbers."""
    used = [name for name in log.modules if name in _USED]
    others = [name for name in log.modules if name not in _USED]
    missing = [name for name in INTERFACES if name not in log.modules]
    notes = [
        "not measured: computing, MPI communication, waiting, call paths, who sends to whom, "
        "nodes, CPU time and memory: a Darshan log does not have them",
        f"read: modules {', '.join(used) or 'none'}",
    ]
    if others:
        notes.append(f"not read: modules {', '.join(others)}")
    if missing:
        notes.append(
            f"not in the log: modules {', '.join(missing)}: the program did not use them, or "
            "Darshan did not watch them"
        )
    if by_cost["io"].spread.is_estimate:
        notes.append(
            "estimated: each rank's time in files that all share, of which the log has only the "
            "sum, the fastest and the slowest rank"
        )
    if by_cost["io"].is_capped:
        notes.append(
            "estimated: a rank's times add up to more than the run, so its threads overlapped; "
            "they count as the whole run"
        )
    if log.impossible:
        notes.append(f"not counted: {log.impossible:,} times that are below 0, or no numbers")
    return tuple(notes)
