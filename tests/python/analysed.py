"""What the command works out from a record that a test has made up."""

from pathlib import Path

from record_support import Job

from headrace.analysis.analyse import Findings, analyse
from headrace.record.reader import read


def found(job: Job, folder: Path) -> Findings:
    return analyse(read(job.write(folder)))
