"""The files that commands are given -> findings: records, or a Darshan log."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headrace.advice.judging import Judgement, judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import MOST_SITES, Findings, analyse
from headrace.analysis.darshan.analyse import analyse as analyse_log
from headrace.darshan import reader as logs
from headrace.errors import HeadraceError
from headrace.launch.gather import gather
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record


def findings_of(files: Sequence[Path], most_sites: int = MOST_SITES) -> Findings:
    """Of one job: its record, its nodes' records, directories of a job that was killed, or a
    Darshan log."""
    found = [file for file in files if logs.is_log(file)]
    if not found:
        return analyse(merge([record_of(file) for file in files]), most_sites)
    if len(files) > 1:
        raise HeadraceError(
            f"'{found[0]}' is not read with other files",
            "a Darshan log is of a whole job",
            "give it alone",
            1,
        )
    return analyse_log(logs.read(found[0]))


def judged(found: Findings, rules: Sequence[Path] = ()) -> Judgement:
    """By our rules and those of more files."""
    return judge(collect(rules), found.metrics, found.source.absent)


def record_of(file: Path) -> Record:
    """A record, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return read(file)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return read(gather(file, Path(folder), os.environ))
