"""What is known of MPI's procedures by their names."""

CLASSES = ("point-to-point", "collective", "one-sided", "I/O", "other")
COLLECTIVE, FILES = 1, 3

# Their send arguments are nothing: their bytes are those that arrived.
_ONLY_RECEIVE = {
    *("MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Imrecv", "MPI_Recv_init", "MPI_Precv_init"),
    *("MPI_Get", "MPI_Rget"),
    *("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"),
    *("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"),
}
_ONLY_RECEIVE_PREFIXES = ("MPI_File_read", "MPI_File_iread")
# They start requests that send and others that receive.
_SEND_AND_RECEIVE = {"MPI_Start", "MPI_Startall"}

# No rank leaves one of these before all have come.
SYNCHRONISING = {
    *("MPI_Barrier", "MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"),
    *("MPI_Allgather", "MPI_Alltoall"),
}
# In these all ranks of a communicator meet, but some need not wait: each is of a root or of ranks
# in order, or counts may be 0.
_LOOSE = {
    *("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv"),
    *("MPI_Scan", "MPI_Exscan", "MPI_Allgatherv", "MPI_Alltoallv", "MPI_Alltoallw"),
}
# The barriers that HEADRACE_COLL_SYNC puts before collective operations.
SYNCS = {f"{name}(sync)" for name in (SYNCHRONISING | _LOOSE) - {"MPI_Barrier"}}
SYNCHRONISING |= SYNCS
MATCHED = SYNCHRONISING | _LOOSE

# They may return before the receiver is there, if the library has room for the message. A
# Sendrecv's size is that of what it sends.
STANDARD_SENDS = {
    *("MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Isendrecv"),
    "MPI_Isendrecv_replace",
}


# Point-to-point calls that may wait for another rank.
WAITING = {
    *("MPI_Send", "MPI_Ssend", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Recv", "MPI_Mrecv"),
    *("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Probe", "MPI_Mprobe"),
}


def bytes_of(procedure: str, sent: int, received: int) -> int:
    """What counts as the bytes of its calls."""
    if procedure in _SEND_AND_RECEIVE:
        return sent + received
    if procedure in _ONLY_RECEIVE or procedure.startswith(_ONLY_RECEIVE_PREFIXES):
        return received
    return sent
