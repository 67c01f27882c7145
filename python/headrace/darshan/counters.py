"""Which of Darshan's counters are read. Their names here are without the module's prefix, so that
F_READ_TIME stands for POSIX_F_READ_TIME and MPIIO_F_READ_TIME. Those that a log does not have are
left out; Darshan writes -1 into what a version did not count."""

INTERFACES = ("MPI-IO", "POSIX", "STDIO")
PREFIXES = {"MPI-IO": "MPIIO_", "POSIX": "POSIX_", "STDIO": "STDIO_"}
LUSTRE = "LUSTRE"
EVERYBODY = -1  # the rank of a record that stands for all ranks together

BINS = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M"),
    *("100M_1G", "1G_PLUS"),
)
# As Darshan counts: the upper end belongs to the bin, and K, M and G are powers of 1,024.
BIN_NAMES = (
    *("<=100 B", "<=1 KiB", "<=10 KiB", "<=100 KiB", "<=1 MiB", "<=4 MiB", "<=10 MiB"),
    *("<=100 MiB", "<=1 GiB", ">1 GiB"),
)
SPANS = ("OPEN", "READ", "WRITE", "CLOSE")

WANTED = frozenset(
    (
        *("OPENS", "FDOPENS", "INDEP_OPENS", "COLL_OPENS"),
        *("READS", "WRITES", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES"),
        *("SPLIT_READS", "SPLIT_WRITES", "NB_READS", "NB_WRITES"),
        *("SYNCS", "FSYNCS", "FDSYNCS"),
        *("BYTES_READ", "BYTES_WRITTEN", "FILE_NOT_ALIGNED", "FILE_ALIGNMENT"),
        *("SEEKS", "MMAPS", "FLUSHES", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"),
        *("SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES"),
        *(f"SIZE_{what}{part}_{size}" for what in ("READ", "WRITE") for part in ("", "_AGG")
          for size in BINS),
        *("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME"),
        *(f"F_{what}_{end}_TIMESTAMP" for what in SPANS for end in ("START", "END")),
        *(f"{who}_RANK{what}" for who in ("FASTEST", "SLOWEST") for what in ("", "_BYTES")),
        *("F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME"),
    )
)  # fmt: skip
