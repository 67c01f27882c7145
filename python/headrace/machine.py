"""What launching needs to know of this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "COBALT_JOBID")


def available_cores() -> int:
    """Physical cores this process may use: what Open MPI counts as slots outside of a job."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(siblings.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)


def in_batch_job(environ: Mapping[str, str]) -> bool:
    """Whether a batch system has already said how many ranks fit."""
    return any(environ.get(name) for name in BATCH_VARIABLES)
