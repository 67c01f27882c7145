"""What will keep the layer out of a job that is started all the same, said on stderr."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace.errors import HeadraceError, message, say
from headrace.front import look_up
from headrace.launch.preload import preload_obstacle
from headrace.launch.values import PRELOAD
from headrace.launchers.families import INHERIT, OPENMPI, SLURM, Family
from headrace.launchers.line import read_contexts
from headrace.mpi.program import image_of, locate
from headrace.texts import shown


def warn_of_line(
    line: Sequence[str], family: Family, environ: Mapping[str, str], library: Path
) -> None:
    """Looks at each program of a launcher line, at options that hide it or replace the preload, and
    at Open MPI's refusal of root."""
    for context in read_contexts(family, list(line)):
        if context.unknown is not None and family is not INHERIT:  # which has no lists of options
            _warn_of_unknown(line[context.unknown : context.end], line[0], family)
        for option in context.options:
            if option.name in family.replacing:
                say(
                    message(
                        "Headrace is not in the ranks",
                        f"'{option.name}' of '{line[0]}' puts another library in its place",
                        "leave that option out to have Headrace",
                    )
                )
        if context.program is None:
            continue
        warn_of_look_up(line[context.program : context.end], environ)
        try:
            image = image_of(locate(line[context.program], environ), environ)
        except HeadraceError:
            continue  # The launcher may find it, on another node or in another directory.
        obstacle = preload_obstacle(image, library)
        if obstacle is not None:
            say(message(*obstacle))
    if family is OPENMPI and os.geteuid() == 0 and not _root_allowed(line, environ):
        say(
            message(
                "Open MPI will refuse to start",
                "it does not run as root unless told to",
                "add --allow-run-as-root if you mean it",
            )
        )


def _warn_of_unknown(words: Sequence[str], launcher: str, family: Family) -> None:
    """words: the option and all behind it, of which some may set what ranks get."""
    exports = ("--exp",) if family is SLURM else ()  # which srun takes for --export
    if not any(PRELOAD in word or word.startswith(exports) for word in words):
        return
    setting = f"an {PRELOAD} or --export" if exports else f"an {PRELOAD}"
    say(
        message(
            f"option '{shown(words[0].partition('=')[0])}' of '{launcher}' is not known here",
            "Headrace stops reading there, so it has not checked the program, and "
            f"{setting} behind the option may keep Headrace out",
            "put the option last",
        )
    )


def warn_of_look_up(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Looks whether a program looks MPI up where a preload is not found."""
    warning = look_up.warning(command, environ)
    if warning is not None:
        say(warning)


def _root_allowed(line: Sequence[str], environ: Mapping[str, str]) -> bool:
    allowed = any(
        environ.get(f"{prefix}_ALLOW_RUN_AS_ROOT")
        and environ.get(f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM")
        for prefix in ("OMPI", "PRTE")
    )
    return allowed or "--allow-run-as-root" in line or "-allow-run-as-root" in line
