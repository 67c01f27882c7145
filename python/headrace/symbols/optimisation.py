"""Whether code was compiled with optimisation, from the files of this machine."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from headrace.analysis.paths import Frame
from headrace.elf.producers import is_optimised, producers
from headrace.symbols.resolver import module_problem


def optimised(frames: Iterable[Frame]) -> dict[Frame, bool]:
    """Of the frames whose code's debugging information tells. Those of Python do not count."""
    wanted: dict[tuple[str, str], set[Frame]] = defaultdict(set)
    for frame in frames:
        if frame.module and not frame.function:
            wanted[frame.module, frame.build_id].add(frame)
    found: dict[Frame, bool] = {}
    for (module, build_id), own in wanted.items():
        if module_problem(module, build_id) is not None:
            continue
        addresses = {frame: max(0, frame.offset - 1) for frame in own}
        told = producers(Path(module), addresses.values())
        for frame, address in addresses.items():
            verdict = is_optimised(told.get(address, ""))
            if verdict is not None:
                found[frame] = verdict
    return found
