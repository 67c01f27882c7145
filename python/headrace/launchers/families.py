"""The families of MPI launchers: how each is recognised and how it sets a rank's environment.

Everything here is data; launch.py applies it. Option lists hold what takes how many values, so
that a line can be read up to its program; at an option that no list has, reading stops.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One way of launching.

    commands: names that belong to this family alone.
    version: what `--version` prints, for the names that several families share.
    assign: tokens that set one variable, with {name} and {value}; empty: by inheritance only.
    assign_options: options by which a user sets a variable in the same way.
    drop_options: options that keep even assigned variables from the ranks of their context.
    per_context: whether the assignment has to be repeated after each ':'.
    flags, valued, paired: options that take none, one and two values.
    """

    name: str
    commands: tuple[str, ...]
    version: str = ""
    assign: tuple[str, ...] = ()
    assign_options: frozenset[str] = frozenset()
    drop_options: frozenset[str] = frozenset()
    per_context: bool = False
    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    paired: frozenset[str] = frozenset()
    attached: str = ""


def options(text: str, dashes: str = "-") -> frozenset[str]:
    """Option names from words; `dashes` has the prefixes they come with, separated by spaces."""
    return frozenset(dash + word for word in text.split() for dash in dashes.split())


HYDRA = Family(
    name="hydra",
    commands=("mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "mpiexec.gforker"),
    version=r"HYDRA build details|Intel\(R\) MPI Library",
    assign=("-genv", "{name}", "{value}"),
    assign_options=options("genv env", "- --"),
    drop_options=options("envnone envlist", "- --"),
    flags=options(
        "genvall genvnone envall envnone enable-x disable-x verbose v info print-all-exitcodes "
        "disable-auto-cleanup disable-hostname-propagation hybrid-hosts skip-launch-node "
        "prepend-rank l profile gdb aps mps nolocal silent-abort print-rank-map "
        "prepend-timestamp prot rr pmi-port",
        "- --",
    ),
    valued=options(
        "genvlist envlist f hostfile machinefile machine hosts host hosts-group rankmap wdir "
        "configfile n np launcher bootstrap launcher-exec bootstrap-exec rmk topolib bind-to "
        "map-by membind demux errfile-pattern outfile-pattern gpus-per-proc iface localhost "
        "nameserver order-nodes ppn perhost prepend-pattern usize memory-alloc-kinds gtool "
        "gtoolfile s tune cpu-bind path umask",
        "- --",
    ),
    paired=options("genv env", "- --"),
)

OPENMPI = Family(
    name="openmpi",
    commands=("prterun", "orterun", "mpiexec.openmpi", "mpirun.openmpi", "prun", "oshrun"),
    version=r"\(Open MPI\)|\(OpenRTE\)|PRRTE|IBM Spectrum MPI",
    assign=("-x", "{name}={value}"),
    assign_options=options("x", "- --"),
    per_context=True,
    flags=options(
        "oversubscribe nooversubscribe allow-run-as-root bynode byslot bycore bysocket "
        "bind-to-core bind-to-socket bind-to-none nolocal report-bindings display-map "
        "display-devel-map display-allocation display-topo tag-output timestamp-output xml "
        "use-hwthread-cpus use-hwthreads-as-cpus quiet q verbose v debug-daemons debug-devel "
        "d debug enable-recovery continuous do-not-launch do-not-resolve novm pernode "
        "leave-session-attached merge-stderr-to-stdout keep-fqdn-hostnames forward-signals "
        "report-child-jobs-separately get-stack-traces stream-buffering tv index-argv-by-rank "
        "gpu enable-instant-on-support no-ready-msg staged preload-binary",
        "- --",
    ),
    valued=options(
        "n np c host H hostfile machinefile default-hostfile map-by bind-to rank-by N npernode "
        "npersocket wdir wd set-cwd-to-session-dir path prefix output output-filename display "
        "timeout x rf rankfile cpu-set cpu-list cpus-per-proc cpus-per-rank tune am app stdin "
        "personality preload-files report-uri report-pid runtime-options rtos max-restarts "
        "ppr slot-list dvm dvm-uri ompi-server stdio mca-base-env-list pset report-state "
        "with-ft memory-alloc-kinds",
        "- --",
    ),
    paired=options("mca gmca omca gomca prtemca pmixmca tmca", "- --"),
)

SLURM = Family(
    name="slurm",
    commands=("srun",),
    version=r"^slurm ",
    per_context=True,
    flags=frozenset({"-E", "-H", "-k", "-l", "-O", "-Q", "-s", "-u", "-v", "-X", "-Z", "-K", "-I"})
    | options(
        "contiguous disable-status exact exclusive hold immediate interactive kill-on-bad-exit "
        "label mem-sort multi-prog no-allocate no-kill nvmps overcommit overlap oversubscribe "
        "preserve-env propagate pty quiet reboot resv-ports spread-job test-only unbuffered "
        "use-min-nodes verbose whole treewidth-auto quit-on-interrupt",
        "--",
    ),
    valued=options("A b B c C d D e F G i J L m M n N o p P q r R S t T U w W x")
    | options(
        "accel-bind account acctg-freq batch bb bbf bcast begin cluster-constraint clusters "
        "comment compress constraint container container-id core-spec cores-per-socket cpu-bind "
        "cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency chdir distribution "
        "epilog error exclude export external-launcher extra extra-node-info geo gid gpu-bind "
        "gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group "
        "pack-group hint input jobid job-name licenses mail-type mail-user max-threads mcs-label "
        "mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network nice nodefile "
        "nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node "
        "ntasks-per-socket open-mode output partition power prefer priority profile prolog qos "
        "relative reservation send-libs signal slurmd-debug sockets-per-node stepmgr switches "
        "task-epilog task-prolog thread-spec threads threads-per-core time time-min tmp tres-bind "
        "tres-per-task uid wait wckey x11",
        "--",
    ),
    attached="AbBcCdDeFGiIJKLmMnNopPqrRStTUwWx",
)

ALPS = Family(
    name="alps",
    commands=("aprun",),
    version=r"^aprun ",
    assign=("-e", "{name}={value}"),
    assign_options=options("e"),
    per_context=True,
    flags=options("b B C q R ss T z v"),
    valued=options("a cc cp d D e F i I j k l L m M n N p P r S sl sn t"),
    attached="adDejlLmnNpPrSt",
)

# HPE's mpiexec for Cray's MPI. Nothing of it tells it from others, so users name it.
PALS = Family(
    name="pals",
    commands=(),
    assign=("--env", "{name}={value}"),
    assign_options=options("env", "- --"),
    per_context=True,
    flags=options("l label line-buffer genvall exclusive no-transfer", "- --"),
    valued=options(
        "n np ppn d depth cpu-bind cc mem-bind gpu-bind hosts host hostfile env wdir umask "
        "rlimits exclude-hosts pmi",
        "- --",
    ),
)

# No way of its own to set a variable: the launcher is started with it and passes it on.
INHERIT = Family(name="inherit", commands=())

FAMILIES = {family.name: family for family in (HYDRA, OPENMPI, SLURM, ALPS, PALS, INHERIT)}
