"""The rank order that the settings ask for, applied to a launcher line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launch.cache import folder_for_files
from headrace.launch.ordered_line import Ordered, is_crays
from headrace.launchers.detection import answer_to, version_text
from headrace.launchers.families import HYDRA, Family
from headrace.launchers.job_size import job_size
from headrace.settings.resolver import Resolution

NODES = "HEADRACE_RANK_NODES"
LONGEST = 1 << 16  # the system takes twice as much for a variable
ORDER, FILE, RECORDS = "HEADRACE_RANK_ORDER", "HEADRACE_RANK_ORDER_FILE", "HEADRACE_LOGPATH"


def ordered(
    line: Sequence[str],
    launcher: Path,
    family: Family,
    settings: Resolution,
    environ: Mapping[str, str],
) -> tuple[Ordered, list[str]]:
    """The line as the settings order its ranks, and lines for people: why, and each node."""
    asked = settings.settings[ORDER]
    if not asked.text or _is_crays_own(asked.origin, family, environ):
        return Ordered(list(line)), []
    # Here, since they need NumPy, which takes a tenth of a second to load.
    from headrace.launch import order_choice, rank_order
    from headrace.place import orders

    version = version_text(launcher, environ) if family is HYDRA else ""
    size = job_size(line, family, environ, version)
    records = Path(str(settings.value(RECORDS)) or ".")
    found = order_choice.wanted(asked.text, str(settings.value(FILE)), records, size)
    if found.order is None:
        return Ordered(list(line)), [found.why]
    applied = rank_order.apply(
        line,
        family,
        found.order,
        size,
        version=version + answer_to("--help", launcher, environ) if family is HYDRA else "",
        folder=folder_for_files(environ, "orders"),
        environ=environ,
    )
    nodes = rank_order.nodes_text(orders.nodes(found.order, size.sizes).tolist())
    variables = {**applied.variables, **({NODES: nodes} if len(nodes) <= LONGEST else {})}
    applied = replace(applied, variables=variables)
    return applied, [found.why, *rank_order.told(found.order, size)]


def _is_crays_own(origin: str, family: Family, environ: Mapping[str, str]) -> bool:
    """Whether Cray's MPI reads the variable that asks for the order itself."""
    return is_crays(family, environ) and origin.startswith("MPICH_")


def refuse_order(settings: Resolution) -> None:
    """Raises the error for an order that is asked for where there is no launcher line."""
    asked = settings.settings[ORDER]
    if asked.text and asked.text != "1":
        raise HeadraceError(
            f"rank order {asked.text} from {asked.origin} cannot be applied with -n",
            "there is no launcher line that tells the nodes",
            "write 'headrace run --rank-order ... mpiexec ...', or leave it out",
        )
