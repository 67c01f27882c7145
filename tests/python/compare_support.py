"""Small runs to be compared."""

from record_support import MILLISECOND as MS
from record_support import Job


def run_of(elapsed: int, barrier: int = 100, **facts: str) -> Job:
    """Two ranks, `elapsed` ms long. Rank 1 is in MPI_Barrier for `barrier` ms, rank 0 sends 20."""
    job = Job(facts={"ranks": "2", "nodes": "1", "mpi": "MPICH 5.0.2", **facts})
    node = job.node()
    module = node.add("modules", file="/a/app", build_id=facts.get("build", "ab12"))
    path = node.add("paths", module=module, offset=0x100)
    world = node.add("communicators", size=2, on_node=2, name="MPI_COMM_WORLD")
    for rank in range(2):
        node.add(
            "ranks", rank=rank, host="n0", cores=f"{rank}", program="/a/app", state=1,
            run=elapsed * MS, threads=1,
        )  # fmt: skip
        time = barrier * MS if rank else 0
        node.call(
            rank, "MPI_Barrier", 1, path=path, communicator=world, calls=1, time=time, least=time,
            greatest=time,
        )  # fmt: skip
    node.call(0, "MPI_Send", 0, path=path, communicator=world, calls=2, sent=8, time=20 * MS)
    node.add("settings", name="HEADRACE_VERIFY", value="0", origin="default")
    node.add("variables", name="OMP_NUM_THREADS", value=facts.get("threads", "4"))
    return job
