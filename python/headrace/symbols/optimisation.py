"""Whether code was compiled with optimisation, from the files of this machine."""

from collections import defaultdict
from collections.abc import Iterable

from headrace.analysis.paths import Frame
from headrace.elf.producers import is_optimised, producers
from headrace.symbols.kept import NONE_KEPT, KeptFiles
from headrace.symbols.resolver import files_of


def optimised(frames: Iterable[Frame], kept: KeptFiles = NONE_KEPT) -> dict[Frame, bool]:
    """Of the frames whose code's debugging information tells. Those of Python do not count."""
    wanted: dict[tuple[str, str], set[Frame]] = defaultdict(set)
    for frame in frames:
        if frame.module and not frame.function:
            wanted[frame.module, frame.build_id].add(frame)
    found: dict[Frame, bool] = {}
    for (module, build_id), own in wanted.items():
        files, _ = files_of(module, build_id, kept)
        if not files:
            continue
        addresses = {frame: max(0, frame.offset - 1) for frame in own}
        told = producers(files[0], addresses.values())
        for frame, address in addresses.items():
            verdict = is_optimised(told.get(address, ""))
            if verdict is not None:
                found[frame] = verdict
    return found
