"""What an expert would set for each peer by hand: hints and parameters that win somewhere."""

from headrace.bench.jobs import PLAIN, Job, Way

# MPICH and Intel MPI use ROMIO (its hints: ROMIO's README, "Hints"), Open MPI has OMPIO
# (`ompi_info --param io ompio --level 9`, and the components of fcoll).
ROMIO = ("mpich", "intel")
OMPIO = ("openmpi",)
HINT = "IOR_HINT__MPI__"


def _romio(key: str, label: str, **hints: str) -> Way:
    variables = tuple((HINT + name, value) for name, value in hints.items())
    return Way(key, label, variables=variables, kinds=ROMIO)


def _ompio(key: str, label: str, **parameters: str) -> Way:
    variables = tuple(("OMPI_MCA_" + name, value) for name, value in parameters.items())
    return Way(key, label, variables=variables, kinds=OMPIO)


def _cb(switch: str) -> dict[str, str]:
    return {"romio_cb_write": switch, "romio_cb_read": switch}


def hand_set_ways(ranks: int) -> tuple[Way, ...]:
    """The settings by peer: collective buffering off, with and without data sieving, and on, with
    a large buffer and an aggregator on every rank."""
    each_rank = {"cb_nodes": str(ranks), "cb_config_list": f"*:{ranks}"}
    sieve = {"romio_ds_write": "disable", "romio_ds_read": "disable"}
    return (
        _romio("no-cb", "plain (no buffering)", **_cb("disable"), **sieve),
        _romio("sieving", "plain (sieving)", **_cb("disable"), romio_ds_write="enable"),
        _romio("large-cb", "plain (large buffer)", **_cb("enable"), cb_buffer_size="67108864"),
        _romio("every-cb", "plain (every rank)", **_cb("enable"), **each_rank),
        _ompio("individual", "plain (fcoll individual)", fcoll="individual"),
        _ompio("gen2", "plain (fcoll dynamic_gen2)", fcoll="dynamic_gen2"),
        _ompio("one-agg", "plain (1 aggregator)", io_ompio_num_aggregators="1"),
        _ompio("every-agg", "plain (every rank)", io_ompio_num_aggregators=str(ranks)),
    )


def with_hand_set(job: Job) -> Job:
    """The job with the peers' hand-set ways too, which do what plain MPI does."""
    plain = next(way for way in job.ways if way.key == PLAIN)
    ways = hand_set_ways(job.ranks)
    return job.with_ways(
        *(
            Way(way.key, way.label, plain.flags, variables=way.variables, kinds=way.kinds)
            for way in ways
        )
    )
