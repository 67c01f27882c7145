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
    flags, valued, paired: options that take none, one and two words behind them. A flag may have a
    value behind its =.
    attached: letters of options that may have their value in the same word, as in -n4.
    clusters: whether letters of options may share a word, as in -lN4, by the rules of getopt(3). A
    long option with an = is one word then, known or not.
    replacing: options that put a library of the launcher's own in the place of our LD_PRELOAD.
    leading: options of no value that have to stand before what assigns.
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
    clusters: bool = False
    replacing: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()


def options(text: str, dashes: str = "-") -> frozenset[str]:
    """Option names from words; `dashes` has the prefixes they come with, separated by spaces."""
    return frozenset(dash + word for word in text.split() for dash in dashes.split())


# Of Intel MPI. A library may stand behind the first three, after an = or as the next word.
_REPLACING = "check_mpi check-mpi trace trace-imbalance ilp64"
_LEADING = "trace-pt2pt trace-collectives"  # behind a -genv they crash mpiexec of 2021.18
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
        "prepend-timestamp prot rr pmi-port help h version V ordered-output noconf "
        + " ".join((_REPLACING, _LEADING)),
        "- --",
    ),
    valued=options(
        "genvlist envlist f hostfile machinefile machine hosts host hosts-group rankmap wdir "
        "configfile n np launcher bootstrap launcher-exec bootstrap-exec rmk topolib bind-to "
        "map-by membind demux errfile-pattern outfile-pattern gpus-per-proc iface localhost "
        "nameserver order-nodes ppn perhost prepend-pattern usize memory-alloc-kinds gtool "
        "gtoolfile s tune cpu-bind path umask binding branch-count tree-width grr tmpdir gdb-args "
        "gdba",
        "- --",
    ),
    paired=options("genv env", "- --"),
    replacing=options(_REPLACING, "- --"),
    leading=options(_LEADING, "- --"),
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
        "display-devel-map display-allocation display-devel-allocation display-diffable-map "
        "display-topo display-comm display-comm-finalize tag-output timestamp-output xml "
        "use-hwthread-cpus use-hwthreads-as-cpus quiet q verbose v parsable parseable p "
        "debug-daemons debug-daemons-file debug-devel d debug enable-recovery disable-recovery "
        "continuous do-not-launch do-not-resolve novm noprefix no-app-prefix pernode "
        "leave-session-attached merge-stderr-to-stdout keep-fqdn-hostnames hetero-nodes "
        "uniform-nodes report-child-jobs-separately report-state-on-timeout get-stack-traces "
        "show-progress no-aggregate-help stop-on-exec stop-in-init tv index-argv-by-rank gpu "
        "enable-instant-on-support no-ready-msg staged preload-binary s soft "
        "set-cwd-to-session-dir help h version V",
        "- --",
    ),
    valued=options(
        "n np c host H hostfile machinefile default-hostfile map-by mapby bind-to bindto rank-by "
        "rankby N npernode npersocket wdir wd path prefix pmix-prefix app-pmix-prefix output "
        "output-filename output-directory display timeout spawn-timeout x set-env unset-env "
        "prepend-env append-env rf rankfile cpu-set cpu-list cpus-per-proc cpus-per-rank tune am "
        "amca app arch file stdin stream-buffering forward-signals personality preload-files "
        "report-uri report-pid report-events runtime-options rtos max-restarts max-vm-size "
        "launch-agent tmpdir xterm xml-file debugger ppr slot-list dvm dvm-uri ompi-server stdio "
        "mca-base-env-list pset with-ft initial-errhandler memory-alloc-kinds gpu-support",
        "- --",
    ),
    paired=options("mca gmca omca gomca prtemca pmixmca tmca", "- --"),
)

# By src/common/slurm_opt.c and, for older versions, src/srun/libsrun/opt.c of Slurm 18.08 to 26.05.
_SRUN_VALUED = "ABCDFGJLMNPSTUWbcdeimnopqrtwx"
SLURM = Family(
    name="slurm",
    commands=("srun",),
    version=r"^slurm ",
    per_context=True,
    flags=options("E H I K O Q V X Z h k l s u v")
    | options(
        "async consolidate-segments contiguous debugger-test disable-status exact help hold "
        "interactive label launch-cmd multi-prog no-allocate overcommit oversubscribe parsable "
        "preserve-env preserve-slurm-env quiet quit-on-interrupt reboot share spread-job "
        "spread-segments stepmgr test-only unbuffered usage use-min-nodes verbose version "
        "wait-for-children whole "
        # With optional_argument, so never the next word.
        "bcast compress exclusive external-launcher get-user-env immediate kill-on-bad-exit nice "
        "no-kill oom-kill-step overlap propagate pty resv-ports send-libs x11",
        "--",
    ),
    valued=options(" ".join(_SRUN_VALUED))
    | options(
        "accel-bind account acctg-freq autocomplete bb bbf bcast-exclude begin chdir checkpoint "
        "checkpoint-dir cluster cluster-constraint clusters comment constraint container "
        "container-id container-type context core-spec cores-per-socket cpu-bind cpu-freq "
        "cpu_bind cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution epilog "
        "error exclude export extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
        "gpus-per-socket gpus-per-task gres gres-flags het-group hint ignore-signals input "
        "job-name jobid launcher-opts licenses mail-type mail-user mcs-label mem mem-bind "
        "mem-per-cpu mem-per-gpu mem-update mem_bind mincores mincpus minsockets minthreads mpi "
        "msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu "
        "ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output pack-group partition "
        "power prefer priority profile prolog qos relative reservation resources restart-dir "
        "runtime segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog "
        "tasks-per-node thread-spec threads threads-per-core time time-min tmp treewidth "
        "tres-bind tres-per-task uid wait wckey",
        "--",
    ),
    attached=_SRUN_VALUED + "IKk",
    clusters=True,
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
