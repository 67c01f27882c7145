"""The files that commands are given -> findings: records, or a Darshan log."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.advice.judging import Judgement, judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import MOST_SITES, Findings, analyse
from headrace.analysis.darshan.analyse import analyse as analyse_log
from headrace.darshan import reader as logs
from headrace.errors import HeadraceError
from headrace.launch.gather import gather
from headrace.profile.profile import Profile, profile
from headrace.profile.samples import Samples
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.symbols.resolver import resolve_frames


@dataclass(frozen=True)
class Job:
    """record: None of a Darshan log."""

    findings: Findings
    record: Record | None

    def profile(self) -> Profile | None:
        """None where nothing was sampled."""
        if self.record is None:
            return None
        samples = Samples(self.record)
        frames = {frame for path in samples.paths() for frame in path}
        return profile(samples, resolve_frames(frames), self.findings.run.count)


def findings_of(files: Sequence[Path], most_sites: int = MOST_SITES) -> Findings:
    return job_of(files, most_sites).findings


def job_of(files: Sequence[Path], most_sites: int = MOST_SITES) -> Job:
    """From its record, its nodes' records, directories of a job that was killed, or a Darshan
    log."""
    found = [file for file in files if logs.is_log(file)]
    if not found:
        record = merge([record_of(file) for file in files])
        return Job(analyse(record, most_sites), record)
    if len(files) > 1:
        raise HeadraceError(
            f"'{found[0]}' is not read with other files",
            "a Darshan log is of a whole job",
            "give it alone",
            1,
        )
    return Job(analyse_log(logs.read(found[0])), None)


def judged(found: Findings, rules: Sequence[Path] = ()) -> Judgement:
    """By our rules and those of more files."""
    return judge(collect(rules), found.metrics, found.source.absent)


def record_of(file: Path) -> Record:
    """A record, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return read(file)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return read(gather(file, Path(folder), os.environ))
