"""The settings among which the best is searched: all that change what the engine does in a cell.

A setting is a list of words as `headrace run --set` takes them, "write_path=direct", or a hint,
"romio_ds_read=disable".
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product, zip_longest

from headrace.bench.grid.cases import INDEPENDENT
from headrace.bench.jobs import HEADRACE, Job, Way
from headrace.bench.peers.grid import Case

Words = tuple[str, ...]

# File systems of one node. On others nodes may write and read for each other.
LOCAL = ("btrfs", "ext2", "ext3", "ext4", "overlay", "ramfs", "tmpfs", "xfs", "zfs")

HINTS = ("access_style", "cb_nodes", "ind_rd_buffer_size", "romio_ds_read")
# Of no effect on the other access.
READS_ONLY = ("ind_rd_buffer_size", "read_path", "realign_reads", "romio_ds_read")
WRITES_ONLY = ("write_path", "write_turns")
# With buffers ranks see each other's writes later: whoever wants that has to ask for it.
OPT_IN = "iobuf="

# src/policy/path.h, src/storage/write_turn.h and realigned_reads.h: where these begin to act.
SIEVED_BELOW = 2048
TURNS_FROM = 32 << 10
REALIGNED_FROM = 4096

BUFFER_SIZES = ("64k", "256k", "1m", "4m")
BUFFER_COUNTS = (2, 4, 8)
CROWDED_COUNTS = (8, 16, 32)
SIEVE_SIZES = ("64k", "256k", "1m", "4m")
SWITCH = ("always", "never")
IOBUF_SHAPES = (("64k", 16), ("256k", 8), ("1m", 4))
IOBUF_AHEAD = (1, 3)


def plan(case: Case, ranks: int, kind: str, cores: int) -> list[Words]:
    """All settings of a cell. kind: of the file system.

    Those of direct writes and of direct reads do not change each other, so each run tries one of
    either. Each of both stands once at least in the whole.
    """
    if case.group == INDEPENDENT:
        styles: list[Words] = [(f"access_style={style}",) for style in ("sequential", "random")]
        return [*styles, *_buffers()]
    writes, reads = [(), *_direct_writes(case.piece)], _direct_reads(case.piece)
    pairs: list[Words] = [(*w, *r) for w, r in zip_longest(writes, reads, fillvalue=())]
    return [*pairs, *(_staged(ranks > cores) if kind in LOCAL else _between_nodes(ranks))]


def _buffers() -> list[Words]:
    return [
        (f"{OPT_IN}*:size={size}:count={count}:prefetch={ahead}",)
        for (size, count), ahead in product(IOBUF_SHAPES, IOBUF_AHEAD)
    ]


def _direct_writes(piece: int) -> list[Words]:
    path = "write_path=direct"
    if piece < TURNS_FROM:
        return [(path,)]
    return [(path, f"write_turns={switch}") for switch in SWITCH]


def _direct_reads(piece: int) -> list[Words]:
    """With pieces read together with what lies between them, if they are small by several sizes of
    buffers, and one by one."""
    path = "read_path=direct"
    sieves: list[Words] = [()]
    if piece < SIEVED_BELOW:
        sieves = [(f"ind_rd_buffer_size={size}",) for size in SIEVE_SIZES]
    sieves.append(("romio_ds_read=disable",))
    if piece < REALIGNED_FROM:
        return [(path, *sieve) for sieve in sieves]
    realigned = [f"realign_reads={switch}" for switch in SWITCH]
    return [(path, *sieve, place) for sieve, place in product(sieves, realigned)]


def _staged(is_crowded: bool) -> list[Words]:
    counts = CROWDED_COUNTS if is_crowded else BUFFER_COUNTS
    return [
        ("write_path=staged", "read_path=staged", f"buffer_size={size}", f"buffer_count={count}")
        for size, count in product(BUFFER_SIZES, counts)
    ]


def _between_nodes(ranks: int) -> list[Words]:
    paths = ("write_path=exchanged", "read_path=exchanged")
    nodes = dict.fromkeys((1, max(1, ranks // 4), max(1, ranks // 2), ranks))
    return [
        (*paths, f"buffer_size={size}", f"cb_nodes={count}", f"cb_align={way}")
        for size, count, way in product(("256k", "1m", "4m"), nodes, (0, 2))
    ]


def variables(words: Words) -> tuple[tuple[str, str], ...]:
    """Those of the ranks' environment that say the same."""
    hints = [word for word in words if word.partition("=")[0] in HINTS]
    found = [word.split("=", 1) for word in words if word not in hints]
    named = [(f"HEADRACE_{name.upper()}", value) for name, value in found]
    if hints:
        named.append(("HEADRACE_HINTS", ":".join(["*", *hints])))
    return tuple(named)


def with_settings(job: Job, settings: Sequence[Words]) -> Job:
    """The job done with each setting, and at last with the defaults."""
    default = next(way for way in job.ways if way.key == HEADRACE)
    return replace(job, ways=(*(_way(default, words) for words in settings), default))


def _way(default: Way, words: Words) -> Way:
    label = " ".join(words)
    key = re.sub(r"[^a-z0-9]+", "-", label)
    return replace(default, key=key, label=label, variables=variables(words))


def is_opt_in(label: str) -> bool:
    return label.startswith(OPT_IN)


def acting(label: str, access: str) -> str:
    """What of a setting acts in an access. What was written in another way may be read faster, so
    of a setting that reads best all counts."""
    if access == "read":
        return label
    return " ".join(word for word in label.split() if acts_in(word, access))


def acts_in(word: str, access: str) -> bool:
    """Whether a word of a setting acts in this access itself."""
    return word.partition("=")[0] not in (READS_ONLY if access == "write" else WRITES_ONLY)
