"""What Python reads and writes, by its own files and by libraries that are loaded later."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from mpi4py import MPI

directory = Path(sys.argv[1])
with (directory / "text").open("w") as file:
    for number in range(1000):
        file.write(f"{number:7d}\n")
with (directory / "binary").open("wb", buffering=0) as file:
    for _ in range(10):
        file.write(b"x" * 4096)
    file.seek(8192)
with (directory / "text").open("rb") as file:
    assert len(file.read()) == 8000
shutil.copyfile(directory / "binary", directory / "copy")
descriptor = os.open(directory / "os", os.O_CREAT | os.O_RDWR)
os.write(descriptor, b"12345")
assert os.pread(descriptor, 3, 1) == b"234"
os.close(descriptor)
# A child of vfork, which closes all that it inherits.
subprocess.run([sys.executable, "-c", f"open({str(directory / 'child')!r}, 'w').write('child')"])
with (directory / "after").open("w") as file:
    file.write("after")
MPI.COMM_WORLD.Barrier()
