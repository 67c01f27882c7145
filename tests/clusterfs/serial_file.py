"""One process writes or checks the file of strided_file.c, in order. Run on a node.

serial_file.py write|check|hold FILE BYTES

"hold" has it open for writing until its input ends, and says when it is open.
"""

import mmap
import os
import sys

# The content repeats, so that a Python without numpy can check it; no power of two and no size of
# pieces divides the period.
PERIOD = 999_983
REQUEST = 4 << 20


def content() -> bytes:
    return bytes(at * 2654435761 >> 13 & 0xFF for at in range(PERIOD))


def write(path: str, size: int) -> None:
    page_aligned = mmap.mmap(-1, REQUEST)
    pattern = content() * (REQUEST // PERIOD + 2)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    for begin in range(0, size, REQUEST):
        part = min(REQUEST, size - begin)
        page_aligned[:part] = pattern[begin % PERIOD : begin % PERIOD + part]
        if os.pwrite(file, memoryview(page_aligned)[:part], begin) != part:
            sys.exit(f"{path}: a short write at {begin}")
    os.fsync(file)
    os.close(file)


def check(path: str, size: int) -> None:
    pattern = content() * (REQUEST // PERIOD + 2)
    if os.path.getsize(path) != size:
        sys.exit(f"{path} has {os.path.getsize(path)} bytes instead of {size}")
    with open(path, "rb", buffering=0) as file:
        for begin in range(0, size, REQUEST):
            part = os.pread(file.fileno(), min(REQUEST, size - begin), begin)
            phase = begin % PERIOD
            if part != pattern[phase : phase + min(REQUEST, size - begin)]:
                wrong = next(i for i, byte in enumerate(part) if byte != pattern[phase + i])
                sys.exit(f"{path} is wrong from byte {begin + wrong} on")


def hold(path: str, size: int) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    print("open", flush=True)
    sys.stdin.read()
    os.close(file)


if __name__ == "__main__":
    {"write": write, "check": check, "hold": hold}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
