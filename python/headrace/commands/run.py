"""`headrace run`: puts the layer under a program and becomes its launcher."""

import click

from headrace.commands._launching import launch_options, prepare
from headrace.launch.execution import become

HELP = """Run a program with Headrace under its MPI.

\b
headrace run mpiexec -n 512 ./app args   any launcher line, unchanged behind 'run'
headrace run -n 4 ./app args             finds the program's MPI and its launcher

The first form gives the ranks, on every node, LD_PRELOAD and the HEADRACE_* variables by the
launcher's own option (-genv, -x, --export, -e); libraries you preload yourself stay in front.
The second form works for C, C++, Fortran and Python (mpi4py) programs; as root it sets Open
MPI's OMPI_ALLOW_RUN_AS_ROOT, and lets it start more ranks than cores outside of a batch job.
Headrace is replaced by the launcher, whose exit code and signals are therefore the command's.
"""


@click.command(
    help=HELP,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@launch_options
def run(**options: object) -> None:
    launch = prepare(**options).launch
    if launch is not None:
        become(launch)
