"""Samples -> what to trace: functions by their share, with how each can be traced, and groups of
functions of libraries in which time went."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.analysis.paths import Frame
from headrace.elf.code import Function
from headrace.profile.apa.values import NO_WAY, NOPS, PROLOGUE, Apa, Entry
from headrace.profile.apa.ways import NOT_BUILT, Choice, Modules, choices, files_of
from headrace.profile.generated.trace_groups import GROUPS
from headrace.profile.groups import group_of, has_group
from headrace.profile.samples import Samples
from headrace.record.tables import Record
from headrace.symbols.resolver import is_interpreter, module_problem

LEAST_SHARE = 1.0  # percent of the samples that make a function worth tracing
LEAST_GROUP = 0.01  # of the samples, or of the ranks' time
LEAST_SIZE = 64  # bytes: smaller functions are called often
MOST = 100  # functions in the file
# Never proposed: programs call them so often, or so seldom, that their calls tell little.
_NOT_PROPOSED = ("heap", "system", "stdio", "sysio")
# Libraries whose functions the recorder counts.
_COUNTED = ("libheadrace", "libmpi", "libpmpi")
# Libraries whose inner functions work for a group: their names tell nothing.
_OF_LIBRARY = {
    "libopenblas": "blas",
    "libblas": "blas",
    "libblis": "blas",
    "libmkl": "blas",
    "liblapack": "lapack",
    "libscalapack": "scalapack",
    "libfftw3": "fftw",
    "libhdf5": "hdf5",
    "libnetcdf": "netcdf",
    "libgomp": "omp",
    "libomp": "omp",
    "libiomp5": "omp",
}


@dataclass(frozen=True)
class Proposal:
    """left_out: functions that are not in it. in_mpi, unnamed: percent of the samples in the MPI
    library and ours; in functions without names, in files that are not there, and of Python."""

    apa: Apa
    left_out: int
    in_mpi: float
    unnamed: float


class _Names:
    """Names of frames, each found once."""

    def __init__(self, modules: Modules, usable: Mapping[tuple[str, str], bool]):
        self._modules = modules
        self._usable = usable
        self._groups: dict[Frame, str] = {}

    def function(self, frame: Frame) -> Function | None:
        if frame.function or not self._usable.get((frame.module, frame.build_id)):
            return None
        return self._modules.code(frame.module).at(max(0, frame.offset - 1))

    def group(self, frame: Frame) -> str:
        if frame not in self._groups:
            self._groups[frame] = self._group(frame)
        return self._groups[frame]

    def _group(self, frame: Frame) -> str:
        library = Path(frame.module).name
        # Some groups have all functions of a library, those without names, too.
        function = self.function(frame)
        found = group_of(function.name if function is not None else "", library)
        return found or next(
            (group for begin, group in _OF_LIBRARY.items() if library.startswith(begin)), ""
        )


def propose(
    record: Record, samples: Samples, counters: str = "", prologues: bool = False
) -> Proposal | None:
    """None where nothing was sampled. counters: a group to count."""
    total = sum(row.time for row in samples.rows)
    if not total:
        return None
    files = _files(record)
    usable = {one: module_problem(*one) is None for one in files}
    program = _program(record, usable)
    seen = [file for (file, _), is_usable in usable.items() if is_usable]
    modules = Modules([*seen, *(files_of(program) if program in seen else ())])
    names = _Names(modules, usable)
    times: dict[tuple[str, Function], int] = defaultdict(int)
    by_group: dict[str, int] = defaultdict(int)
    named = in_mpi = 0
    for row in samples.rows:
        frames = samples.frames(row.path)
        by_group[_group_of_path(frames, names)] += row.time
        if frames and Path(frames[0].module).name.startswith(_COUNTED):
            in_mpi += row.time
            continue
        function = names.function(frames[0]) if frames else None
        if function is not None and not is_interpreter(frames[0]):
            times[frames[0].module, function] += row.time
            named += row.time
    groups = _groups(by_group, total, record)
    chosen = sorted(times.items(), key=lambda item: (-item[1], item[0][1].name))
    entries = tuple(_entries(chosen[:MOST], total, modules, groups))
    apa = Apa(program, groups, counters, hooks=False, prologues=prologues, functions=entries)
    return Proposal(
        apa,
        max(0, len(chosen) - MOST),
        100 * in_mpi / total,
        100 * (total - named - in_mpi) / total,
    )


def _files(record: Record) -> list[tuple[str, str]]:
    """All that call paths lie in: names and build-ids."""
    found: dict[tuple[str, str], None] = {}
    for node in record.nodes:
        files, builds = node.texts_of("modules", "file"), node.texts_of("modules", "build_id")
        found.update(dict.fromkeys(zip(files, builds, strict=True)))
    return list(found)


def _program(record: Record, files: Mapping[tuple[str, str], bool]) -> str:
    """Its path, or what is known of it. files: whether each is here as it was."""
    names = [name for node in record.nodes for name in node.texts_of("ranks", "program") if name]
    name = Path(names[0]).name if names else ""
    found = [(not is_usable, file) for (file, _), is_usable in files.items()]
    own = [one for one in found if name and Path(one[1]).name == name]
    return min(own)[1] if own else name


def _group_of_path(frames: tuple[Frame, ...], names: _Names) -> str:
    """Of the innermost function that is in one."""
    return next(filter(None, map(names.group, frames)), "")


def _groups(by_group: Mapping[str, int], total: int, record: Record) -> tuple[str, ...]:
    found = [
        group
        for group in GROUPS
        if group not in _NOT_PROPOSED and by_group.get(group, 0) >= LEAST_GROUP * total
    ]
    in_files = sum(
        sum(own)
        for node in record.nodes
        for own in node["accesses"].rows("read_time", "write_time", "other_time")
    )
    time = sum(run for node in record.nodes for run in node["ranks"]["run"])
    if in_files and in_files >= LEAST_GROUP * time:
        found.append("io")
    return tuple(found)


def _entries(
    chosen: Iterable[tuple[tuple[str, Function], int]],
    total: int,
    modules: Modules,
    groups: tuple[str, ...],
) -> Iterable[Entry]:
    rows = list(chosen)
    by_module: dict[str, list[Function]] = defaultdict(list)
    for (module, function), _ in rows:
        by_module[module].append(function)
    ways = {
        (module, function): own
        for module, functions in by_module.items()
        for function, own in choices(modules, module, functions, prologues=True).items()
    }
    for key, time in rows:
        module, function = key
        share = 100 * time / total
        way, reason, can_trace = _way(ways[key])
        trace = can_trace and not (why := _why_not(function, module, share, groups))
        yield Entry(
            function.name,
            module,
            round(share, 2),
            function.size,
            way,
            trace,
            reason if not can_trace or trace else why,
        )


def _way(own: Iterable[Choice]) -> tuple[str, str, bool]:
    """The best one, whether there is any, and what is to be said of it."""
    by_way = {one.way: one for one in own}
    best = next((one for one in by_way.values() if not one.refusal), None)
    if best is not None:
        return best.way, "only if prologues = true" if best.way == PROLOGUE else "", True
    nops = by_way[NOPS].refusal
    return NO_WAY, by_way[PROLOGUE].refusal if nops.startswith(NOT_BUILT) else nops, False


def _why_not(function: Function, module: str, share: float, groups: tuple[str, ...]) -> str:
    group = group_of(function.name, Path(module).name)
    if group and has_group(groups, group):
        return f"group {group} has it"
    if share < LEAST_SHARE:
        return f"less than {LEAST_SHARE:g} % of the samples"
    if function.size < LEAST_SIZE:
        return f"less than {LEAST_SIZE} bytes: it may be called very often"
    return ""
